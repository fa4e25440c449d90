import { expect, test } from 'vitest';
import { RevertedError } from '../../../src/controller/memory/failure.ts';
import { createFollowed, patchFollowed } from '../../../src/controller/write/followed-writes.ts';
import { MutationCache } from '../../../src/controller/write/mutation-cache.ts';
import type { ObjectMeta } from '../../../src/kube/api/types.ts';
import type { Difference } from '../../../src/mirror/companion/drift.ts';
import type { ObservedConfigMap } from '../../../src/mirror/observe/observed-config-map.ts';
import { companion, observed, source } from '../../mirror/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryApi } from '../memory-api.ts';

const there = companion(source('home/colors'), 'team-a/colors-synced');
const healed: Difference = { kind: 'label', key: 'app.kubernetes.io/managed-by', value: 'mirror-controller' };

/** A server whose admission policy sets a label. The version is new, whatever else has changed. */
class LabellingApi extends MemoryApi {
  readonly #labelled = async (written: Promise<ObjectMeta>): Promise<ObjectMeta> => {
    const metadata = await written;
    return { ...metadata, labels: { ...metadata.labels, 'app.kubernetes.io/managed-by': 'platform' } };
  };

  override create(...parameters: Parameters<MemoryApi['create']>): Promise<ObjectMeta> {
    return this.#labelled(super.create(...parameters));
  }

  override patch(...parameters: Parameters<MemoryApi['patch']>): Promise<ObjectMeta> {
    return this.#labelled(super.patch(...parameters));
  }
}

function over(api: MemoryApi) {
  const mutations = new MutationCache(new ManualClock(), () => undefined);
  const known = (): ObservedConfigMap | undefined => mutations.newest(observed(there).key, undefined);
  return { deps: { api, mutations }, known };
}

test.each([
  ['a create', MemoryApi, []],
  ['a create that a policy alters', LabellingApi, []],
  ['a heal', MemoryApi, [there]],
  ['a heal that a policy reverts, in a new version', LabellingApi, [there]],
])('[R13] %s is taken for written only if the answer shows it', async (_what, Api, objects) => {
  const { deps, known } = over(new Api(objects));
  const write = objects.length
    ? patchFollowed(observed(there), [healed], undefined, deps)
    : createFollowed({ ...there, metadata: { ...there.metadata, namespace: 'team-a' } }, 'digest', deps);
  const error = await write.then(
    () => undefined,
    (failure) => failure,
  );
  if (Api === MemoryApi) expect(error).toBeUndefined();
  else expect(error).toBeInstanceOf(RevertedError);
  // What it is now is known all the same, so that its own watch event heals nothing.
  expect(known()?.labels['app.kubernetes.io/managed-by']).toBe(
    Api === MemoryApi ? 'mirror-controller' : 'platform',
  );
});
