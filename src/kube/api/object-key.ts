import type { ObjectMeta } from './types.ts';

declare const brand: unique symbol;

/**
 * `namespace/name` of an object, or `name` if it is cluster-scoped, as client-go's
 * `MetaNamespaceKeyFunc` writes it. Neither part can contain a slash, so the text is unambiguous.
 */
export type ObjectKey = string & { readonly [brand]: 'ObjectKey' };

export function objectKey(namespace: string | undefined, name: string): ObjectKey {
  return (namespace ? `${namespace}/${name}` : name) as ObjectKey;
}

export function keyOf(object: { readonly metadata: Pick<ObjectMeta, 'namespace' | 'name'> }): ObjectKey {
  return objectKey(object.metadata.namespace, object.metadata.name);
}

/** The parts of a key; `namespace` is empty for a cluster-scoped object. */
export function splitKey(key: ObjectKey): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
}

/**
 * The key of a namespaced object in `text`; undefined if no object can have it. Asked for `../x`, a
 * kube-apiserver answers 500.
 */
export function parseKey(text: string): ObjectKey | undefined {
  return /^[a-z0-9][-a-z0-9]{0,62}\/[a-z0-9][-.a-z0-9]{0,252}$/.test(text) ? (text as ObjectKey) : undefined;
}
