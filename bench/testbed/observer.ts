import { Client } from 'undici';
import type { ControlPlaneAddress } from '../../test/support/control-plane.ts';
import { type ConfigMapBody, collection, type Load } from './load.ts';
import { COMPANIONS } from './sources.ts';

export interface Seen {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Without its data when the observer sees only metadata. */
  readonly object: ConfigMapBody;
}

export interface ObserverOptions {
  /** Default: all. */
  readonly namespace?: string;
  /** Bodies too. Default: only metadata, which keeps the observer cheap in bulk. */
  readonly data?: boolean;
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
/** Time without a matching event (ms) after which no more are expected. */
const DEADLINE_MS = 120_000;

/** Sees companions as a user would, through its own watch. Times are `performance.now()`. */
export class Observer implements Disposable {
  readonly #listeners = new Set<(seen: Seen, at: number) => void>();
  readonly #client: Client;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** Of the last event seen. */
  #resourceVersion: string;

  private constructor(address: ControlPlaneAddress, options: ObserverOptions, resourceVersion: string) {
    const { namespace = '', data = false } = options;
    this.#client = new Client(address.url, { connect: { ca: address.ca }, bodyTimeout: 0 });
    this.#path = `${collection(namespace)}?watch=true&labelSelector=${COMPANIONS}`;
    this.#headers = {
      authorization: `Bearer ${address.adminToken}`,
      accept: data ? 'application/json' : METADATA,
    };
    this.#resourceVersion = resourceVersion;
  }

  /** Resolves when the watch is open: it sees everything from then on. */
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

  /**
   * When each of `count` different companions was first seen in a matching event, in that order.
   * Rejects when none comes for 2 minutes.
   */
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
        deadline.refresh();
        if (times.size === count) end(() => resolve(times));
      };
      const giveUp = () =>
        reject(new Error(`saw ${times.size} of ${count} companions, then none for 2 minutes`));
      const deadline = setTimeout(() => end(giveUp), DEADLINE_MS);
      this.#listeners.add(look);
    });
  }

  /** Milliseconds from the start of `change` to the first matching event. */
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
    let incomplete = '';
    body.setEncoding('utf8').on('data', (chunk: string) => {
      const at = performance.now();
      const lines = (incomplete + chunk).split('\n');
      incomplete = lines.pop() ?? '';
      for (const line of lines) this.#publish(JSON.parse(line) as Seen, at);
    });
    // The API server closes a watch that cannot keep up on a busy machine.
    body.on('end', () => void this.#watch());
    // The error of disposing of the client.
    body.on('error', () => undefined);
  }

  #publish(seen: Seen, at: number): void {
    this.#resourceVersion = seen.object.metadata.resourceVersion ?? this.#resourceVersion;
    for (const listener of this.#listeners) listener(seen, at);
  }
}
