import { describe, expect, test } from 'vitest';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../../src/kube/api/types.ts';
import { ApiError, NetworkError } from '../../../src/kube/errors.ts';
import { companion, configMap, namespace, observed, source } from '../../mirror/wire.ts';
import { boundsOf, viewOf, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const KEY = 'home/colors' as ObjectKey;
const BESIDE = 'home/colors-synced' as ObjectKey;

/** The controller sees at once what the API holds. */
function setUp(objects: readonly ConfigMap[], namespaces: readonly Namespace[] = [], requireConsent = false) {
  const api = new MemoryApi(objects);
  const view = () => viewOf(world([...api.objects.values()], namespaces, boundsOf({ requireConsent })));
  const executor = (options?: { readonly dryRun: boolean }) => new Executor(api, view(), options);
  return { api, executor };
}

describe('[Q2] a fan-out whose companions others change all the time', () => {
  const teams = Array.from({ length: 20 }, (_, number) => namespace(`team-${number}`));

  /** How many companions a pass creates, each in 5 ms, if every moment brings a fresh change. */
  async function createdIn(planningMs: number): Promise<number> {
    const api = new MemoryApi([source(KEY, { 'target-namespaces': 'team-*' })]);
    const view = viewOf(world([...api.objects.values()], teams));
    const { referrers } = view;
    let now = 0;
    // Asked for once in each plan.
    view.referrers = (of) => {
      now += planningMs;
      return referrers(of);
    };
    const running = new Executor(api, view);
    running.clock.now = () => now;
    api.beforeWrite = async () => {
      now += 5;
    };
    running.queue.add(KEY);
    await running.queue.get();
    const pass = running.reconciler.reconcile(KEY);
    running.queue.add(KEY);
    for (;;) {
      const write = await Promise.race([running.writes.get(), pass]);
      if (!write) return api.objects.size - 1;
      await running.writer.write(write);
      running.writes.done(write);
    }
  }

  test('gets some writes done before it is planned again', async () => {
    expect(await createdIn(10)).toBe(8);
  });

  test('is planned again at once if that is cheap', async () => {
    expect(await createdIn(0)).toBe(0);
  });
});

describe('a pass', () => {
  test('[R4] creates a renamed companion before it deletes the former one', async () => {
    const { api, executor } = setUp([
      source(KEY, { 'companion-name': 'colors-copy' }),
      companion(source(KEY), BESIDE),
    ]);
    const written: string[] = [];
    api.beforeWrite = async (key) => void written.push(key);
    await executor().pass(KEY);
    expect(written).toEqual(['home/colors-copy', BESIDE]);
  });

  test('[M1] creates what is missing, and the next one writes nothing', async () => {
    const { api, executor } = setUp([source(KEY)]);
    await executor().pass(KEY);
    expect(api.objects.get(BESIDE)?.data).toEqual({ colour: 'red' });
    const before = new Map(api.objects);
    await executor().pass(KEY);
    expect(api.objects).toEqual(before);
  });

  test('[R9] writes the other companions when one fails, and retries only that one', async () => {
    const names = ['team-a', 'team-b', 'team-c'];
    const { api, executor } = setUp(
      [source(KEY, { 'target-namespaces': 'team-*' })],
      names.map((name) => namespace(name)),
    );
    api.beforeWrite = async (key) => {
      if (key.startsWith('team-b/')) throw new ApiError('forbidden', { status: 403, reason: 'Forbidden' });
    };
    const running = executor();
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual([KEY, 'team-c/colors-synced', 'team-a/colors-synced']);
    expect([...running.memory.unfinished()]).toEqual([[KEY, 1]]);
    await running.clock.advance(50);
    expect(running.queue.length).toBe(1);
  });

  test('[R2] [R6] heals our companion that a create meets, and leaves an unrelated object alone', async () => {
    const ours = companion(source(KEY), BESIDE, {
      data: { colour: 'blue' },
      labels: { 'workshop.io/managed': 'x' },
    });
    const { api, executor } = setUp([source(KEY), ours]);
    const healing = executor();
    await healing.pass(KEY);
    expect(api.objects.get(BESIDE)?.data).toEqual({ colour: 'red' });
    expect(healing.log.told).toMatchObject([
      { message: 'companion updated', reason: 'differs in content, label workshop.io/managed' },
    ]);
    const other = { metadata: { ...ours.metadata, labels: {}, annotations: {}, ownerReferences: [] } };
    const blocked = setUp([source(KEY), other]);
    const running = blocked.executor();
    await running.pass(KEY);
    expect(blocked.api.objects.get(BESIDE)).toEqual(other);
    expect(running.log.told).toEqual([expect.objectContaining({ message: 'companion in conflict' })]);
    expect([...running.memory.unfinished()]).toEqual([]);
  });

  test('[R12] replaces an immutable companion when its content must change', async () => {
    const frozen = companion(source(KEY), BESIDE, { data: { colour: 'blue' }, immutable: true });
    const { api, executor } = setUp([source(KEY), frozen]);
    await executor().pass(KEY);
    const replaced = api.objects.get(BESIDE);
    expect([replaced?.data, replaced?.immutable]).toEqual([{ colour: 'red' }, undefined]);
    expect(replaced?.metadata.uid).not.toBe(frozen.metadata.uid);
  });

  test('[R12] a replaced companion that a finalizer blocks keeps its annotations, once it is gone', async () => {
    const frozen = companion(source(KEY), BESIDE, {
      ...{ data: { colour: 'blue' }, immutable: true, finalizers: ['example.com/wait'] },
      annotations: { note: 'mine' },
    });
    const api = new MemoryApi([source(KEY), frozen]);
    const view = viewOf(world([...api.objects.values()]));
    const see = () => void Object.assign(view, viewOf(world([...api.objects.values()])));
    const running = new Executor(api, view);
    await running.pass(KEY);
    see();
    await running.pass(KEY);
    expect(api.objects.get(BESIDE)?.metadata).toMatchObject({ deletionTimestamp: expect.any(String) });
    api.objects.delete(BESIDE);
    see();
    await running.pass(KEY);
    expect(api.objects.get(BESIDE)).toMatchObject({
      metadata: { annotations: { note: 'mine' } },
      data: { colour: 'red' },
    });
  });

  test('[R13] [C4] does not wait for a failed write once its source is invalid', async () => {
    const api = new MemoryApi([source(KEY)]);
    api.beforeWrite = () => Promise.reject(new ApiError('forbidden', { status: 403, reason: 'Forbidden' }));
    const view = viewOf(world([source(KEY)]));
    const running = new Executor(api, view);
    await running.pass(KEY);
    expect([...running.memory.unfinished()]).toEqual([[KEY, 1]]);
    Object.assign(view, viewOf(world([source(KEY, { 'deletion-policy': 'typo' })])));
    await running.pass(KEY);
    expect([...running.memory.unfinished()]).toEqual([]);
  });

  test('[R13] reports an unknown annotation and a missing namespace once, and mirrors anyway', async () => {
    const asks = { 'target-namespaces': 'team-a, taem-b', 'target-namespace': 'x' };
    const { api, executor } = setUp([source(KEY, asks)], [namespace('team-a')]);
    const running = executor();
    await running.pass(KEY);
    await running.pass(KEY);
    expect(api.objects.has('team-a/colors-synced' as ObjectKey)).toBe(true);
    const warnings = running.log.told.filter(({ level }) => level === 'warn');
    expect(warnings).toEqual([
      expect.objectContaining({
        message: 'source needs attention',
        reason: expect.stringContaining('did you mean workshop.io/target-namespaces?'),
      }),
      expect.objectContaining({
        companion: 'taem-b/colors-synced',
        reason: 'namespace taem-b does not exist',
      }),
    ]);
  });

  test('[P3] reports namespaces that match but have not consented as one count', async () => {
    const { executor } = setUp(
      [source(KEY, { 'target-namespaces': 'team-*' })],
      ['team-a', 'team-b'].map((name) => namespace(name)),
      true,
    );
    const running = executor();
    await running.pass(KEY);
    expect(running.log.told).toEqual([
      expect.objectContaining({ source: KEY, reason: expect.stringContaining('2 matching namespaces') }),
    ]);
  });

  test('[C4] in a dry run reports once what it would write, and writes nothing', async () => {
    const { api, executor } = setUp([source(KEY)]);
    const running = executor({ dryRun: true });
    await running.pass(KEY);
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual([KEY]);
    expect(running.log.told.map(({ message }) => message)).toEqual(['companion would be created']);
  });
});

test('[D3] a delayed deletion is made when its time is over, and a restart starts the time anew', async () => {
  const leaving = companion(source(KEY), 'team-a/colors-synced', {
    annotations: { 'workshop.io/delete-after': '10m' },
  });
  const api = new MemoryApi([leaving]);
  const view = viewOf(world([leaving]));
  const first = new Executor(api, view);
  await first.pass(KEY);
  await first.clock.advance(9 * 60_000);
  await first.pass(KEY);
  const second = new Executor(api, view);
  await second.pass(KEY);
  await second.clock.advance(10 * 60_000 - 1);
  expect([api.objects.size, second.queue.length]).toEqual([1, 0]);
  await second.clock.advance(1);
  expect(second.queue.length).toBe(1);
  await second.pass(KEY);
  expect(api.objects.size).toBe(0);
});

test('[D7] content that waits is mirrored when it is time, also if something else was written meanwhile', async () => {
  const asks = { settle: '2s' };
  const before = source(KEY, asks);
  const after = source(KEY, asks, { data: { colour: 'blue' } });
  const api = new MemoryApi([companion(before, BESIDE, { labels: { 'app.kubernetes.io/managed-by': 'x' } })]);
  api.objects.set(KEY, after);
  const view = viewOf(world([...api.objects.values()]));
  const running = new Executor(api, view);
  running.versions.changed(observed(before), observed(after));
  await running.pass(KEY);
  const { metadata, data } = api.objects.get(BESIDE) ?? {};
  expect([metadata?.labels?.['app.kubernetes.io/managed-by'], data]).toEqual([
    'mirror-controller',
    { colour: 'red' },
  ]);
  Object.assign(view, viewOf(world([...api.objects.values()])));
  await running.clock.advance(2000);
  expect(running.queue.length).toBe(1);
  await running.pass(KEY);
  expect(api.objects.get(BESIDE)?.data).toEqual({ colour: 'blue' });
});

test('[O4] an outage is over when a write that got no answer turns out to be made', async () => {
  const api = new MemoryApi([source(KEY)]);
  const view = viewOf(world([source(KEY)]));
  const running = new Executor(api, view);
  const { create } = api;
  api.create = async (body) => {
    await create.call(api, body);
    throw new NetworkError('no answer', { code: 'TIMEOUT' });
  };
  await running.pass(KEY);
  Object.assign(view, viewOf(world([...api.objects.values()])));
  await running.pass(KEY);
  expect(running.log.told.map(({ message }) => message)).toEqual([
    'the API server is failing; retrying',
    'resolved',
  ]);
});

test('[O4] the problem of a companion is over when its source no longer asks for it', async () => {
  const view = viewOf(world([source(KEY, { 'target-namespaces': 'home, taem-b' })]));
  const running = new Executor(new MemoryApi(), view);
  await running.pass(KEY);
  Object.assign(view, viewOf(world([source(KEY, { 'target-namespaces': 'home' })])));
  await running.pass(KEY);
  const told = running.log.told.filter((line) => line['companion'] === 'taem-b/colors-synced');
  expect(told.map(({ message }) => message)).toEqual(['companion has no namespace', 'resolved']);
});

describe('[R3] a source that is gone', () => {
  const left = companion(source(KEY), 'team-a/colors-synced');

  test('has its companions deleted after a live read', async () => {
    const { api, executor } = setUp([left], [namespace('team-a')]);
    await executor().pass(KEY);
    expect([...api.objects.keys()]).toEqual([]);
  });

  test('has nothing deleted while the live read fails, and the read is retried', async () => {
    const { api, executor } = setUp([left], [namespace('team-a')]);
    const { get } = api;
    api.get = () => Promise.reject(new ApiError('overloaded', { status: 503 }));
    const running = executor();
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual(['team-a/colors-synced']);
    expect([...running.memory.unfinished()]).toEqual([[KEY, 1]]);
    api.get = get;
    await running.clock.advance(50);
    expect(running.queue.length).toBe(1);
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual([]);
    expect(running.log.told.at(-1)?.message).toBe('resolved');
  });

  test('[L3] of a standby writes nothing and reports nothing', async () => {
    const invalid = source(KEY, { 'deletion-policy': 'x' });
    for (const { api, executor } of [setUp([source(KEY)]), setUp([invalid])]) {
      const running = executor();
      running.isLeader = false;
      const before = new Map(api.objects);
      await running.pass(KEY);
      expect(api.objects).toEqual(before);
      expect(running.log.told).toEqual([]);
    }
  });

  test('[L3] what failed before does not delay the one after the Lease is gained again', async () => {
    const { api, executor } = setUp([source(KEY)]);
    const running = executor();
    api.beforeWrite = async () => {
      throw new ApiError('no', { status: 422, reason: 'Invalid' });
    };
    await running.pass(KEY);
    api.beforeWrite = async () => undefined;
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual([KEY]);
    running.memory.forgetWrites();
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual([KEY, BESIDE]);
  });

  test('[L3] a write that the loss of the Lease ends is not reported, and not retried', async () => {
    const { api, executor } = setUp([source(KEY)]);
    const running = executor();
    api.beforeWrite = async () => {
      running.isLeader = false;
      throw new NetworkError('aborted', { code: 'ABORTED' });
    };
    await running.pass(KEY);
    expect(running.log.told).toEqual([]);
    expect([...running.memory.unfinished()]).toEqual([]);
    await running.clock.advance(60_000);
    expect(running.queue.length).toBe(0);
  });
});

test('[D1] a deletion counts from its plan on, also while its write waits', async () => {
  const leaving = companion(source(KEY, { 'target-namespaces': 'x' }), 'team-a/colors-synced');
  const of = {
    ...world([source(KEY, { 'target-namespaces': 'x' }), leaving]),
    brake: { count: 2, percent: 0 },
  };
  const running = new Executor(new MemoryApi(of.configMaps), viewOf(of));
  const pass = running.reconciler.reconcile(KEY);
  await new Promise(setImmediate);
  expect([...running.deletions.recent('home')]).toEqual([leaving.metadata.uid]);
  running.writes.shutDown();
  await pass;
});

describe('a source with placeholders', () => {
  const asks = { 'render-keys': '*', 'values-from': 'options', 'target-namespaces': 'team-*' };
  const text = '$(mirror.value.title) $(mirror.label.tier)';
  const options = (title: string): ConfigMap =>
    configMap('home/options', {
      labels: { 'workshop.io/managed': 'values' },
      data: { title },
      resourceVersion: title,
    });
  const asking = source(KEY, asks, { data: { k: text } });
  const THERE = 'team-a/colors-synced' as ObjectKey;

  /** The controller sees a change when `see` is called. */
  function renderer(title: string) {
    const api = new MemoryApi([asking, options(title)]);
    // As in the store, an object that has not changed stays the same object.
    let current = observed(asking);
    const seen = (tier: string) => {
      const view = viewOf(world([...api.objects.values()], [namespace('team-a', { labels: { tier } })]));
      return { ...view, configMap: (key: ObjectKey) => (key === KEY ? current : view.configMap(key)) };
    };
    const view = seen('gold');
    const running = new Executor(api, view);
    const see = (tier = 'gold') => void Object.assign(view, seen(tier));
    const setTitle = (later: string) => {
      api.objects.set('home/options' as ObjectKey, options(later));
      see();
    };
    const editSource = () => {
      current = observed({ ...asking, metadata: { ...asking.metadata, resourceVersion: '2' } });
    };
    return { api, running, see, setTitle, editSource };
  }

  test('[V4] drops a write that was planned from earlier values', async () => {
    const { api, running, setTitle } = renderer('Garden');
    const pass = running.reconciler.reconcile(KEY);
    const write = await running.writes.get();
    if (write === undefined) throw new Error('there is no write');
    setTitle('Park');
    await running.writer.write(write);
    running.writes.done(write);
    await pass;
    expect(api.objects.has(THERE)).toBe(false);
    await running.pass(KEY);
    expect(api.objects.get(THERE)?.data).toEqual({ k: 'Park gold' });
  });

  test.each(['values', 'source'])(
    '[V4] drops a pass whose %s change while it reads, and tries again',
    async (what) => {
      const { api, running, setTitle, editSource } = renderer('Garden');
      const { get } = api;
      api.get = async (key) => {
        const object = await get.call(api, key);
        if (key === 'home/options' && what === 'values') setTitle('Park');
        if (key === 'home/options' && what === 'source') editSource();
        return object;
      };
      await running.pass(KEY);
      expect(running.happenings).toEqual([expect.objectContaining({ type: 'reconciled', result: 'stale' })]);
      expect(running.log.told).toEqual([]);
      api.get = get;
      await running.pass(KEY);
      expect(api.objects.get(THERE)?.data).toEqual({ k: what === 'values' ? 'Park gold' : 'Garden gold' });
    },
  );

  test('[V5] new values and a new label do not wait for what failed before them', async () => {
    const { api, running, see, setTitle } = renderer('x'.repeat(10));
    const fail = async () => {
      throw new ApiError('no', { status: 422, reason: 'Invalid' });
    };
    api.beforeWrite = fail;
    await running.pass(KEY);
    api.beforeWrite = async () => undefined;
    await running.pass(KEY);
    expect(api.objects.has(THERE)).toBe(false);
    setTitle('Park');
    await running.pass(KEY);
    expect(api.objects.get(THERE)?.data).toEqual({ k: 'Park gold' });
    see();
    api.beforeWrite = fail;
    setTitle('Wood');
    await running.pass(KEY);
    api.beforeWrite = async () => undefined;
    see('iron');
    await running.pass(KEY);
    expect(api.objects.get(THERE)?.data).toEqual({ k: 'Wood iron' });
  });

  test('[V4] what is unresolved is told once, and so is its end', async () => {
    const { api, running, see, setTitle } = renderer('Garden');
    api.objects.delete('home/options' as ObjectKey);
    see();
    await running.pass(KEY);
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual([KEY]);
    setTitle('Park');
    await running.pass(KEY);
    expect(api.objects.get(THERE)?.data).toEqual({ k: 'Park gold' });
    const why = 'there is no ConfigMap home/options labelled workshop.io/managed=values';
    expect(running.log.told.map(({ message, ...fields }) => [message, fields['reason']])).toEqual([
      ['source needs attention', `nothing is written in team-a: k: $(mirror.value.title): ${why}`],
      ['resolved', undefined],
      ['companion created', 'it did not exist'],
    ]);
    const problems = running.happenings.flatMap((each) =>
      each.type === 'problem' ? [`${each.kind} ${each.state}`] : [],
    );
    expect(problems).toEqual(['unresolved began', 'unresolved resolved']);
  });
});
