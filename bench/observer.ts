import { Client } from 'undici';
import { LineSplitter } from '../src/kube/api/json-lines.ts';
import type { ControlPlaneAddress } from '../test/support/control-plane.ts';
import { type ConfigMapBody, collection, type Load } from './load.ts';
import { DOMAIN } from './sources.ts';

export interface Seen {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Without its data where the observer sees metadata only. */
  readonly object: ConfigMapBody;
}

export interface ObserverOptions {
  /** Default: all. */
  readonly namespace?: string;
  /** Bodies too; default metadata only, which keeps the observer's own cost low when there is much to see. */
  readonly data?: boolean;
  /** Of the companions' labels; default {@link DOMAIN}. */
  readonly domain?: string;
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
/** Nothing that is measured takes so long; a companion that is still missing never comes. */
const DEADLINE_MS = 120_000;

/** Sees companions as a user would, by a watch of its own, and notes when. Times are `performance.now()`. */
export class Observer implements Disposable {
  readonly #listeners = new Set<(seen: Seen, at: number) => void>();
  readonly #client: Client;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** Up to which everything was seen. */
  #resourceVersion: string;

  private constructor(address: ControlPlaneAddress, options: ObserverOptions, resourceVersion: string) {
    const { namespace = '', data = false, domain = DOMAIN } = options;
    this.#client = new Client(address.url, { connect: { ca: address.ca }, bodyTimeout: 0 });
    const companions = encodeURIComponent(`${domain}/managed=companion`);
    this.#path = `${collection(namespace)}?watch=true&labelSelector=${companions}`;
    this.#headers = {
      authorization: `Bearer ${address.adminToken}`,
      accept: data ? 'application/json' : METADATA,
    };
    this.#resourceVersion = resourceVersion;
  }

  /** Resolves when the watch is open: what happens from then on is seen. */
  static async open(
    address: ControlPlaneAddress,
    load: Load,
    options: ObserverOptions = {},
  ): Promise<Observer> {
    const { metadata } = await load.list(options.namespace ?? '', '?limit=1');
    const observer = new Observer(address, options, metadata.resourceVersion);
    await observer.#watch();
    return observer;
  }

  /** When each of `count` different companions was first seen in an event that matches, in that order. Rejects after 2 minutes. */
  collect(count: number, matches: (seen: Seen) => boolean): Promise<ReadonlyMap<string, number>> {
    const times = new Map<string, number>();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(deadline);
        this.#listeners.delete(look);
        settle();
      };
      const look = (seen: Seen, at: number) => {
        const { namespace, name } = seen.object.metadata;
        const key = `${namespace}/${name}`;
        if (times.has(key) || !matches(seen)) return;
        times.set(key, at);
        if (times.size === count) end(() => resolve(times));
      };
      const give = () => reject(new Error(`only ${times.size} of ${count} companions came within 2 minutes`));
      const deadline = setTimeout(() => end(give), DEADLINE_MS);
      this.#listeners.add(look);
    });
  }

  /** Milliseconds from the start of `change` until the first event that matches. */
  async latency(change: () => Promise<unknown>, matches: (seen: Seen) => boolean): Promise<number> {
    const seen = this.collect(1, matches);
    const start = performance.now();
    const [times] = await Promise.all([seen, change()]);
    return ([...times.values()][0] ?? Number.NaN) - start;
  }

  [Symbol.dispose](): void {
    void this.#client.destroy();
  }

  async #watch(): Promise<void> {
    const { body } = await this.#client.request({
      method: 'GET',
      path: `${this.#path}&resourceVersion=${this.#resourceVersion}`,
      headers: this.#headers,
    });
    const lines = new LineSplitter();
    body.on('data', (chunk: Buffer) => {
      const at = performance.now();
      for (const line of lines.push(chunk)) this.#tell(JSON.parse(line) as Seen, at);
    });
    // The API server closes a watch that cannot keep up on a busy machine.
    body.on('end', () => void this.#watch());
    // It ends when the client is destroyed.
    body.on('error', () => undefined);
  }

  #tell(seen: Seen, at: number): void {
    this.#resourceVersion = seen.object.metadata.resourceVersion ?? this.#resourceVersion;
    for (const listener of this.#listeners) listener(seen, at);
  }
}
