import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import { keyOf } from '../../kube/api/object-key.ts';
import type { NewConfigMap } from '../../kube/api/types.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Difference } from '../../mirror/companion/drift.ts';
import { healingPatch } from '../../mirror/companion/patch.ts';
import { type Content, mapsIn } from '../../mirror/observe/content.ts';
import { type ObservedConfigMap, observeWritten } from '../../mirror/observe/observed-config-map.ts';
import type { StringMap } from '../../mirror/vocabulary.ts';
import { RevertedError } from '../memory/failure.ts';
import type { MutationCache } from './mutation-cache.ts';

/** The three writes. The mutation cache remembers the result of each until the watch shows it. */
export interface FollowedWriteDeps {
  readonly api: ConfigMapApi;
  readonly mutations: MutationCache;
}

/**
 * `digest`: of the content in `body`.
 * @throws RevertedError if the server made it otherwise.
 */
export async function createFollowed(
  body: NewConfigMap,
  digest: string,
  { api, mutations }: FollowedWriteDeps,
): Promise<void> {
  const written = { digest, immutable: body.immutable === true, ...mapsIn(body) };
  const made = await mutations.follow(keyOf(body), async () =>
    observeWritten(await api.create(body), written),
  );
  const { labels, annotations } = body.metadata;
  if (!includes(made.labels, labels) || !includes(made.annotations, annotations)) throw new RevertedError();
}

/**
 * Resolves to the patched object. `loaded` is given if the content differs.
 * @throws RevertedError if the server accepted the patch but did not make the changes.
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
    // The version may be new all the same: the server sorts `managedFields` by time, so it is if
    // others have written since our last write.
    // https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/managedfields.go
    if (!differences.every((difference) => isSetIn(patched, difference))) throw new RevertedError();
    return patched;
  } catch (error) {
    if (isNotFound(error)) mutations.forget(key);
    throw error;
  }
}

/** Whether the server's answer has the label or annotation as we set it. */
function isSetIn({ labels, annotations }: ObservedConfigMap, difference: Difference): boolean {
  if (difference.kind === 'label') return labels[difference.key] === difference.value;
  return difference.kind !== 'annotation' || annotations[difference.key] === difference.value;
}

function includes(actual: StringMap, wanted: StringMap = {}): boolean {
  return Object.keys(wanted).every((key) => actual[key] === wanted[key]);
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
