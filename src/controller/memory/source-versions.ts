import type { Clock } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';

const WINDOW_MS = 60_000;
/** Most versions in the window that are not reported (SPEC D7). */
const MOST_VERSIONS = 10;
/** A source that keeps changing is mirrored after this many times the quiet that it asks for. */
const LONGEST_WAIT = 5;
/** Sources remembered at once. More than this are not edited by hand. */
const CAPACITY = 10_000;

interface Versions {
  /** When the latest versions came, on the clock: at most one more than are not reported. */
  readonly times: readonly number[];
  /** When the first version came that has not been quiet for long enough since. */
  readonly unsettledSince: number;
  /** When it may be forgotten. */
  readonly keptUntil: number;
}

/** When sources last got new content. Remembers only those that change. */
export class SourceVersions {
  readonly #clock: Clock;
  /** The one that changed last is at the end. */
  readonly #versions = new Map<ObjectKey, Versions>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A source has changed from what it was before. */
  changed(before: ObservedConfigMap, { key, request, digest }: ObservedConfigMap): void {
    if (request === undefined || before.request === undefined || before.digest === digest) return;
    const now = this.#clock.now();
    const settleMs = request.ok ? (request.value.settle?.ms ?? 0) : 0;
    const { times = [], unsettledSince = now } = this.#versions.get(key) ?? {};
    const isSettled = now >= this.#settledAt(key, settleMs);
    this.#versions.delete(key);
    this.#forgetOld();
    this.#versions.set(key, {
      times: [...times, now].slice(-MOST_VERSIONS - 1),
      unsettledSince: isSettled ? now : unsettledSince,
      keptUntil: now + Math.max(WINDOW_MS, settleMs),
    });
  }

  /** Time (ms) until the content of a source has been quiet for `settleMs`; 0: it has been. */
  unsettledMs(source: ObjectKey, settleMs: number): number {
    return Math.max(0, this.#settledAt(source, settleMs) - this.#clock.now());
  }

  /** Whether it has had more than ten versions in the last minute. */
  isFlapping(source: ObjectKey): boolean {
    const times = this.#versions.get(source)?.times ?? [];
    const [oldest = 0] = times;
    return times.length > MOST_VERSIONS && this.#clock.now() - oldest < WINDOW_MS;
  }

  #settledAt(source: ObjectKey, settleMs: number): number {
    const versions = this.#versions.get(source);
    if (versions === undefined) return Number.NEGATIVE_INFINITY;
    const { times, unsettledSince } = versions;
    return Math.min((times.at(-1) ?? 0) + settleMs, unsettledSince + LONGEST_WAIT * settleMs);
  }

  #forgetOld(): void {
    const now = this.#clock.now();
    for (const [source, { keptUntil }] of this.#versions) {
      if (now < keptUntil && this.#versions.size < CAPACITY) break;
      this.#versions.delete(source);
    }
  }
}
