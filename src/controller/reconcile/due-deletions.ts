import type { Clock } from '../../clock/clock.ts';
import type { DueDeletions } from '../../mirror/plan/view.ts';

/** A search stays valid for this many times its duration, so it takes 5 % of the time at most. */
const LIFETIME = 20;

interface Found {
  readonly due: DueDeletions & { readonly counted: Set<string> };
  /** When to search again, on the clock. */
  readonly until: number;
}

/**
 * Remembers the deletions due for the sources of each namespace. A search looks at every companion,
 * and each of 10,000 sources may have one to delete: a plan only adds its own to what is counted.
 */
export class RememberedSearch {
  readonly #clock: Clock;
  readonly #found = new Map<string, Found>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `own`: uids of what the plan that asks would delete. */
  in(namespace: string, own: readonly string[], search: () => DueDeletions): DueDeletions {
    const begunAt = this.#clock.now();
    this.#forgetOld(begunAt);
    const { due } = this.#found.get(namespace) ?? this.#search(namespace, begunAt, search);
    for (const uid of own) due.counted.add(uid);
    return due;
  }

  #search(namespace: string, begunAt: number, search: () => DueDeletions): Found {
    const found = search();
    const due = { ...found, counted: new Set(found.counted) };
    const endedAt = this.#clock.now();
    const entry = { due, until: endedAt + LIFETIME * (endedAt - begunAt) };
    this.#found.set(namespace, entry);
    return entry;
  }

  #forgetOld(now: number): void {
    for (const [namespace, { until }] of this.#found) if (now >= until) this.#found.delete(namespace);
  }
}
