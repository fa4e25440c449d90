/** What a delete asks for, and when the server refuses or postpones it. */
import { type Kind, resourceName } from '../kinds/kinds.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { conflict, forbidden } from '../objects/status.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly dryRun: boolean;
  /** Undefined: as the object's own finalizers say, else Background. */
  readonly propagation: Propagation | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

const IMMORTAL_NAMESPACES = new Set(['default', 'kube-system', 'kube-public']);

/** Throws when `live` may not be deleted, or is not the object that the preconditions name. */
export function refuseDeletion(kind: Kind, live: KubeObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = live.metadata;
  const isNamespace = kind.collection === 'namespaces';
  if (isNamespace && IMMORTAL_NAMESPACES.has(name)) {
    throw forbidden(resourceName(kind), name, 'this namespace may not be deleted');
  }
  const checks = [
    ['UID', options.uid, uid, 'deleted and then recreated'],
    ['ResourceVersion', options.resourceVersion, resourceVersion, 'modified'],
  ] as const;
  for (const [what, wanted, actual, fate] of checks) {
    if (wanted === undefined || wanted === actual) continue;
    if (isNamespace) {
      // The real server deletes Namespaces in code of its own, with a message of its own.
      const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual}`;
      throw conflict(resourceName(kind), name, why);
    }
    throw conflict(
      { group: kind.group, name: kind.kind },
      name,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${actual}). The object might have been ${fate}`,
    );
  }
}

const POLICY_FINALIZERS = {
  Background: [],
  Orphan: ['orphan'],
  Foreground: ['foregroundDeletion'],
} as const;

/**
 * The object's finalizers once the deletion has set or removed those for its propagation policy.
 */
export function finalizersFor(
  live: KubeObject,
  { propagation }: DeleteOptions,
): readonly string[] | undefined {
  const present = live.metadata.finalizers;
  if (propagation === undefined) return present;
  const others = (present ?? []).filter((name) => name !== 'orphan' && name !== 'foregroundDeletion');
  const finalizers = [...others, ...POLICY_FINALIZERS[propagation]];
  return finalizers.length === 0 ? undefined : finalizers;
}

/** Whether finalizers, or the kind itself, keep a deleted object. */
export const isHeldBack = (kind: Kind, object: KubeObject): boolean =>
  (object.metadata.finalizers ?? []).length > 0 || kind.heldBack(object);
