import { type Clock, sleep } from '../clock/clock.ts';
import type { Namespace } from '../kube/api/types.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Transport } from '../kube/http/transport.ts';
import type { Command } from './command.ts';
import { DemoError } from './demo-error.ts';

const POLL_MS = 200;
/** A cluster of the usual kind needs 5 to 15 s. */
const REMOVAL_DEADLINE_MS = 60_000;

/** The namespaces that the demo made in somebody's cluster. It works in these only, and takes away these only. */
export class OwnNamespaces {
  readonly #transport: Transport;
  readonly #clock: Clock;
  /** Uid by name: so that a namespace of the same name that is not ours is never deleted. */
  readonly #created = new Map<string, string>();

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** @throws DemoError when one of them exists: it might be anybody's. Else what the API throws. */
  async refuseExisting(names: readonly string[]): Promise<void> {
    const found = await Promise.all(names.map(async (name) => ((await this.#uid(name)) ? [name] : [])));
    const existing = found.flat();
    if (existing.length === 0) return;
    const one = existing.length === 1;
    throw new DemoError(
      `the demo works only in namespaces that it makes itself, and ${existing.join(', ')} ${one ? 'exists' : 'exist'} already; ` +
        `if ${one ? 'it is' : 'they are'} left from an earlier demo, delete ${one ? 'it' : 'them'} ` +
        `(kubectl delete namespace ${existing.join(' ')}), else choose another cluster`,
    );
  }

  /** Does what the command says, and takes note of a namespace that it creates. */
  async send({ request }: Command): Promise<void> {
    const { body } = await this.#transport.call(request);
    if (request.method !== 'POST' || request.path !== '/api/v1/namespaces') return;
    const { metadata } = JSON.parse(body) as Namespace;
    this.#created.set(metadata.name, metadata.uid);
  }

  /**
   * Deletes what was created, and waits until it is gone, unless `signal` aborts. Never rejects. Resolves to the names
   * of those whose deletion goes on, and of those that could not be deleted.
   */
  async remove(
    signal: AbortSignal,
  ): Promise<{ readonly going: readonly string[]; readonly staying: readonly string[] }> {
    const deadline = this.#clock.now() + REMOVAL_DEADLINE_MS;
    const [going, staying]: [string[], string[]] = [[], []];
    const remove = async (name: string, uid: string) => {
      if (!(await this.#isDeleted(name, uid))) staying.push(name);
      else if (!(await this.#isGone(name, uid, deadline, signal))) going.push(name);
    };
    await Promise.all(Array.from(this.#created, ([name, uid]) => remove(name, uid)));
    return { going, staying };
  }

  /** Asks for the deletion; whether the server has agreed. */
  async #isDeleted(name: string, uid: string): Promise<boolean> {
    try {
      await this.#transport.call({
        method: 'DELETE',
        path: `/api/v1/namespaces/${name}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ preconditions: { uid }, propagationPolicy: 'Background' }),
      });
      return true;
    } catch (error) {
      return isNotFound(error);
    }
  }

  async #isGone(name: string, uid: string, deadline: number, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        if ((await this.#uid(name)) !== uid) return true;
      } catch {
        // The server is away for a moment: asked again below.
      }
      if (signal.aborted || this.#clock.now() >= deadline) return false;
      await sleep(this.#clock, POLL_MS, signal);
    }
  }

  async #uid(name: string): Promise<string | undefined> {
    try {
      const { body } = await this.#transport.call({ method: 'GET', path: `/api/v1/namespaces/${name}` });
      return (JSON.parse(body) as Namespace).metadata.uid;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
