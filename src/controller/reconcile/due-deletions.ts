import type { Clock } from '../../clock/clock.ts';
import type { DueDeletions } from '../../mirror/plan/view.ts';

/** A search stays valid for this many times its duration, so it takes 5 % of the time at most. */
const LIFETIME = 20;

/**
 * Remembers the deletions due for the sources of each namespace. A search looks at every companion,
 * and each of 1,000 sources may have one to delete. What becomes due after a search is remembered
 * as soon as a plan finds it.
 */
export class RememberedSearch {
  readonly #clock: Clock;
  readonly #found = new Map<string, { readonly until: number; readonly found: DueDeletions }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `own`: uids of what the plan that asks would delete. */
  in(namespace: string, own: readonly string[], search: () => DueDeletions): DueDeletions {
    const begunAt = this.#clock.now();
    this.#forgetOld(begunAt);
    const last = this.#found.get(namespace);
    const found = withOwn(last?.found ?? search(), own);
    const endedAt = this.#clock.now();
    const until = last?.until ?? endedAt + LIFETIME * (endedAt - begunAt);
    this.#found.set(namespace, { until, found });
    return found;
  }

  #forgetOld(now: number): void {
    for (const [namespace, { until }] of this.#found) if (now >= until) this.#found.delete(namespace);
  }
}

function withOwn(found: DueDeletions, own: readonly string[]): DueDeletions {
  return own.length === 0 ? found : { ...found, due: [...new Set([...found.due, ...own])] };
}
