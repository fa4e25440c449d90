/** The table of what is served. */
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

/** The kind that an owner reference names; undefined when it is not served here. */
export function kindOf(apiVersion: string, kind: string): Kind | undefined {
  return kinds.find((candidate) => candidate.kind === kind && apiVersionOf(candidate) === apiVersion);
}

/** The kind in whose form a collection's objects are stored: the first that is listed for it. */
export function storedKindOf(collection: string): Kind | undefined {
  return kinds.find((candidate) => candidate.collection === collection);
}
