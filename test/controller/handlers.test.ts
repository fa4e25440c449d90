import { expect, test } from 'vitest';
import { configMapIndexers } from '../../src/controller/cluster-view.ts';
import { namespaceHandler } from '../../src/controller/handlers.ts';
import { Store } from '../../src/informer/store.ts';
import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { observe } from '../../src/mirror/observe/observed-config-map.ts';
import { observeNamespace } from '../../src/mirror/observe/observed-namespace.ts';
import { DelayingQueue } from '../../src/workqueue/delaying-queue.ts';
import { namespace, source, vocabulary } from '../mirror/wire.ts';
import { viewOf, world } from '../mirror/world.ts';
import { ManualClock } from '../support/manual-clock.ts';

const KEY = 'team-a/wide' as ObjectKey;

function setUp() {
  const clock = new ManualClock();
  const queue = new DelayingQueue<ObjectKey>({ clock });
  const wide = source(KEY, { 'target-namespaces': 'target-*' });
  const store = new Store(configMapIndexers(vocabulary));
  store.addPartition().set(observe(wide, vocabulary));
  const handler = namespaceHandler({
    view: viewOf(world([wide])),
    configMaps: store.lister,
    queue,
    areKnown: () => true,
  });
  return { clock, queue, handler };
}

test('[Q2] a source is reconciled a moment after a new namespace has come, in which the server would hold up the create', async () => {
  const { clock, queue, handler } = setUp();
  handler.add(observeNamespace(namespace('target-1'), vocabulary));
  await clock.advance(4);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(await queue.get()).toBe(KEY);
});

test('[Q2] a new namespace is fresh, even while the rest of the fan-out is written', async () => {
  const { clock, queue, handler } = setUp();
  queue.add(KEY, 'bulk');
  await queue.get();
  handler.add(observeNamespace(namespace('target-1'), vocabulary));
  await clock.advance(5);
  expect(queue.isAwaited(KEY)).toBe(true);
});

test('[Q2] what becomes of a namespace that the server has long known waits for nothing', async () => {
  const { queue, handler } = setUp();
  const observed = observeNamespace(namespace('target-1'), vocabulary);
  handler.delete(observed, false);
  expect(queue.length).toBe(1);
});
