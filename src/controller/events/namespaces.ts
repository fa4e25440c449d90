import { aborted } from '../../clock/clock.ts';
import type { Informer } from '../../informer/informer.ts';
import type { Lister } from '../../informer/lister.ts';
import type { ObservedNamespace } from '../../mirror/observe/observed-namespace.ts';

/**
 * Starts the Namespace watch once a source targets namespaces: a cluster whose sources all stay at home pays nothing for
 * it (SPEC W1).
 */
export class Namespaces {
  readonly lister: Lister<ObservedNamespace>;
  readonly #informer: Informer<ObservedNamespace>;
  readonly #demand = new AbortController();

  constructor(informer: Informer<ObservedNamespace>) {
    this.#informer = informer;
    this.lister = informer.lister;
  }

  /** A source targets namespaces. Idempotent. */
  demand(): void {
    this.#demand.abort();
  }

  /** Whether the lister is complete. */
  isSynced(): boolean {
    return this.#informer.isSynced();
  }

  /** Whether they are demanded and the lister is not complete yet. */
  isPending(): boolean {
    return this.#demand.signal.aborted && !this.isSynced();
  }

  /** See {@link Informer.failures}. */
  failures(): number {
    return this.#informer.failures();
  }

  /** Watches, once there is a demand, until `signal` aborts. `onSynced` is called when the lister is complete. */
  async run(signal: AbortSignal, onSynced: () => void): Promise<void> {
    await aborted(AbortSignal.any([signal, this.#demand.signal]));
    if (signal.aborted) return;
    const running = this.#informer.run(signal);
    await this.#informer.whenSynced(signal);
    if (!signal.aborted) onSynced();
    await running;
  }
}
