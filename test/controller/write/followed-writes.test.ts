import { expect, test } from 'vitest';
import { RevertedError } from '../../../src/controller/memory/failure.ts';
import { patchFollowed } from '../../../src/controller/write/followed-writes.ts';
import { MutationCache } from '../../../src/controller/write/mutation-cache.ts';
import type { ObjectMeta } from '../../../src/kube/api/types.ts';
import type { Difference } from '../../../src/mirror/companion/drift.ts';
import { companion, observed, source } from '../../mirror/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryApi } from '../memory-api.ts';

const there = companion(source('home/colors'), 'team-a/colors-synced', { labels: { tier: 'gold' } });
const healed: Difference = { kind: 'label', key: 'tier', value: 'silver' };

/** A server whose admission policy sets a label. The version is new, whatever else has changed. */
class LabellingApi extends MemoryApi {
  override async patch(...parameters: Parameters<MemoryApi['patch']>): Promise<ObjectMeta> {
    const metadata = await super.patch(...parameters);
    return { ...metadata, labels: { ...metadata.labels, tier: 'gold' } };
  }
}

test('[R13] a heal that a policy reverts is no success, though the version is new', async () => {
  const mutations = new MutationCache(new ManualClock(), () => undefined);
  const deps = { api: new LabellingApi([there]), mutations };
  await expect(patchFollowed(observed(there), [healed], undefined, deps)).rejects.toThrow(RevertedError);
  // Its version is known all the same, so that its own watch event heals nothing.
  const { key, resourceVersion } = observed(there);
  expect(mutations.newest(key, undefined)?.resourceVersion).not.toBe(resourceVersion);
});
