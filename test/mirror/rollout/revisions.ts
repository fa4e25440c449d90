import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { type ObservedConfigMap, observe } from '../../../src/mirror/observe/observed-config-map.ts';
import type { CanaryStage } from '../../../src/mirror/observe/revision.ts';
import { newRevision } from '../../../src/mirror/rollout/revision-step.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { observed, vocabulary } from '../wire.ts';

interface RevisionParts {
  readonly order: number;
  readonly stage?: CanaryStage | undefined;
}

/** A revision of a content of a source, as the watch shows it. */
export function revision(source: ConfigMap, data: StringMap, parts: RevisionParts): ObservedConfigMap {
  return observe(revisionObject(source, data, parts), vocabulary);
}

/** The same as the API server has it. */
export function revisionObject(
  source: ConfigMap,
  data: StringMap,
  { order, stage }: RevisionParts,
): ConfigMap {
  const { digest } = observe({ ...source, data }, vocabulary);
  const written = newRevision(
    { ...observed(source), digest },
    { order, stage },
    { data, binaryData: {} },
    vocabulary,
  );
  const server = { uid: `uid of ${written.metadata.name}`, resourceVersion: '1' };
  return { ...written, metadata: { ...written.metadata, ...server } };
}
