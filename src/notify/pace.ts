/** How many of those that are ready go in one message now; 0: none, look again after `waitMs`. */
export interface Turn {
  readonly take: number;
  readonly waitMs: number;
}

/** Decides when a sink gets its next message. `now` is monotonic. */
export interface Pace {
  /** `ready` is above 0. */
  next(ready: number, now: number): Turn;
  /** The attempt has ended: what is sent may have waited to be stored since its turn. */
  ended(now: number): void;
}

/** One by one, without delay. */
export const UNPACED: Pace = { next: () => ({ take: 1, waitMs: 0 }), ended: () => undefined };

/** Least time (ms) between two messages: https://docs.slack.dev/apis/web-api/rate-limits/ */
const INTERVAL_MS = 1_000;
/** More sources than this within this time (ms) are told of in one message. */
const MOST_SINGLE = 10;
const WINDOW_MS = 10_000;

/** For people: not too often, and many things at once in one message (SPEC N7). */
export class ChatPace implements Pace {
  /** When the last attempt ended. */
  #lastAt = Number.NEGATIVE_INFINITY;
  #foldedAt = Number.NEGATIVE_INFINITY;
  /** When single messages went, in the last window. */
  #single: number[] = [];

  next(ready: number, now: number): Turn {
    const waitMs = this.#lastAt + INTERVAL_MS - now;
    if (waitMs > 0) return { take: 0, waitMs };
    this.#single = this.#single.filter((at) => at > now - WINDOW_MS);
    if (this.#single.length + ready <= MOST_SINGLE) {
      this.#single.push(now);
      return { take: 1, waitMs: 0 };
    }
    const untilFoldMs = this.#foldedAt + WINDOW_MS - now;
    if (untilFoldMs > 0) return { take: 0, waitMs: untilFoldMs };
    this.#foldedAt = now;
    this.#single = [];
    return { take: ready, waitMs: 0 };
  }

  ended(now: number): void {
    this.#lastAt = now;
  }
}
