import { LRUCache } from 'lru-cache';

/** Events a second, on average, and at once after a pause. */
const PER_SECOND = 10;
const BURST = 100;
/** Events of one object within a minute. */
const PER_OBJECT = 10;
const WINDOW_MS = 60_000;
/** Objects whose latest Events are remembered. */
const OBJECTS = 4096;

/** How many Events may be written, together and for each object. Times are the clock's. */
export class Allowance {
  #tokens = BURST;
  #countedAt = 0;
  /** By uid: when its latest Events were written, oldest first. */
  readonly #written = new LRUCache<string, readonly number[]>({ max: OBJECTS });

  /** Time (ms) until one more Event may be written; 0: now. `isBusy`: no burst. */
  waitMs(now: number, isBusy: boolean): number {
    const afterLastMs = isBusy ? this.#countedAt + 1000 / PER_SECOND - now : 0;
    return Math.max(0, afterLastMs, ((1 - this.#tokensAt(now)) / PER_SECOND) * 1000);
  }

  /** Time (ms) until one more Event about this object may be written; 0: now. */
  waitOfObjectMs(uid: string, now: number): number {
    const times = this.#written.get(uid) ?? [];
    const [oldest = 0] = times;
    return times.length < PER_OBJECT ? 0 : Math.max(0, oldest + WINDOW_MS - now);
  }

  take(uid: string, now: number): void {
    this.#tokens = this.#tokensAt(now) - 1;
    this.#countedAt = now;
    this.#written.set(uid, [...(this.#written.get(uid) ?? []), now].slice(-PER_OBJECT));
  }

  #tokensAt(now: number): number {
    return Math.min(BURST, this.#tokens + ((now - this.#countedAt) / 1000) * PER_SECOND);
  }
}
