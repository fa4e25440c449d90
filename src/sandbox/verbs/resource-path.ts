import type { Kind, Subresource } from '../kinds/kinds.ts';
import type { Target } from '../storage/preconditions.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What a request is about: a collection, an object, or a part of an object. */
export interface ResourcePath {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  /** Absent for the collection. */
  readonly name: string | undefined;
  readonly subresource: Subresource;
}

export const targetOf = ({ kind, namespace, name = '' }: ResourcePath): Target => ({ kind, namespace, name });
