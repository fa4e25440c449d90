import { aborted } from '../clock/clock.ts';
import type { Informer } from '../informer/informer.ts';
import type { Lister } from '../informer/lister.ts';
import type { ObservedNamespace } from '../mirror/observe/observed-namespace.ts';

/**
 * The namespaces, watched from the moment on that a source first targets any: a cluster whose sources all stay at
 * home pays nothing for them (SPEC W1).
 */
export class Namespaces {
  readonly lister: Lister<ObservedNamespace>;
  readonly #informer: Informer<ObservedNamespace>;
  readonly #demand = new AbortController();

  constructor(informer: Informer<ObservedNamespace>) {
    this.#informer = informer;
    this.lister = informer.lister;
  }

  /** Says that a source targets namespaces. Idempotent. */
  demand(): void {
    this.#demand.abort();
  }

  /** Whether the lister holds them. */
  areKnown(): boolean {
    return this.#informer.hasSynced();
  }

  /** Whether they are asked for and not known yet. */
  arePending(): boolean {
    return this.#demand.signal.aborted && !this.areKnown();
  }

  /** {@link Informer.failures} of them. */
  failures(): number {
    return this.#informer.failures();
  }

  /** Watches, once there is a demand, until `signal` aborts. `onKnown` is called when the lister holds them. */
  async run(signal: AbortSignal, onKnown: () => void): Promise<void> {
    await aborted(AbortSignal.any([signal, this.#demand.signal]));
    if (signal.aborted) return;
    const running = this.#informer.run(signal);
    await this.#informer.whenSynced(signal);
    if (!signal.aborted) onKnown();
    await running;
  }
}
