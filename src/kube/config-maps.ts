import { CoreV1Api, type HttpInfo } from '@kubernetes/client-node';
import { NetworkError } from './errors.ts';
import { type ObjectKey, splitKey } from './object-key.ts';
import type { Transport } from './transport.ts';
import { typedApiConfiguration, wireText } from './typed-api.ts';
import type { ConfigMap, ObjectMeta, OwnerReference } from './types.ts';

/** A ConfigMap to be created. */
export interface NewConfigMap {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly OwnerReference[];
  };
  readonly data?: Readonly<Record<string, string>>;
  /** Values are base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };
export type JsonPatch = readonly JsonPatchOperation[];

/** Reads and writes of ConfigMaps. All of them reject with `ApiError` or `NetworkError`, within the transport's time limit. */
export interface ConfigMapApi {
  get(key: ObjectKey): Promise<ConfigMap>;
  /** Resolves to the metadata that the server gave it. */
  create(body: NewConfigMap): Promise<ObjectMeta>;
  /** Resolves to the metadata after the patch. */
  patch(key: ObjectKey, patch: JsonPatch): Promise<ObjectMeta>;
  /** A precondition that does not hold is a conflict. Dependents are left to the garbage collector. */
  delete(
    key: ObjectKey,
    preconditions: { readonly uid: string; readonly resourceVersion: string },
  ): Promise<void>;
}

/**
 * The answer to a write without the data that we have just sent
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches); a server that cannot leave it
 * out sends all.
 */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/**
 * On the typed API, but with the JSON as it is on the wire on both sides: the generated models turn times into `Date`s,
 * and copy maps by assignment, which loses the key `__proto__`, a legal key of a ConfigMap.
 */
export function createConfigMapApi(
  transport: Transport,
  options: { readonly fieldManager: string },
): ConfigMapApi {
  const { fieldManager } = options;
  const core = new CoreV1Api(typedApiConfiguration(transport, { wireReply: true }));
  const metadataOnly = typedApiConfiguration(transport, { accept: METADATA_ONLY, wireReply: true });

  return {
    get: (key) => wireOf<ConfigMap>(core.readNamespacedConfigMapWithHttpInfo(splitKey(key)), transport),

    create: async (body) => {
      const wire = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...body });
      const { metadata } = await wireOf<ConfigMap>(
        core.createNamespacedConfigMapWithHttpInfo(
          { namespace: body.metadata.namespace, body: {}, fieldManager },
          typedApiConfiguration(transport, { accept: METADATA_ONLY, wireReply: true, body: wire }),
        ),
        transport,
      );
      return metadata;
    },

    patch: async (key, patch) => {
      const { metadata } = await wireOf<ConfigMap>(
        core.patchNamespacedConfigMapWithHttpInfo(
          { ...splitKey(key), body: patch, fieldManager },
          metadataOnly,
        ),
        transport,
      );
      return metadata;
    },

    delete: async (key, preconditions) => {
      await wireOf(
        core.deleteNamespacedConfigMapWithHttpInfo(
          { ...splitKey(key), body: { preconditions, propagationPolicy: 'Background' } },
          metadataOnly,
        ),
        transport,
      );
    },
  };
}

/** The JSON of an answer as it came. */
async function wireOf<T>(call: Promise<HttpInfo<unknown>>, transport: Transport): Promise<T> {
  try {
    return JSON.parse(wireText(await call)) as T;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new NetworkError(`${transport.server} answered with broken JSON: is it an API server?`, {
      code: 'MALFORMED',
    });
  }
}
