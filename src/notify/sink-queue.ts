import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import { aborted, type Clock, sleep, type Timer } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Pace } from './pace.ts';

/** What became of an attempt. */
export type Attempt =
  | { readonly kind: 'done' }
  /** `holdMs`: for how long the sink wants nothing at all. */
  | { readonly kind: 'failed'; readonly holdMs: number | undefined }
  /** There is nothing to send yet, which is not the sink's fault. */
  | { readonly kind: 'postponed' }
  /** Nothing more is to be sent. */
  | { readonly kind: 'closed' };

export interface SinkQueueDeps {
  /** Attempts at once. */
  readonly concurrency: number;
  readonly pace: Pace;
  /** Sends what waits for these sources. Never rejects. */
  readonly attempt: (uids: readonly string[]) => Promise<Attempt>;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

interface Waiting {
  readonly ref: ObjectKey;
  /** When the oldest thing that waits happened (ms since the epoch). */
  readonly since: number;
  readonly failures: number;
  /** Until the next attempt. */
  readonly timer?: Timer;
  /** Whether an attempt is under way, and what was added meanwhile. */
  readonly active?: { again?: Pick<Waiting, 'ref' | 'since'> };
}

const BACKOFF: BackoffOptions = { baseMs: 1_000, capMs: 3_600_000, jitter: 0.2 };

/**
 * The sources of which a sink is to be told. It holds no messages: what is said is decided when a
 * source's turn comes, so the newest version replaces older ones that wait (SPEC N5).
 */
export class SinkQueue {
  readonly #deps: SinkQueueDeps;
  readonly #waiting = new Map<string, Waiting>();
  /** The uids of each name. All wait for the first of them. */
  readonly #lines = new Map<ObjectKey, readonly string[]>();
  /** Whose turn it is, so that a turn costs the same however many wait. */
  readonly #ready = new Set<string>();
  #active = 0;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(deps: SinkQueueDeps) {
    this.#deps = deps;
  }

  /** When the oldest thing that waits happened (ms since the epoch); undefined: nothing waits. */
  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { since } of this.#waiting.values()) {
      if (oldest === undefined || since < oldest) oldest = since;
    }
    return oldest;
  }

  /** A source that waits already keeps its turn. `since`: see `oldest`. */
  add(uid: string, ref: ObjectKey, since: number): void {
    const { active } = this.#waiting.get(uid) ?? {};
    if (active !== undefined) active.again ??= { ref, since };
    else if (!this.#waiting.has(uid)) this.#enter(uid, { ref, since });
    this.#wake();
  }

  /** Makes attempts until `signal` aborts, and resolves when the last one has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    while (!signal.aborted) {
      const { uids, waitMs } = this.#next();
      if (uids.length > 0) void this.#attempt(uids);
      else await this.#idle(waitMs);
    }
    while (this.#active > 0) await this.#idle(Number.POSITIVE_INFINITY);
    for (const { timer } of this.#waiting.values()) timer?.cancel();
    signal.removeEventListener('abort', wake);
  }

  #next(): { readonly uids: readonly string[]; readonly waitMs: number } {
    const { concurrency, pace, clock } = this.#deps;
    const now = clock.now();
    if (this.#isClosed || this.#active >= concurrency) return { uids: [], waitMs: Number.POSITIVE_INFINITY };
    if (this.#heldUntil > now) return { uids: [], waitMs: this.#heldUntil - now };
    if (this.#ready.size === 0) return { uids: [], waitMs: Number.POSITIVE_INFINITY };
    const { take, waitMs } = pace.next(this.#ready.size, now);
    const uids: string[] = [];
    for (const uid of this.#ready) {
      if (uids.length === take) break;
      uids.push(uid);
    }
    return { uids, waitMs };
  }

  async #attempt(uids: readonly string[]): Promise<void> {
    const { attempt, pace, clock } = this.#deps;
    for (const uid of uids) {
      this.#ready.delete(uid);
      this.#change(uid, (waiting) => ({ ...waiting, active: {} }));
    }
    this.#active += 1;
    const result = await attempt(uids);
    this.#active -= 1;
    pace.ended(clock.now());
    if (result.kind === 'closed') this.#isClosed = true;
    if (result.kind === 'failed' && result.holdMs !== undefined) {
      this.#heldUntil = Math.max(this.#heldUntil, clock.now() + result.holdMs);
    }
    for (const uid of uids) {
      if (result.kind === 'done') this.#done(uid);
      else this.#change(uid, (waiting) => this.#delayed(uid, waiting, result.kind !== 'postponed'));
    }
    this.#wake();
  }

  #enter(uid: string, { ref, since }: Pick<Waiting, 'ref' | 'since'>): void {
    const line = this.#lines.get(ref) ?? [];
    this.#lines.set(ref, [...line, uid]);
    this.#waiting.set(uid, { ref, since, failures: 0 });
    if (line.length === 0) this.#ready.add(uid);
  }

  /** What was added meanwhile goes to the end, also behind another uid of the name. */
  #done(uid: string): void {
    const { ref, active } = this.#waiting.get(uid) ?? {};
    if (ref === undefined) return;
    this.#waiting.delete(uid);
    const [next, ...others] = (this.#lines.get(ref) ?? []).filter((each) => each !== uid);
    if (next === undefined) this.#lines.delete(ref);
    else {
      this.#lines.set(ref, [next, ...others]);
      this.#ready.add(next);
    }
    if (active?.again !== undefined) this.#enter(uid, active.again);
  }

  /** A newer notification may have come meanwhile. It is what the next attempt sends. */
  #delayed(uid: string, { ref, since, failures }: Waiting, hasFailed: boolean): Waiting {
    const { clock, random } = this.#deps;
    const delayMs = backoffDelay(hasFailed ? failures + 1 : 1, BACKOFF, random);
    const timer = clock.setTimer(delayMs, () => {
      this.#ready.add(uid);
      this.#wake();
    });
    return { ref, since, failures: hasFailed ? failures + 1 : failures, timer };
  }

  #change(uid: string, change: (before: Waiting) => Waiting): void {
    const before = this.#waiting.get(uid);
    if (before !== undefined) this.#waiting.set(uid, change(before));
  }

  /** Resolves after `waitMs`, or as soon as there may be something to do. */
  async #idle(waitMs: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    if (Number.isFinite(waitMs)) await sleep(this.#deps.clock, waitMs, woken.signal);
    else await aborted(woken.signal);
  }
}
