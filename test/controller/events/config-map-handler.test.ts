import { describe, expect, test } from 'vitest';
import { configMapHandler } from '../../../src/controller/events/config-map-handler.ts';
import { MutationCache } from '../../../src/controller/write/mutation-cache.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { sourceReference } from '../../../src/mirror/observe/observed-config-map.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { DelayingQueue } from '../../../src/workqueue/delaying-queue.ts';
import { companion, configMap, observed, source, vocabulary } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const asks = { 'render-keys': '*', 'values-from': 'options' };
const data = { k: '$(mirror.value.title)' };
const values = (name: string, of: StringMap) =>
  observed(configMap(`home/${name}`, { labels: { 'workshop.io/managed': 'values' }, data: of }));

function setUp(sources: readonly ConfigMap[]) {
  const clock = new ManualClock();
  const queue = new DelayingQueue<ObjectKey>({ clock });
  const mutations = new MutationCache(clock, (object) => sourceReference(object, vocabulary));
  /** Companions that others have changed. */
  const disturbed: ObjectKey[] = [];
  const handler = configMapHandler({
    view: viewOf(world(sources)),
    queue,
    mutations,
    memory: { disturbed: (_, companion) => disturbed.push(companion) },
    versions: { changed: () => undefined },
    isSynced: () => true,
    demandNamespaces: () => undefined,
    emit: () => undefined,
  });
  return { queue, mutations, disturbed, handler };
}

test('[V3] [V5] an edit of values queues exactly the sources that use them', async () => {
  const sources = [
    source('home/app', asks, { data }),
    source('home/names', asks, { data: { k: '$(mirror.namespace)' } }),
    source('home/unrendered', { 'values-from': 'options' }, { data }),
    source('home/others', { ...asks, 'values-from': 'others' }, { data }),
    source('elsewhere/app', asks, { data }),
    source('home/plain'),
  ];
  const { queue, handler } = setUp(sources);
  for (let round = 0; round < 100; round += 1) {
    handler.update(values('unused', { title: `${round}` }), values('unused', { title: `${round + 1}` }));
  }
  handler.delete(values('unused', {}), false);
  expect(queue.length).toBe(0);
  handler.update(values('options', { title: 'Garden' }), values('options', { title: 'Park' }));
  expect(queue.length).toBe(1);
  expect(await queue.get()).toBe('home/app');
});

describe('[R14] the end of a companion that a finalizer holds', () => {
  const colors = source('home/colors');
  const version = (resourceVersion: string, deleting: boolean) =>
    observed(companion(colors, 'home/colors-synced', { resourceVersion, deleting }));
  const [there, held, released] = [version('1', false), version('2', true), version('3', true)];

  test('is not the work of another client if we deleted it', async () => {
    const { queue, mutations, disturbed, handler } = setUp([colors]);
    await mutations.followDelete(there, async () => undefined);
    handler.update(there, held);
    handler.update(held, released);
    handler.delete(released, false);
    expect(disturbed).toEqual([]);
    expect(await queue.get()).toBe('home/colors');
  });

  test('is the work of the client that deleted it', () => {
    const { disturbed, handler } = setUp([colors]);
    handler.update(there, held);
    expect(disturbed).toEqual(['home/colors-synced']);
    handler.delete(held, false);
    expect(disturbed).toEqual(['home/colors-synced']);
  });
});
