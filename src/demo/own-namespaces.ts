import { type Clock, sleep } from '../clock/clock.ts';
import { callForDeletion, callForObject } from '../kube/api/call-for-object.ts';
import { readNamespace } from '../kube/api/read-namespace.ts';
import type { Namespace } from '../kube/api/types.ts';
import { ifFound } from '../kube/errors.ts';
import type { Transport } from '../kube/http/transport.ts';
import { type Command, request } from './commands.ts';
import { DemoError } from './player.ts';

/** How often (ms) to check whether the namespaces are gone. */
const POLL_MS = 200;
/** Time limit (ms) for that. A usual cluster needs 5 to 15 s. */
const REMOVAL_LIMIT_MS = 60_000;

/** The namespaces that the demo created in a real cluster. It uses and deletes only these. */
export class OwnNamespaces {
  readonly #transport: Transport;
  readonly #clock: Clock;
  /** Uid by name: a namespace that another user created under the same name is never deleted. */
  readonly #created = new Map<string, string>();

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /**
   * `kubectl`: how to call it for this cluster.
   * @throws DemoError when one of them exists, because it may be in use.
   */
  async refuseExisting(names: readonly string[], kubectl: string): Promise<void> {
    const uids = await Promise.all(names.map((name) => this.#uidOf(name)));
    const existing = names.filter((_, index) => uids[index] !== undefined);
    if (existing.length === 0) return;
    throw new DemoError(
      `the demo works only in namespaces that it creates itself; these exist already: ${existing.join(', ')}\n` +
        `If an earlier demo left them behind, run "${kubectl} delete namespace ${existing.join(' ')}"; else use another cluster.`,
    );
  }

  /** Sends the command, and remembers a namespace that it creates. */
  async send({ request: sent }: Command): Promise<void> {
    if (sent.method === 'DELETE') return callForDeletion(this.#transport, sent);
    const { kind, metadata } = await callForObject<Namespace & { kind: string }>(this.#transport, sent);
    if (sent.method === 'POST' && kind === 'Namespace') this.#created.set(metadata.name, metadata.uid);
  }

  /** Deletes what was created. Resolves to what is left when all is gone, or `signal` aborts. */
  async remove(signal: AbortSignal): Promise<readonly string[]> {
    let left = [...this.#created.keys()];
    const deletions = left.map((name) => {
      const body = { preconditions: { uid: this.#created.get(name) }, propagationPolicy: 'Background' };
      return this.#transport.call(request('DELETE', `/api/v1/namespaces/${name}`, body));
    });
    // Whatever goes wrong, what is left is found below.
    await Promise.allSettled(deletions);
    const end = this.#clock.now() + REMOVAL_LIMIT_MS;
    for (;;) {
      const present = await Promise.all(left.map((name) => this.#exists(name)));
      left = left.filter((_, index) => present[index]);
      if (left.length === 0 || signal.aborted || this.#clock.now() >= end) return left;
      await sleep(this.#clock, POLL_MS, signal);
    }
  }

  /** Of a server that does not answer for a moment, yes: the next poll asks again. */
  async #exists(name: string): Promise<boolean> {
    const uid = await this.#uidOf(name).catch(() => this.#created.get(name));
    return uid === this.#created.get(name);
  }

  async #uidOf(name: string): Promise<string | undefined> {
    return (await ifFound(readNamespace(this.#transport, name)))?.metadata.uid;
  }
}
