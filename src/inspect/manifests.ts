import { loadAll } from 'js-yaml';
import { keyOf, type ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap, ObjectMeta } from '../kube/api/types.ts';
import { isObjectName } from '../mirror/request/object-name.ts';

/** A ConfigMap as a file has it: the server has not given it a uid yet. */
export type WrittenConfigMap = Omit<ConfigMap, 'metadata'> & {
  readonly metadata: Partial<ObjectMeta> & { readonly name: string; readonly namespace: string };
};

export interface WrittenNamespace {
  readonly metadata: Partial<ObjectMeta> & { readonly name: string };
}

/** What files say, that is not applied yet. Of two with one name, the last counts. */
export interface Manifests {
  readonly configMaps: ReadonlyMap<ObjectKey, WrittenConfigMap>;
  readonly namespaces: ReadonlyMap<string, WrittenNamespace>;
  /** Objects of other kinds, which change nothing: `Deployment/web`. */
  readonly passedOver: readonly string[];
}

export const NO_MANIFESTS: Manifests = { configMaps: new Map(), namespaces: new Map(), passedOver: [] };

/** The message says which file and object, and how to fix it. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

export interface ManifestFile {
  /** For messages: its path, or `stdin`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Reads YAML or JSON files with any number of documents and lists.
 * @param namespace for ConfigMaps that name none
 * @throws ManifestError
 */
export function readManifests(files: readonly ManifestFile[], namespace: string): Manifests {
  const configMaps = new Map<ObjectKey, WrittenConfigMap>();
  const namespaces = new Map<string, WrittenNamespace>();
  const passedOver: string[] = [];
  for (const file of files) {
    for (const object of objectsIn(file)) {
      const { kind, metadata } = object;
      if (kind === 'ConfigMap' && object.apiVersion === 'v1') {
        const configMap = configMapOf(object, file, namespace);
        configMaps.set(keyOf(configMap), configMap);
      } else if (kind === 'Namespace' && object.apiVersion === 'v1') {
        const namespace = metadataOf(object, file);
        namespaces.set(namespace.name, { metadata: namespace });
      } else {
        passedOver.push(`${kind}/${metadata?.name ?? '?'}`);
      }
    }
  }
  return { configMaps, namespaces, passedOver };
}

/** As far as it is looked at before it is checked. */
interface RawObject extends Omit<Partial<ConfigMap>, 'metadata'> {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata?: Partial<ObjectMeta>;
  readonly items?: unknown;
}

function* objectsIn(file: ManifestFile): Iterable<RawObject> {
  let documents: readonly unknown[];
  try {
    documents = loadAll(file.text);
  } catch (error) {
    const [line = ''] = String((error as Error).message).split('\n');
    throw new ManifestError(`${file.name} cannot be read as YAML or JSON: ${line}`);
  }
  for (const document of documents) {
    // As in a file that ends in `---`.
    if (document !== null && document !== undefined) yield* unpacked(document, file, undefined);
  }
}

/** A list as its items. Those of a ConfigMapList may leave out their kind. */
function* unpacked(value: unknown, file: ManifestFile, kind: string | undefined): Iterable<RawObject> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ManifestError(
      `${file.name}: a document is not a Kubernetes object, which begins with "apiVersion"`,
    );
  }
  const object = { ...(kind !== undefined && { apiVersion: 'v1', kind }), ...value } as Partial<RawObject>;
  if (typeof object.kind !== 'string') throw new ManifestError(`${file.name}: an object has no "kind"`);
  if (!object.kind.endsWith('List') || !Array.isArray(object.items)) {
    if (typeof object.apiVersion !== 'string') {
      throw new ManifestError(`${file.name}: a ${object.kind} has no "apiVersion"`);
    }
    yield object as RawObject;
    return;
  }
  const itemKind = object.kind === 'List' ? undefined : object.kind.slice(0, -'List'.length);
  for (const item of object.items) yield* unpacked(item, file, itemKind);
}

function configMapOf(object: RawObject, file: ManifestFile, namespace: string): WrittenConfigMap {
  const metadata = metadataOf(object, file);
  const { data, binaryData, immutable } = object;
  const where = `${file.name}: ConfigMap ${metadata.name}`;
  return {
    metadata: { ...metadata, namespace: object.metadata?.namespace ?? namespace },
    ...(data && { data: texts(data, `${where}: data`) }),
    ...(binaryData && { binaryData: texts(binaryData, `${where}: binaryData`) }),
    ...(immutable === true && { immutable }),
  };
}

function metadataOf(object: RawObject, file: ManifestFile): WrittenNamespace['metadata'] {
  const { name, labels, annotations, ownerReferences } = object.metadata ?? {};
  if (typeof name !== 'string' || name === '') {
    throw new ManifestError(`${file.name}: a ${object.kind} has no metadata.name`);
  }
  const where = `${file.name}: ${object.kind} ${name}`;
  if (!isObjectName(name)) {
    const fix = 'write lower-case letters, digits, "-" and "."';
    throw new ManifestError(`${where}: no object can have this name; ${fix}`);
  }
  return {
    name,
    ...(labels && { labels: texts(labels, `${where}: labels`) }),
    ...(annotations && { annotations: texts(annotations, `${where}: annotations`) }),
    ...(ownerReferences && { ownerReferences }),
  };
}

/** The API server refuses anything but texts, too. */
function texts(entries: object, where: string): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(entries)) {
    if (typeof value !== 'string') {
      throw new ManifestError(`${where}: the value of "${key}" is not a string; put it in quotes`);
    }
  }
  return entries as Readonly<Record<string, string>>;
}
