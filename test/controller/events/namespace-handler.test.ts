import { expect, test } from 'vitest';
import { namespaceHandler } from '../../../src/controller/events/namespace-handler.ts';
import { OccupiedNamespaces } from '../../../src/controller/events/occupied-namespaces.ts';
import { configMapIndexers } from '../../../src/controller/reconcile/cluster-view.ts';
import { IndexedMap } from '../../../src/informer/indexed-map.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { observe } from '../../../src/mirror/observe/observed-config-map.ts';
import { observeNamespace } from '../../../src/mirror/observe/observed-namespace.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { DelayingQueue } from '../../../src/workqueue/delaying-queue.ts';
import { companion, namespace, source, vocabulary } from '../../mirror/wire.ts';
import { boundsOf, viewOf, world } from '../../mirror/world.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const KEY = 'team-a/wide' as ObjectKey;

/**
 * A handler with a source for `target-*` and its companion in `team-b`, no longer a target, and
 * with more sources.
 */
function setUp(more: readonly ConfigMap[] = []) {
  const queue = new DelayingQueue<ObjectKey>({ clock: new ManualClock() });
  const wide = source(KEY, { 'target-namespaces': 'target-*' });
  const left = companion(wide, 'team-b/wide-synced');
  const configMaps = new IndexedMap(configMapIndexers({ vocabulary, bounds: boundsOf(), brake: undefined }));
  const occupied = new OccupiedNamespaces();
  for (const object of [wide, left, ...more].map((each) => observe(each, vocabulary))) {
    configMaps.set(object);
    occupied.add(object);
  }
  const consents: [string, string | undefined][] = [];
  const handler = namespaceHandler({
    view: viewOf(world([wide, left, ...more])),
    configMaps,
    occupied,
    queue,
    reports: { consent: (name, problem) => consents.push([name, problem]) },
    isSynced: () => true,
    emit: () => undefined,
  });
  return { queue, handler, consents, configMaps, occupied };
}

const ns = (...parts: Parameters<typeof namespace>) => observeNamespace(namespace(...parts), vocabulary);

test('[Q2] a new namespace queues the sources that target it as fresh', async () => {
  const { queue, handler } = setUp();
  queue.add(KEY, 'bulk');
  await queue.get();
  handler.add(ns('target-1'));
  expect(queue.isAwaited(KEY)).toBe(true);
});

test('[M2] a namespace that no source targets queues nothing', () => {
  const { queue, handler } = setUp();
  handler.add(ns('other'));
  expect(queue.length).toBe(0);
});

test('[R4] a deleted namespace queues the sources that target it', () => {
  const { queue, handler } = setUp();
  handler.delete(ns('target-1'), false);
  expect(queue.length).toBe(1);
});

test('[R4] a namespace seen later than a companion in it queues the source of that companion', () => {
  const { queue, handler } = setUp();
  handler.add(ns('team-b'));
  expect(queue.length).toBe(1);
});

test('[W2] a namespace without ConfigMaps of ours does not have all of them searched', () => {
  const { queue, handler, configMaps, occupied } = setUp();
  let searches = 0;
  const all = configMaps.values.bind(configMaps);
  configMaps.values = () => {
    searches += 1;
    return all();
  };
  handler.add(ns('target-1'));
  expect([queue.length, searches]).toEqual([1, 0]);
  handler.add(ns('team-b'));
  expect(searches).toBe(1);
  const left = configMaps.get('team-b/wide-synced' as ObjectKey) ?? expect.fail();
  occupied.add(left);
  occupied.delete(left);
  handler.add(ns('team-b'));
  expect(searches).toBe(2);
  occupied.delete(left);
  handler.add(ns('team-b'));
  expect(searches).toBe(2);
});

test('[P3] only a change of consent queues the sources of all companions there', () => {
  const { queue, handler } = setUp();
  handler.update(ns('team-b'), ns('team-b', { labels: { env: 'dev' } }));
  expect(queue.length).toBe(0);
  handler.update(ns('team-b'), ns('team-b', { accepts: '' }));
  expect(queue.length).toBe(1);
});

test('[P3] malformed consent is reported on the Namespace, and so is its end', () => {
  const { handler, consents } = setUp();
  handler.add(ns('team-b', { accepts: 'Team A' }));
  handler.update(ns('team-b', { accepts: 'Team A' }), ns('team-b', { accepts: 'team-a' }));
  expect(consents).toEqual([
    ['team-b', expect.stringContaining('"Team A"')],
    ['team-b', undefined],
  ]);
});

test('[V5] an edit of a label queues exactly the sources that use it there', async () => {
  const using = (at: number, label: string, targets: string) =>
    source(
      `team-a/${label}-${at}`,
      { 'target-namespaces': targets, 'render-keys': '*' },
      {
        data: { k: `$(mirror.label.${label})` },
      },
    );
  const { queue, handler } = setUp([
    ...Array.from({ length: 100 }, (_, at) => using(at, 'tier', 'target-*')),
    using(1, 'zone', 'target-*'),
    using(2, 'zone', 'other-*'),
  ]);
  const target = (labels: StringMap) => ns('target-1', { labels: { tier: 'gold', zone: 'a', ...labels } });
  for (let round = 0; round < 100; round += 1) {
    handler.update(target({ unused: `${round}` }), target({ unused: `${round + 1}` }));
  }
  expect(queue.length).toBe(0);
  handler.update(target({ unused: '0' }), target({ unused: '1', zone: 'b' }));
  expect(queue.length).toBe(1);
  expect(await queue.get()).toBe('team-a/zone-1');
});
