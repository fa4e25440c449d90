import { aborted } from '../../clock/clock.ts';
import type { Informer } from '../../informer/informer.ts';
import type { ObservedNamespace } from '../../mirror/observe/observed-namespace.ts';

/**
 * Starts the Namespace watch once something depends on namespaces. Until then it costs nothing
 * (SPEC W1).
 */
export class Namespaces {
  readonly informer: Informer<ObservedNamespace>;
  readonly #demand = new AbortController();
  #hasCaughtUp = false;

  constructor(informer: Informer<ObservedNamespace>) {
    this.informer = informer;
  }

  /** Starts the watch. Idempotent. */
  demand(): void {
    // Called for every event of a companion elsewhere, and each `abort` makes an exception.
    if (!this.#demand.signal.aborted) this.#demand.abort();
  }

  /** Whether something depends on namespaces, and not all of it has been queued with them known. */
  isPending(): boolean {
    return this.#demand.signal.aborted && !this.#hasCaughtUp;
  }

  /** Watches from the first demand until `signal` aborts. Calls `catchUp` when synced. */
  async run(signal: AbortSignal, catchUp: () => Promise<void> | void): Promise<void> {
    await aborted(AbortSignal.any([signal, this.#demand.signal]));
    if (signal.aborted) return;
    const running = this.informer.run(signal);
    await this.informer.whenSynced(signal);
    if (!signal.aborted) await catchUp();
    this.#hasCaughtUp = true;
    await running;
  }
}
