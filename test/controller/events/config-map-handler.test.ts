import { expect, test } from 'vitest';
import { configMapHandler } from '../../../src/controller/events/config-map-handler.ts';
import { MutationCache } from '../../../src/controller/write/mutation-cache.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { sourceReference } from '../../../src/mirror/observe/observed-config-map.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { DelayingQueue } from '../../../src/workqueue/delaying-queue.ts';
import { configMap, observed, source, vocabulary } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const asks = { 'render-keys': '*', 'values-from': 'options' };
const data = { k: '$(mirror.value.title)' };
const values = (name: string, of: StringMap) =>
  observed(configMap(`home/${name}`, { labels: { 'workshop.io/managed': 'values' }, data: of }));

test('[V3] [V5] an edit of values queues exactly the sources that use them', async () => {
  const clock = new ManualClock();
  const queue = new DelayingQueue<ObjectKey>({ clock });
  const sources = [
    source('home/app', asks, { data }),
    source('home/names', asks, { data: { k: '$(mirror.namespace)' } }),
    source('home/unrendered', { 'values-from': 'options' }, { data }),
    source('home/others', { ...asks, 'values-from': 'others' }, { data }),
    source('elsewhere/app', asks, { data }),
    source('home/plain'),
  ];
  const handler = configMapHandler({
    view: viewOf(world(sources)),
    queue,
    mutations: new MutationCache(clock, (object) => sourceReference(object, vocabulary)),
    memory: { disturbed: () => undefined },
    versions: { changed: () => undefined },
    isSynced: () => true,
    demandNamespaces: () => undefined,
    emit: () => undefined,
  });
  for (let round = 0; round < 100; round += 1) {
    handler.update(values('unused', { title: `${round}` }), values('unused', { title: `${round + 1}` }));
  }
  handler.delete(values('unused', {}), false);
  expect(queue.length).toBe(0);
  handler.update(values('options', { title: 'Garden' }), values('options', { title: 'Park' }));
  expect(queue.length).toBe(1);
  expect(await queue.get()).toBe('home/app');
});
