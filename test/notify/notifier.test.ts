import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { shardKey, shardOf } from '../../src/notify/state/stored-record.ts';
import { PrometheusMetrics } from '../../src/telemetry/prometheus.ts';
import { source } from '../mirror/wire.ts';
import { parseExposition } from '../support/exposition.ts';
import { KEY, PREFIX, Room } from './notifier-room.ts';

const UID = `uid of ${KEY}`;
const STATE_KEY = shardKey(PREFIX, shardOf(UID));

const colors = (sky: string, version: string, asks = {}) =>
  source(KEY, asks, { data: { sky }, resourceVersion: version });

/** One that has taken its baseline of nothing. */
async function openRoom(config?: string): Promise<Room> {
  const room = new Room();
  room.config = config ?? room.config;
  void room.start();
  await room.clock.advance(2_000);
  return room;
}

const CREATED = ['source.created shop/colors', 'companions.converged shop/colors'];
const CHANGED = ['source.changed shop/colors', 'companions.converged shop/colors'];

describe('a notifier', () => {
  it('[N4] tells nobody of what is there on the first start, and of what comes later', async () => {
    const room = new Room();
    room.api.objects.set(KEY, colors('blue', '1'));
    void room.start();
    await room.clock.advance(2_000);
    await room.put(colors('blue', '1'));
    expect(room.sent).toEqual([]);
    await room.put(colors('red', '2'));
    expect(room.sent).toEqual(CHANGED);
  });

  it('[N4] a first start that was cut off begins again', async () => {
    const room = new Room();
    room.api.objects.set(KEY, colors('blue', '1'));
    // The shard with the source is written, the first one, which says that all are, is not.
    room.before = async () => {
      if (room.writes > 0) await new Promise(() => undefined);
    };
    void room.start();
    await room.clock.advance(2_000);
    expect([...room.api.objects.keys()]).toEqual([KEY, STATE_KEY]);
    await room.stop();
    room.before = async () => undefined;
    void room.start();
    await room.clock.advance(5_000);
    await room.put(colors('blue', '1'));
    expect(room.sent).toEqual([]);
    expect(room.api.objects.has(shardKey(PREFIX, 0))).toBe(true);
  });

  it('[N4] a ConfigMap that is deleted shortly before a handover becomes the baseline again', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    room.api.objects.delete(STATE_KEY);
    await room.stop();
    void room.start();
    await room.put(colors('blue', '1'));
    await room.clock.advance(60_000);
    expect(room.sent).toEqual(CREATED);
    await room.put(colors('red', '2'));
    expect(room.sent.slice(2)).toEqual(CHANGED);
  });

  it('[N4] [M9] a restart over what is settled writes nothing and sends nothing', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    expect(room.sent).toEqual(CREATED);
    await room.stop();
    const { writes } = room;
    const ended = room.start();
    room.look();
    await room.clock.advance(5_000);
    room.look();
    await room.clock.advance(60_000);
    await room.stop();
    await ended;
    expect([room.writes, room.sent]).toEqual([writes, CREATED]);
  });

  it('[N4] a hundred edits within a second are few writes', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    const { writes } = room;
    for (let edit = 2; edit < 102; edit++) {
      room.api.objects.set(KEY, colors(`blue ${edit}`, String(edit)));
      room.look();
      await room.clock.advance(10);
    }
    await room.clock.advance(5_000);
    expect(room.writes - writes).toBeLessThan(8);
  });

  it('[N5] while companions are written its own writes wait, for at most 5 s', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    const { writes } = room;
    room.isBusy = true;
    await room.put(colors('red', '2'));
    await room.clock.advance(2_500);
    expect([room.writes, room.sent]).toEqual([writes, CREATED]);
    room.isBusy = false;
    await room.clock.advance(200);
    expect(room.sent).toEqual([...CREATED, ...CHANGED]);
    room.isBusy = true;
    await room.put(colors('green', '3'));
    await room.clock.advance(4_000);
    expect(room.sent).toEqual([...CREATED, ...CHANGED, ...CHANGED]);
  });

  it('[N2] [N4] after somebody else has edited the state, it goes on from there, with another pass', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    const state = await room.api.get(STATE_KEY);
    const { resourceVersion } = state.metadata;
    await room.api.patch(STATE_KEY, { metadata: { resourceVersion }, data: { note: 'mine' } });
    await room.put(colors('red', '2'));
    await room.clock.advance(5_000);
    expect(room.sent.slice(2)).toEqual(CHANGED);
    expect(room.log.told.map(({ level }) => level)).toContain('warn');
    expect((await room.api.get(STATE_KEY)).data).toHaveProperty('note', 'mine');
  });

  it('[N4] a record that makes no sense counts as a new source', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    const { resourceVersion } = (await room.api.get(STATE_KEY)).metadata;
    await room.api.patch(STATE_KEY, { metadata: { resourceVersion }, data: { [UID]: 'nonsense' } });
    await room.stop();
    void room.start();
    await room.put(colors('blue', '1'));
    expect(room.sent).toEqual([...CREATED, ...CREATED]);
  });

  it('[N4] [Q3] a term that fails is logged, and the next one begins', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    await room.stop();
    room.whenSynced = () => Promise.reject(new Error('a fault of this program'));
    await room.lead();
    expect(room.log.told).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('notifications') }),
    );
    room.whenSynced = async () => undefined;
    void room.lead();
    await room.put(colors('red', '2'));
    await room.clock.advance(5_000);
    expect(room.sent.slice(2)).toEqual(CHANGED);
  });

  it.each(['state', 'cluster'])(
    '[N4] while the %s cannot be read, nothing is sent, and then all',
    async (what) => {
      const room = await openRoom();
      await room.stop();
      let isOpen = false;
      const fail = async () => {
        if (!isOpen) throw new ApiError('no', { status: 403, reason: 'Forbidden' });
      };
      if (what === 'state') room.before = fail;
      else {
        room.cluster = async () => {
          await fail();
          return 'a-cluster';
        };
      }
      void room.start();
      await room.put(colors('blue', '1'));
      await room.clock.advance(60_000);
      expect(room.sent).toEqual([]);
      expect(room.log.told.filter(({ level }) => level === 'warn')).toHaveLength(1);
      isOpen = true;
      await room.clock.advance(60_000);
      expect(room.sent).toEqual(CREATED);
      expect(room.log.told.filter(({ message }) => message === 'resolved')).toHaveLength(1);
    },
  );

  it('[N4] what was deleted while nobody looked is told of', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    await room.stop();
    room.api.objects.delete(KEY);
    void room.start();
    await room.clock.advance(5_000);
    expect(room.sent.slice(2)).toEqual(['source.deleted shop/colors']);
  });

  it('[N4] that is told of even if the API server does not answer at first', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    await room.stop();
    room.api.objects.delete(KEY);
    const get = room.api.get.bind(room.api);
    let failures = 3;
    room.api.get = (key) =>
      key === KEY && failures-- > 0
        ? Promise.reject(new ApiError('busy', { status: 500, reason: 'InternalError' }))
        : get(key);
    void room.start();
    await room.clock.advance(60_000);
    expect(room.sent.slice(2)).toEqual(['source.deleted shop/colors']);
  });

  it('[N2] a pass that ends while the cluster is asked about the source counts', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    const get = room.api.get.bind(room.api);
    room.api.get = async (key) => {
      if (key === KEY) await sleep(room.clock, 5_000, new AbortController().signal);
      return get(key);
    };
    // Somebody deletes it and creates another one, of which the first pass leaves a companion
    // behind.
    const { metadata, ...others } = colors('red', '2');
    await room.put({ ...others, metadata: { ...metadata, uid: 'another' } }, { inSync: false });
    room.look({ inSync: true });
    await room.clock.advance(60_000);
    expect(room.sent.slice(2)).toEqual(['source.deleted shop/colors', ...CREATED]);
  });

  it('[N4] after a takeover, a source that only the cache still has is not told of', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    room.api.objects.delete(KEY);
    room.look();
    await room.clock.advance(5_000);
    expect(room.sent.slice(2)).toEqual(['source.deleted shop/colors']);
    await room.stop();
    // The next process lists from an API server that is behind.
    const get = room.api.get.bind(room.api);
    room.api.get = (key) =>
      key === KEY ? Promise.reject(new ApiError('gone', { status: 404, reason: 'NotFound' })) : get(key);
    void room.start();
    await room.put(colors('blue', '1'));
    await room.clock.advance(5_000);
    expect(room.sent.slice(3)).toEqual([]);
  });

  it.each([
    'type: webhook, guarantee: at-most-once, types: [source.deleted]',
    'type: slack, types: [source.deleted]',
  ])('[N4] a deletion that was refused is sent again, at most once or not: %s', async (sink) => {
    const room = await openRoom(`sinks: [{name: ops, url: "https://ops", default: true, ${sink}}]`);
    await room.put(colors('blue', '1'));
    room.sent.length = 0;
    room.outcomes.push({ kind: 'failed', reason: 'no', mayHaveArrived: false, retryAfterMs: undefined });
    await room.remove();
    await room.clock.advance(60_000);
    expect(room.sent).toEqual(['source.deleted shop/colors', 'source.deleted shop/colors']);
  });

  it('[N2] the sequence of a uid goes on when its label is removed and set again', async () => {
    const room = await openRoom();
    // More often than once a second.
    for (let edit = 1; edit < 31; edit++) {
      room.api.objects.set(KEY, colors(`blue ${edit}`, String(edit)));
      room.look();
      await room.clock.advance(100);
    }
    await room.remove();
    await room.put(colors('red', '40'));
    await room.clock.advance(5_000);
    expect(room.sent.slice(-3)).toEqual(['source.deleted shop/colors', ...CREATED]);
    expect(room.sequence).toEqual(room.sequence.toSorted((a, b) => a - b));
  });

  it('[N2] a hold that begins after its source has gone is told of, and so is the next one', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    await room.remove({ companions: { delayed: 3 }, inSync: false });
    // In another process, which learns of the one before from the state alone.
    await room.stop();
    void room.start();
    await room.clock.advance(15_000);
    for (const [state, companions] of [
      ['began', { held: 3 }],
      ['resolved', { delayed: 3 }],
      ['began', { held: 3 }],
    ] as const) {
      room.problem(state, 'deletes held');
      room.look({ companions, inSync: false });
      await room.clock.advance(5_000);
      const { writes } = room;
      room.look({ companions, inSync: false });
      await room.clock.advance(5_000);
      expect(room.writes).toBe(writes);
    }
    const held = 'deletes.held shop/colors';
    expect(room.sent.slice(2)).toEqual(['source.deleted shop/colors', held, held]);
  });

  it('[N4] a source that may not be read any more is not told of as deleted, and others are', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    const other = objectKey('shop', 'shapes');
    room.api.objects.set(other, source(other));
    room.look({}, other);
    await room.clock.advance(2_000);
    const before = [...room.sent];
    await room.stop();
    room.api.objects.delete(KEY);
    room.api.objects.delete(other);
    const get = room.api.get.bind(room.api);
    let refused: string | undefined;
    room.api.get = (key) => {
      if (!key.startsWith('shop/') || refused !== undefined) return get(key);
      refused = key;
      return Promise.reject(new ApiError('no', { status: 403, reason: 'Forbidden' }));
    };
    void room.start();
    await room.clock.advance(60_000);
    expect(room.sent).toEqual([...before, `source.deleted ${refused === KEY ? other : KEY}`]);
  });

  it('[N4] a replica that leads again before its former term has ended misses nothing', async () => {
    const room = await openRoom();
    const stopped = room.stop(0);
    void room.lead();
    await stopped;
    await room.clock.advance(5_000);
    await room.put(colors('blue', '1'));
    expect(room.sent).toEqual(CREATED);
  });

  it('[N2] companions that fail and recover are told of, and conditions', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    room.problem('began', 'conflict');
    room.look({ inSync: false });
    await room.clock.advance(2_000);
    room.problem('resolved', 'conflict');
    room.look();
    await room.clock.advance(2_000);
    for (const kind of ['deletes held', 'canary waiting', 'canary failed'] as const) {
      room.problem('began', kind);
      room.look();
      await room.clock.advance(2_000);
    }
    expect(room.sent.slice(2).map((each) => each.split(' ')[0])).toEqual([
      ...['companions.failing', 'companions.recovered', 'deletes.held', 'canary.waiting', 'canary.failed'],
    ]);
  });

  it('[N2] a problem that began before the Lease was lost is sent once it is regained', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    room.before = () => Promise.reject(new ApiError('busy', { status: 500, reason: 'InternalError' }));
    room.problem('began', 'conflict');
    room.look({ inSync: false });
    await room.clock.advance(5_000);
    await room.stop();
    room.before = async () => undefined;
    void room.lead();
    await room.clock.advance(5_000);
    room.look({ inSync: false });
    await room.clock.advance(60_000);
    expect(room.sent.slice(2)).toEqual(['companions.failing shop/colors']);
  });

  it('[N2] a problem that lasts over several terms and processes is sent once', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1'));
    room.problem('began', 'deletes held', '3 deletions are held', 'a wave');
    room.look({ inSync: false });
    await room.clock.advance(5_000);
    await room.stop();
    void room.lead();
    await room.clock.advance(5_000);
    room.look({ inSync: false });
    await room.clock.advance(5_000);
    // To another process it is new, and fewer are left.
    await room.stop();
    void room.start();
    await room.clock.advance(5_000);
    room.problem('began', 'deletes held', '2 deletions are held', 'a wave');
    room.look({ inSync: false });
    await room.clock.advance(5_000);
    expect(room.sent.slice(2)).toEqual(['deletes.held shop/colors']);
  });

  it('[N5] [O1] counts what becomes of attempts, and says for how long the oldest has waited', async () => {
    const room = new Room();
    const metrics = new PrometheusMetrics();
    room.metrics = metrics;
    const seriesOf = async (name: string) =>
      Object.fromEntries(parseExposition(await metrics.scrape()).get(name)?.series ?? []);
    const results = async () => Object.values(await seriesOf('mirror_notifications_total'));
    const waitsFor = async () => Object.values(await seriesOf('mirror_notifications_oldest_pending_seconds'));
    void room.start();
    await room.clock.advance(2_000);
    expect(await seriesOf('mirror_notifications_total')).toEqual({
      'mirror_notifications_total{sink="ops",result="sent"}': 0,
      'mirror_notifications_total{sink="ops",result="failed"}': 0,
      'mirror_notifications_total{sink="ops",result="dropped"}': 0,
    });
    expect(await seriesOf('mirror_notifications_oldest_pending_seconds')).toEqual({
      'mirror_notifications_oldest_pending_seconds{sink="ops"}': 0,
    });
    room.outcome = { kind: 'failed', reason: 'no', mayHaveArrived: true, retryAfterMs: undefined };
    await room.put(colors('blue', '1'));
    await room.clock.advance(98_000);
    // At once, and then after 1, 2, 4, 8, 16 and 32 s.
    expect([await results(), await waitsFor()]).toEqual([[0, 7, 0], [100]]);
    room.outcome = { kind: 'accepted' };
    await room.clock.advance(3_600_000);
    expect([await results(), await waitsFor()]).toEqual([[2, 7, 0], [0]]);
  });

  it('[N1] a source that names a sink in vain is told so once', async () => {
    const room = await openRoom();
    await room.put(colors('blue', '1', { notify: 'pager' }));
    await room.put(colors('red', '2', { notify: 'pager' }));
    expect(room.reported).toEqual([`${UID} SinkUnavailable workshop.io/notify: there is no sink pager`]);
    expect(room.sent).toEqual([]);
  });

  it('[Q3] a stop waits at most 3 s for an API server that does not answer', async () => {
    const room = new Room();
    const ended = room.start();
    // Later than it would read the source itself.
    await room.clock.advance(15_000);
    room.before = () => new Promise(() => undefined);
    await room.put(colors('blue', '1'));
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    await room.stop(2_999);
    expect(hasEnded).toBe(false);
    await room.clock.advance(1);
    expect(hasEnded).toBe(true);
  });
});
