import type { ConfigMap, Namespace, ObjectMeta, OwnerReference } from '../../src/kube/api/types.ts';
import { digestOf } from '../../src/mirror/observe/digest.ts';
import { type ObservedConfigMap, observe } from '../../src/mirror/observe/observed-config-map.ts';
import { type ObservedNamespace, observeNamespace } from '../../src/mirror/observe/observed-namespace.ts';
import { type StringMap, vocabularyOf } from '../../src/mirror/vocabulary.ts';

/** Objects as they are on the wire, written as short as a test can say them. */

export const vocabulary = vocabularyOf('workshop.io');

export interface ConfigMapParts {
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
  readonly owners?: readonly OwnerReference[];
  /** Default: `uid of <key>`. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly createdAt?: string;
  readonly deleting?: boolean;
  readonly finalizers?: readonly string[];
}

/** A ConfigMap at `namespace/name`. What is empty is absent, as the API server has it. */
export function configMap(key: string, parts: ConfigMapParts = {}): ConfigMap {
  const [namespace = '', name = ''] = key.split('/');
  const metadata: ObjectMeta = {
    namespace,
    name,
    uid: parts.uid ?? `uid of ${key}`,
    resourceVersion: parts.resourceVersion ?? '1',
    creationTimestamp: parts.createdAt ?? '2026-01-01T00:00:00Z',
    ...(parts.deleting && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    ...(hasEntries(parts.labels) && { labels: parts.labels }),
    ...(hasEntries(parts.annotations) && { annotations: parts.annotations }),
    ...(parts.owners?.length && { ownerReferences: parts.owners }),
    ...(parts.finalizers && { finalizers: parts.finalizers }),
  };
  return {
    metadata,
    ...(hasEntries(parts.data) && { data: parts.data }),
    ...(hasEntries(parts.binaryData) && { binaryData: parts.binaryData }),
    ...(parts.immutable !== undefined && { immutable: parts.immutable }),
  };
}

function hasEntries(map: StringMap | undefined): map is StringMap {
  return map !== undefined && Object.keys(map).length > 0;
}

/**
 * A ConfigMap with the label that makes it a source; `asks` are annotations without the domain
 * before them.
 */
export function source(key: string, asks: StringMap = {}, parts: ConfigMapParts = {}): ConfigMap {
  const asked = Object.entries(asks).map(([ask, value]) => [`workshop.io/${ask}`, value]);
  return configMap(key, {
    data: { colour: 'red' },
    ...parts,
    labels: { 'workshop.io/managed': 'true', ...parts.labels },
    annotations: { ...Object.fromEntries(asked), ...parts.annotations },
  });
}

export function controllerReference(owner: ConfigMap): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true };
}

/** The marks of a companion (SPEC, the annotation table), of one that is settled. */
export function marksOf(of: ConfigMap, key: string): { labels: StringMap; annotations: StringMap } {
  const { namespace, name, uid } = of.metadata;
  return {
    labels: { 'workshop.io/managed': 'companion', 'app.kubernetes.io/managed-by': 'mirror-controller' },
    annotations: {
      'workshop.io/source': `${namespace}/${name}`,
      'workshop.io/source-uid': uid,
      'workshop.io/source-checksum': digestOf({ data: of.data ?? {}, binaryData: of.binaryData ?? {} }),
      'workshop.io/companion': key,
    },
  };
}

/**
 * A companion as a source that asks for nothing special should have it, at `key`; `parts` are
 * further labels, annotations and so on, and replace what they name.
 */
export function companion(of: ConfigMap, key: string, parts: ConfigMapParts = {}): ConfigMap {
  const marks = marksOf(of, key);
  const isBeside = key.split('/')[0] === of.metadata.namespace;
  return configMap(key, {
    data: of.data ?? {},
    binaryData: of.binaryData ?? {},
    owners: isBeside ? [controllerReference(of)] : [],
    ...parts,
    labels: { ...marks.labels, ...parts.labels },
    annotations: { ...marks.annotations, ...parts.annotations },
  });
}

/** A map without some of its keys. */
export function without(map: StringMap | undefined, ...keys: readonly string[]): StringMap {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !keys.includes(key)));
}

/** The same object without some of its labels and annotations: somebody has stripped them. */
export function stripped(object: ConfigMap, ...keys: readonly string[]): ConfigMap {
  const { labels, annotations, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: without(labels, ...keys),
      annotations: without(annotations, ...keys),
    },
  };
}

export interface NamespaceParts {
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  /** The value of `accept-mirrors-from`. */
  readonly accepts?: string;
  readonly terminating?: boolean;
}

export function namespace(name: string, parts: NamespaceParts = {}): Namespace {
  return {
    metadata: {
      name,
      uid: `uid of ${name}`,
      resourceVersion: '1',
      labels: { 'kubernetes.io/metadata.name': name, ...parts.labels },
      ...((parts.accepts !== undefined || parts.annotations) && {
        annotations: {
          ...parts.annotations,
          ...(parts.accepts !== undefined && { 'workshop.io/accept-mirrors-from': parts.accepts }),
        },
      }),
      ...(parts.terminating && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    },
    status: { phase: parts.terminating ? 'Terminating' : 'Active' },
  };
}

export function observed(object: ConfigMap): ObservedConfigMap {
  return observe(object, vocabulary);
}

/** A Namespace that the controller may not read (SPEC P2), as the poll reports it. */
export function unreadableNamespace(name: string): ObservedNamespace {
  const metadata = { name, uid: '', resourceVersion: 'unreadable' };
  return observeNamespace({ metadata, unreadable: true }, vocabulary);
}

export function observedNamespace(name: string, parts: NamespaceParts = {}): ObservedNamespace {
  return observeNamespace(namespace(name, parts), vocabulary);
}
