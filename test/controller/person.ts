import { systemClock } from '../../src/clock/clock.ts';
import type { ConfigMap, Namespace, ObjectMeta } from '../../src/kube/api/types.ts';
import type { Cluster } from '../../src/kube/config/cluster.ts';
import { isConflict, isNotFound } from '../../src/kube/errors.ts';
import { createTransport } from '../../src/kube/http/pooled-transport.ts';
import type { Transport } from '../../src/kube/http/transport.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';

/** A ConfigMap as somebody writes it. */
export interface WrittenConfigMap {
  readonly metadata: Partial<ObjectMeta> & Pick<ObjectMeta, 'name' | 'namespace'>;
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
}

/** https://www.rfc-editor.org/rfc/rfc7386 */
type MergePatch = object;

/** Somebody else in the cluster: a client of its own, with its own user agent. */
export class Person implements AsyncDisposable {
  readonly #transport: Transport;
  readonly #stop = new AbortController();

  constructor(cluster: Cluster, userAgent = 'somebody/1') {
    this.#transport = createTransport(cluster, { clock: systemClock, userAgent, signal: this.#stop.signal });
  }

  /** Undefined when there is none. `key` is `namespace/name`. */
  configMap(key: string): Promise<ConfigMap | undefined> {
    return this.get<ConfigMap>(pathOf(key));
  }

  async configMaps(namespace: string, labelSelector = ''): Promise<readonly ConfigMap[]> {
    const query = labelSelector === '' ? '' : `?labelSelector=${encodeURIComponent(labelSelector)}`;
    const list = await this.get<{ readonly items: ConfigMap[] }>(
      `/api/v1/namespaces/${namespace}/configmaps${query}`,
    );
    return list?.items ?? [];
  }

  create(configMap: WrittenConfigMap): Promise<ConfigMap> {
    const { namespace } = configMap.metadata;
    return this.post(`/api/v1/namespaces/${namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...configMap,
    });
  }

  /** A JSON merge patch. */
  patch(key: string, patch: MergePatch, fieldManager = 'somebody'): Promise<ConfigMap> {
    return this.#send('PATCH', `${pathOf(key)}?fieldManager=${fieldManager}`, patch);
  }

  /** Replaces the object by `change(object)`, even if somebody else writes meanwhile. */
  async edit(key: string, change: (configMap: ConfigMap) => object): Promise<ConfigMap> {
    for (;;) {
      const seen = await this.configMap(key);
      if (seen === undefined) throw new Error(`there is no ${key} to edit`);
      try {
        return await this.#send('PUT', pathOf(key), change(seen));
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  /** A 404 counts as success. */
  delete(key: string): Promise<void> {
    return this.remove(pathOf(key));
  }

  namespace(name: string): Promise<Namespace | undefined> {
    return this.get<Namespace>(`/api/v1/namespaces/${name}`);
  }

  createNamespace(name: string, metadata: Partial<ObjectMeta> = {}): Promise<Namespace> {
    return this.post('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, ...metadata },
    });
  }

  patchNamespace(name: string, patch: MergePatch): Promise<Namespace> {
    return this.#send('PATCH', `/api/v1/namespaces/${name}`, patch);
  }

  /** Begins the deletion; {@link Person.namespace} shows when it is gone. */
  deleteNamespace(name: string): Promise<void> {
    return this.remove(`/api/v1/namespaces/${name}`);
  }

  async get<T>(path: string): Promise<T | undefined> {
    try {
      return await this.#send<T>('GET', path);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.#send('POST', path, body);
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.#send('PUT', path, body);
  }

  /** A 404 counts as success. */
  async remove(path: string): Promise<void> {
    try {
      await this.#send('DELETE', path);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#transport.close();
  }

  async #send<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<T> {
    const text = await this.#transport.call({
      method,
      path,
      ...(body !== undefined && {
        headers: {
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        },
        body: JSON.stringify(body),
      }),
    });
    return JSON.parse(text) as T;
  }
}

function pathOf(key: string): string {
  const [namespace, name] = key.split('/');
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}
