import { expect, test } from 'vitest';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { companion, type NamespaceParts, namespace, source } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const KEY = 'home/colors' as ObjectKey;
const COMPANION = 'team-a/colors-synced' as ObjectKey;
const colors = source(KEY, { 'target-namespace-selector': 'env=dev' });
const there = companion(colors, COMPANION);
const DEV: NamespaceParts = { labels: { env: 'dev' } };

/** The Namespace changes after the write was planned and begun, and before it is sent. */
async function carriedOut(
  objects: readonly (typeof colors)[],
  before: NamespaceParts,
  after: NamespaceParts,
) {
  const seenWith = (parts: NamespaceParts) =>
    viewOf(world(objects, [namespace('home'), namespace('team-a', parts)]));
  const api = new MemoryApi(objects);
  const view = seenWith(before);
  const { reconciler, writes, writer, queue } = new Executor(api, view);
  const pass = reconciler.reconcile(KEY);
  const write = await writes.get();
  await pass;
  const { namespace: of, namespaces } = seenWith(after);
  Object.assign(view, { namespace: of, namespaces });
  if (write !== undefined) await writer.write(write);
  return { companion: api.objects.get(COMPANION), isPlannedAgain: queue.length === 1 };
}

test('[Q4] a companion that is wanted again is not deleted by a step that has waited', async () => {
  expect(await carriedOut([colors, there], {}, {})).toEqual({ companion: undefined, isPlannedAgain: false });
  expect(await carriedOut([colors, there], {}, DEV)).toEqual({ companion: there, isPlannedAgain: true });
});

test('[Q4] [P3] nothing is created in a namespace that has withdrawn its consent meanwhile', async () => {
  expect((await carriedOut([colors], DEV, DEV)).companion).toBeDefined();
  const closed = await carriedOut([colors], DEV, { ...DEV, accepts: '' });
  expect(closed).toEqual({ companion: undefined, isPlannedAgain: true });
});
