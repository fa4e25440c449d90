import { Pool } from 'undici';
import type { ControlPlaneAddress } from '../../test/support/control-plane.ts';

export interface ConfigMapBody {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly resourceVersion?: string;
  };
  readonly data: Readonly<Record<string, string>>;
}

export interface ConfigMapList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ConfigMapBody[];
}

/** Requests in flight for preparations: near the API server's maximum rate. */
const IN_FLIGHT = 24;

/** The people whose changes the controllers follow. Raw requests keep its own cost low. */
export class Load implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;
  /** Our own writes of ConfigMaps: the API server's count beyond this is the controller's. */
  configMapWrites = 0;

  constructor({ url, ca, adminToken }: ControlPlaneAddress) {
    this.#pool = new Pool(url, { connections: 64, connect: { ca } });
    this.#headers = { authorization: `Bearer ${adminToken}`, accept: 'application/json' };
  }

  create(body: ConfigMapBody): Promise<unknown> {
    return this.#write('POST', collection(body.metadata.namespace), body);
  }

  /** Sets `data.version`. */
  edit(namespace: string, name: string, version: string): Promise<unknown> {
    return this.patch(namespace, name, { data: { version } });
  }

  /** A JSON merge patch. */
  patch(namespace: string, name: string, patch: object): Promise<unknown> {
    return this.#write('PATCH', `${collection(namespace)}/${name}`, patch);
  }

  delete(namespace: string, name: string): Promise<unknown> {
    return this.#write('DELETE', `${collection(namespace)}/${name}`);
  }

  async list(namespace: string, query = ''): Promise<ConfigMapList> {
    return JSON.parse(await this.call('GET', `${collection(namespace)}${query}`)) as ConfigMapList;
  }

  createNamespaces(names: readonly string[]): Promise<void> {
    return inFlight(IN_FLIGHT, names, (name) =>
      this.call('POST', '/api/v1/namespaces', { metadata: { name } }),
    );
  }

  createAll(bodies: Iterable<ConfigMapBody>): Promise<void> {
    return inFlight(IN_FLIGHT, bodies, (body) => this.create(body));
  }

  /** Resolves to the answer's body; rejects on every status but 2xx. */
  async call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<string> {
    const { statusCode, body: answer } = await this.#pool.request({
      method,
      path,
      headers: {
        ...this.#headers,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode >= 300)
      throw new Error(`${method} ${path} was answered ${statusCode}: ${text.slice(0, 300)}`);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }

  #write(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<string> {
    this.configMapWrites += 1;
    return this.call(method, path, body);
  }
}

/** Path of the ConfigMaps of a namespace, or of all when it is empty. */
export function collection(namespace: string): string {
  return namespace === '' ? '/api/v1/configmaps' : `/api/v1/namespaces/${namespace}/configmaps`;
}

/** Calls `work` for each item, at most `limit` at once; rejects with the first failure. */
export async function inFlight<T>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
