import type { Clock } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Noticed, Reconciled, Written } from '../memory/happening.ts';

/** Changes of a source that have not reached all of its companions. */
interface Change {
  readonly cause: Noticed['cause'];
  /** When the first one was noticed, on the clock. */
  readonly since: number;
  /** When the last one was; a pass that began before has not seen it. */
  latest: number;
  /** When a write for it was last answered; undefined: none was. */
  writtenAt: number | undefined;
}

/**
 * Measures the time from the watch event of a change to the answer to its last companion's write.
 * Several changes that one pass handles are measured once, from the first of them.
 */
export class Propagation {
  readonly #clock: Clock;
  readonly #measured: (cause: Noticed['cause'], seconds: number) => void;
  readonly #changes = new Map<ObjectKey, Change>();

  constructor(clock: Clock, measured: (cause: Noticed['cause'], seconds: number) => void) {
    this.#clock = clock;
    this.#measured = measured;
  }

  noticed({ source, cause }: Noticed): void {
    const now = this.#clock.now();
    const change = this.#changes.get(source);
    if (change !== undefined) change.latest = now;
    else this.#changes.set(source, { cause, since: now, latest: now, writtenAt: undefined });
  }

  /** Another process writes the source's companions. */
  forget(source: ObjectKey): void {
    this.#changes.delete(source);
  }

  written({ source, result }: Written): void {
    const change = this.#changes.get(source);
    if (change !== undefined && result === 'ok') change.writtenAt = this.#clock.now();
  }

  /** A pass has ended. If it has left writes to do, another pass follows. */
  reconciled({ source, result, durationMs, companions }: Reconciled): void {
    const change = this.#changes.get(source);
    if (change === undefined) return;
    const { cause, since, latest, writtenAt } = change;
    if (result === 'failed' || result === 'stale') return;
    if ((companions.missing ?? companions.drifted ?? companions.unwanted) !== undefined) return;
    const begunAt = this.#clock.now() - durationMs;
    if (latest <= begunAt) this.#changes.delete(source);
    else this.#changes.set(source, { cause, since: latest, latest, writtenAt: undefined });
    if (writtenAt !== undefined) this.#measured(cause, (writtenAt - since) / 1000);
  }
}
