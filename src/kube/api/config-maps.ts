import type { ApiRequest, Transport } from '../http/transport.ts';
import { callForDeletion, callForObject } from './call-for-object.ts';
import { type ObjectKey, splitKey } from './object-key.ts';
import type { ConfigMap, ConfigMapPatch, NewConfigMap, ObjectMeta } from './types.ts';

/**
 * Reads and writes of ConfigMaps. All of them reject with `ApiError` or `NetworkError`, at the
 * latest at the transport's time limit.
 */
export interface ConfigMapApi {
  get(key: ObjectKey): Promise<ConfigMap>;
  /** Resolves to the metadata of the new object. */
  create(body: NewConfigMap): Promise<ObjectMeta>;
  /** Resolves to the new metadata. */
  patch(key: ObjectKey, patch: ConfigMapPatch): Promise<ObjectMeta>;
  /** A conflict if a precondition does not hold. The garbage collector deletes the dependents. */
  delete(
    key: ObjectKey,
    preconditions: { readonly uid: string; readonly resourceVersion: string },
  ): Promise<void>;
}

/** Permission to write that can end, such as by losing a lease. */
export interface WriteFence {
  /** Asked synchronously right before a write is sent, and again if the transport repeats it. */
  mayWrite(): boolean;
  /** Aborts when the present permission ends; has aborted while there is none. */
  readonly term: AbortSignal;
}

/**
 * Media types that leave the data out of the answer to a write; a server without them sends all of
 * it. https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

const JSON_OBJECT = 'application/json';
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/**
 * Uses raw requests, not the client library's typed API. The library's models turn times into
 * `Date`s and copy maps by assignment, which loses `__proto__`, a legal key of a ConfigMap. They
 * also take 10 MiB of memory (docs/adr/0001).
 */
export function createConfigMapApi(
  transport: Transport,
  options: { readonly fieldManager: string; readonly fence?: WriteFence | undefined },
): ConfigMapApi {
  const { fence } = options;
  const mayBeSent = fence && (() => fence.mayWrite());
  const managed = `?fieldManager=${encodeURIComponent(options.fieldManager)}`;

  const writing = (method: ApiRequest['method'], path: string, contentType: string, body: object) => ({
    method,
    path,
    headers: { accept: METADATA_ONLY, 'content-type': contentType },
    body: JSON.stringify(body),
    mayBeSent,
    signal: fence?.term,
  });

  async function metadataAfter(request: ApiRequest): Promise<ObjectMeta> {
    const { metadata } = await callForObject<ConfigMap>(transport, request);
    return metadata;
  }

  return {
    get: (key) => callForObject<ConfigMap>(transport, { method: 'GET', path: pathOf(key) }),

    create: (body) => {
      const path = collectionOf(body.metadata.namespace) + managed;
      const object = { apiVersion: 'v1', kind: 'ConfigMap', ...body };
      return metadataAfter(writing('POST', path, JSON_OBJECT, object));
    },

    patch: (key, patch) =>
      metadataAfter(writing('PATCH', pathOf(key) + managed, STRATEGIC_MERGE_PATCH, patch)),

    delete: (key, preconditions) => {
      const options = { preconditions, propagationPolicy: 'Background' };
      return callForDeletion(transport, writing('DELETE', pathOf(key), JSON_OBJECT, options));
    },
  };
}

function collectionOf(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
}

function pathOf(key: ObjectKey): string {
  const { namespace, name } = splitKey(key);
  return `${collectionOf(namespace)}/${encodeURIComponent(name)}`;
}
