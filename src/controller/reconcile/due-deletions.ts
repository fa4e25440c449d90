import type { Clock } from '../../clock/clock.ts';
import type { DueDeletions } from '../../mirror/plan/view.ts';

/** A search counts for so many times as long as it took: so it takes 5 % of the time at most. */
const LIFETIME = 20;

/**
 * Remembers what is due for the sources of one namespace, the last one that was asked for. A search
 * looks at every companion, and of 1,000 sources each may have one to delete. What is remembered may
 * lack what has become due since; the plan that asks adds its own.
 */
export class RememberedSearch {
  readonly #clock: Clock;
  #last: { readonly namespace: string; readonly until: number; readonly found: DueDeletions } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  in(namespace: string, search: () => DueDeletions): DueDeletions {
    const begunAt = this.#clock.now();
    if (this.#last?.namespace === namespace && begunAt < this.#last.until) return this.#last.found;
    const found = search();
    const endedAt = this.#clock.now();
    this.#last = { namespace, until: endedAt + LIFETIME * (endedAt - begunAt), found };
    return found;
  }
}
