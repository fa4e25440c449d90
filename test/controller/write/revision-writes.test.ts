import { expect, test } from 'vitest';
import { RevertedError } from '../../../src/controller/memory/failure.ts';
import { MutationCache } from '../../../src/controller/write/mutation-cache.ts';
import { writeRevision } from '../../../src/controller/write/revision-writes.ts';
import { SourceBodies } from '../../../src/controller/write/source-bodies.ts';
import type { ObjectMeta } from '../../../src/kube/api/types.ts';
import { observe } from '../../../src/mirror/observe/observed-config-map.ts';
import { revisionObject } from '../../mirror/rollout/revisions.ts';
import { observed, source, vocabulary } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryApi } from '../memory-api.ts';

/** A server whose admission policy undoes every change of an existing object. */
class RevertingApi extends MemoryApi {
  override async patch(key: Parameters<MemoryApi['patch']>[0]): Promise<ObjectMeta> {
    return (await this.get(key)).metadata;
  }
}

test('[D6][R13] a mark that the server reverts is a failure, and is not taken for written', async () => {
  const shop = source('shop/colors');
  const object = revisionObject(shop, { sky: 'blue' }, { order: 1, stage: 'trying' });
  const api = new RevertingApi([object]);
  const mutations = new MutationCache(new ManualClock(), () => undefined);
  const deps = { view: viewOf(world([])), api, bodies: new SourceBodies(api, 0), mutations };
  const actual = observe(object, vocabulary);
  const step = {
    action: 'mark',
    companion: actual.key,
    reason: 'its canary has failed',
    actual,
    differences: [{ kind: 'annotation', key: vocabulary.canaryStage, value: 'failed' }],
  } as const;
  await expect(writeRevision(step, observed(shop), deps)).rejects.toThrow(RevertedError);
  expect(mutations.newest(actual.key, actual)).toBe(actual);
});
