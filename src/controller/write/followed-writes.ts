import { isDeepStrictEqual } from 'node:util';
import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import { keyOf } from '../../kube/api/object-key.ts';
import type { NewConfigMap } from '../../kube/api/types.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Difference } from '../../mirror/companion/drift.ts';
import { healingPatch } from '../../mirror/companion/patch.ts';
import { type Content, mapsIn } from '../../mirror/observe/content.ts';
import { type ObservedConfigMap, observeWritten } from '../../mirror/observe/observed-config-map.ts';
import { RevertedError } from '../memory/failure.ts';
import type { MutationCache } from './mutation-cache.ts';

/** The three writes. The mutation cache remembers the result of each until the watch shows it. */
export interface FollowedWriteDeps {
  readonly api: ConfigMapApi;
  readonly mutations: MutationCache;
}

/** `digest`: of the content in `body`. */
export async function createFollowed(
  body: NewConfigMap,
  digest: string,
  { api, mutations }: FollowedWriteDeps,
): Promise<void> {
  const written = { digest, immutable: body.immutable === true, ...mapsIn(body) };
  await mutations.follow(keyOf(body), async () => observeWritten(await api.create(body), written));
}

/**
 * Resolves to the patched object. `loaded` is given if the content differs.
 * @throws RevertedError if the server accepted the patch but changed nothing.
 */
export async function patchFollowed(
  actual: ObservedConfigMap,
  differences: readonly Difference[],
  loaded: { readonly digest: string; readonly content: Content } | undefined,
  { api, mutations }: FollowedWriteDeps,
): Promise<ObservedConfigMap> {
  const { key } = actual;
  const patch = healingPatch(actual, differences, loaded?.content);
  const written = loaded ? { ...actual, digest: loaded.digest, ...mapsIn(loaded.content) } : actual;
  try {
    const patched = await mutations.follow(key, async () => {
      const metadata = await api.patch(key, patch);
      if (metadata.resourceVersion === actual.resourceVersion) throw new RevertedError();
      return observeWritten(metadata, written);
    });
    if (loaded === undefined && hasSameMetadata(patched, actual)) throw new RevertedError();
    return patched;
  } catch (error) {
    if (isNotFound(error)) mutations.forget(key);
    throw error;
  }
}

/**
 * The API server sorts `managedFields` by time. So a patch that is reverted makes a new version all
 * the same if others have written since our last write.
 * https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/managedfields.go
 */
function hasSameMetadata(a: ObservedConfigMap, b: ObservedConfigMap): boolean {
  return (
    isDeepStrictEqual(a.labels, b.labels) &&
    isDeepStrictEqual(a.annotations, b.annotations) &&
    isDeepStrictEqual(a.ownerReferences, b.ownerReferences)
  );
}

/** A 404 counts as success: an earlier attempt, or another client, has deleted it. */
export async function deleteFollowed(
  actual: ObservedConfigMap,
  { api, mutations }: FollowedWriteDeps,
): Promise<void> {
  const { key, uid, resourceVersion } = actual;
  await mutations.followDelete(actual, async () => {
    try {
      await api.delete(key, { uid, resourceVersion });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
}
