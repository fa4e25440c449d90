import { expect, test } from 'vitest';
import { RevertedError } from '../../../src/controller/memory/failure.ts';
import {
  createFollowed,
  type FollowedWriteDeps,
  patchFollowed,
} from '../../../src/controller/write/followed-writes.ts';
import { MutationCache } from '../../../src/controller/write/mutation-cache.ts';
import type { ConfigMap, ObjectMeta } from '../../../src/kube/api/types.ts';
import type { Difference } from '../../../src/mirror/companion/drift.ts';
import { companion, observed, source } from '../../mirror/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryApi } from '../memory-api.ts';

const there = companion(source('home/colors'), 'team-a/colors-synced');
const MANAGED_BY = 'app.kubernetes.io/managed-by';
const CHECKSUM = 'workshop.io/source-checksum';
const { [MANAGED_BY]: manager = '' } = there.metadata.labels ?? {};
const { [CHECKSUM]: checksum = '' } = there.metadata.annotations ?? {};

const create = (deps: FollowedWriteDeps) =>
  createFollowed({ ...there, metadata: { ...there.metadata, namespace: 'team-a' } }, 'digest', deps);
const heal = (difference: Difference) => (deps: FollowedWriteDeps) =>
  patchFollowed(observed(there), [difference], undefined, deps);
const healLabel = heal({ kind: 'label', key: MANAGED_BY, value: manager });
const healAnnotation = heal({ kind: 'annotation', key: CHECKSUM, value: checksum });

type Policy = Pick<ObjectMeta, 'labels' | 'annotations'>;

/** A server whose admission policy sets this. The version is new, whatever else has changed. */
class AlteringApi extends MemoryApi {
  readonly #policy: Policy;

  constructor(objects: readonly ConfigMap[], policy: Policy) {
    super(objects);
    this.#policy = policy;
  }

  override async create(...parameters: Parameters<MemoryApi['create']>): Promise<ObjectMeta> {
    return this.#altered(await super.create(...parameters));
  }

  override async patch(...parameters: Parameters<MemoryApi['patch']>): Promise<ObjectMeta> {
    return this.#altered(await super.patch(...parameters));
  }

  #altered({ labels, annotations, ...metadata }: ObjectMeta): ObjectMeta {
    return {
      ...metadata,
      labels: { ...labels, ...this.#policy.labels },
      annotations: { ...annotations, ...this.#policy.annotations },
    };
  }
}

const NO_POLICY: Policy = {};
const SETS_LABEL: Policy = { labels: { [MANAGED_BY]: 'platform' } };
const SETS_ANNOTATION: Policy = { annotations: { [CHECKSUM]: 'platform' } };

test.each([
  ['a create is made', create, [], NO_POLICY, undefined],
  ['a create whose label a policy alters is not', create, [], SETS_LABEL, RevertedError],
  ['a create whose annotation a policy alters is not', create, [], SETS_ANNOTATION, RevertedError],
  ['a heal of a label is made', healLabel, [there], NO_POLICY, undefined],
  ['a heal of an annotation is made', healAnnotation, [there], NO_POLICY, undefined],
  [
    'a heal of a label that a policy reverts, in a new version, is not',
    healLabel,
    [there],
    SETS_LABEL,
    RevertedError,
  ],
  [
    'a heal of an annotation that a policy reverts is not',
    healAnnotation,
    [there],
    SETS_ANNOTATION,
    RevertedError,
  ],
  ['a heal is made if a policy alters something else', healLabel, [there], SETS_ANNOTATION, undefined],
])('[R13] %s', async (_what, write, objects, policy, failure) => {
  const mutations = new MutationCache(new ManualClock(), () => undefined);
  const writing = write({ api: new AlteringApi(objects, policy), mutations });
  if (failure === undefined) await writing;
  else await expect(writing).rejects.toBeInstanceOf(failure);
  // What it is now is known all the same, so that its own watch event heals nothing.
  expect(mutations.newest(observed(there).key, undefined)).toMatchObject({
    labels: { [MANAGED_BY]: manager, ...policy.labels },
    annotations: { [CHECKSUM]: checksum, ...policy.annotations },
  });
});
