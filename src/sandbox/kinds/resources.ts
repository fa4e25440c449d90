/** The served kinds. */
import { configMapKind } from './kind-configmap.ts';
import { coreEventKind, eventsEventKind } from './kind-event.ts';
import { leaseKind } from './kind-lease.ts';
import { namespaceKind } from './kind-namespace.ts';
import { apiVersionOf, type Kind } from './kinds.ts';

export const kinds: readonly Kind[] = [
  configMapKind,
  coreEventKind,
  namespaceKind,
  leaseKind,
  eventsEventKind,
];

/** The kind that an owner reference names, if it is served. */
export function kindOf(apiVersion: string, kind: string): Kind | undefined {
  return kinds.find((candidate) => candidate.kind === kind && apiVersionOf(candidate) === apiVersion);
}

/** The kind in whose form a collection is stored: the first one listed for it. */
export function storedKindOf(collection: string): Kind | undefined {
  return kinds.find((candidate) => candidate.collection === collection);
}
