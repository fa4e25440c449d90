import { equal, type Json } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/kube-object.ts';

export interface Deduplicated {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

/**
 * The object with each owner reference once. The warning contains `when`, because the server checks
 * a patch only after admission (k8s.io/apiserver pkg/endpoints/handlers/create.go).
 */
export function dedupOwnerReferences(object: KubeObject, when = ''): Deduplicated {
  const owners = object.metadata.ownerReferences ?? [];
  const kept = owners.filter(
    (owner, i) =>
      owners.findIndex((other) => equal(other as unknown as Json, owner as unknown as Json)) === i,
  );
  const repeated = owners.filter((owner, i) => owners.findIndex(({ uid }) => uid === owner.uid) !== i);
  const uids = [...new Set(repeated.map(({ uid }) => uid))];
  if (uids.length === 0) return { object, warnings: [] };
  return {
    object: kept.length === owners.length ? object : withMeta(object, { ownerReferences: kept }),
    warnings: [
      `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`,
    ],
  };
}
