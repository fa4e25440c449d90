import { expect, onTestFinished, test } from 'vitest';
import type { Reconciled } from '../../src/controller/memory/happening.ts';
import { type ObjectKey, objectKey } from '../../src/kube/api/object-key.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { type ObservedConfigMap, observe } from '../../src/mirror/observe/observed-config-map.ts';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { shardKey, shardOf } from '../../src/notify/state/stored-record.ts';
import { NO_METRICS } from '../../src/telemetry/metrics.ts';
import { MemoryApi } from '../controller/memory-api.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { source, vocabulary } from '../mirror/wire.ts';
import { ManualClock } from '../support/manual-clock.ts';

const PREFIX = objectKey('home', 'notify');
const SHARD = 3;
const HOUR_MS = 3_600_000;

/** Of sources whose records are all in one ConfigMap. */
function uidsOfOneShard(count: number): readonly string[] {
  const uids: string[] = [];
  for (let n = 0; uids.length < count; n++) {
    const uid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    if (shardOf(uid) === SHARD) uids.push(uid);
  }
  return uids;
}

/** Many sources, an API that takes no ConfigMap of more than 1 MiB, and three sinks that take all. */
class CrowdedRoom {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  sent = 0;
  readonly #api = new MemoryApi();
  readonly #uids: readonly string[];
  readonly #cache = new Map<ObjectKey, ObservedConfigMap>();
  #version = 1;
  #notifier: Notifier | undefined;

  constructor(count: number) {
    this.#uids = uidsOfOneShard(count);
    this.editAll();
  }

  editAll(): void {
    this.#version += 1;
    for (const [at, uid] of this.#uids.entries()) {
      const key = objectKey('shop', `application-config-${at}`);
      const options = { uid, data: { sky: `v${this.#version}` }, resourceVersion: `${this.#version}` };
      this.#cache.set(key, observe(source(key, {}, options), vocabulary));
    }
  }

  get keys(): Iterable<ObjectKey> {
    return this.#cache.keys();
  }

  /** Leads, calls `begin` with what hears of a pass over a source, and stops after `ms`. */
  async lead(ms: number, begin: (look: (key: ObjectKey) => void) => Promise<void>): Promise<void> {
    const sinks = parseNotifyConfig(
      `sinks: [${['a', 'b', 'c'].map((name) => `{name: ${name}, type: webhook, url: "https://ops", default: true}`)}]`,
      '/',
    );
    const { clock, log } = this;
    const notifier = new Notifier({
      ...{ sinks: sinks.ok ? sinks.value : [], vocabulary, prefix: PREFIX, metrics: NO_METRICS, clock, log },
      api: this.#limited(),
      random: () => 0.5,
      isBusy: () => false,
      cluster: async () => 'a-cluster',
      report: () => undefined,
      deliver: async () => {
        this.sent += 1;
        return { kind: 'accepted' };
      },
    });
    this.#notifier = notifier;
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const sources = {
      whenSynced: async () => undefined,
      get: (key: ObjectKey) => this.#cache.get(key),
      all: () => [...this.#cache.values()],
      queue: (key: ObjectKey) => void clock.setTimer(0, () => this.#look(key)),
      content: () => Promise.reject(new Error('nobody asks for content')),
    };
    const ended = notifier.lead(sources, stop.signal);
    await begin((key) => this.#look(key));
    await clock.advance(ms);
    stop.abort();
    await clock.advance(5_000);
    await ended;
  }

  #look(key: ObjectKey): void {
    const happening: Reconciled = {
      ...{ type: 'reconciled', source: key, object: this.#cache.get(key), result: 'ok', durationMs: 1 },
      ...{ companions: { 'in sync': 1 }, inSync: true },
    };
    this.#notifier?.hear(happening);
  }

  #limited(): Pick<MemoryApi, 'get' | 'create' | 'patch'> {
    const api = this.#api;
    return {
      get: (key) => api.get(key),
      create: (body) => api.create(body),
      patch: async (key, patch) => {
        const after = { ...(await api.get(key)).data, ...patch.data };
        const size = Object.values(after).reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
        if (size > 2 ** 20) throw new ApiError('data: Too long', { status: 422, reason: 'Invalid' });
        return api.patch(key, patch);
      },
    };
  }
}

test('[N4] of more changes than the state has room for, all are sent, one part after the other', async () => {
  const count = 600;
  const room = new CrowdedRoom(count);
  await room.lead(HOUR_MS, async (look) => {
    await room.clock.advance(60_000);
    room.editAll();
    // So that each sink has been sent something, and its records are as large as usual.
    let looked = 0;
    for (const key of room.keys) {
      look(key);
      looked += 1;
      if (looked % 50 === 0) await room.clock.advance(60_000);
    }
  });
  // Changed, and converged, for each of three sinks.
  expect(room.sent).toBe(count * 3 * 2);
  room.editAll();
  await room.lead(6 * HOUR_MS, async (look) => {
    for (const key of room.keys) look(key);
  });
  expect(room.sent).toBe(2 * count * 3 * 2);
  const told = room.log.told.filter(({ configMap }) => configMap === shardKey(PREFIX, SHARD));
  expect(told.map(({ level, message }) => [level, message])).toEqual([
    ['warn', expect.stringContaining('notification state not written')],
    ['info', 'resolved'],
  ]);
});
