import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import { aborted, type Clock, type Timer } from '../clock/clock.ts';
import { Wakeup } from '../clock/wakeup.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Pace, Turn } from './pace.ts';

/** What became of an attempt. */
export type Attempt =
  | { readonly kind: 'done' }
  /** `holdMs`: for how long the sink wants nothing at all; it may be Infinity. */
  | { readonly kind: 'failed'; readonly holdMs: number }
  /** There is nothing to send yet, which is not the sink's fault. */
  | { readonly kind: 'postponed' };

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
  readonly uid: string;
  /** When the oldest thing that waits happened (ms since the epoch). */
  readonly since: number;
}

/** The sources that have had a name, one after the other. All wait for the first of them. */
interface Line {
  readonly ref: ObjectKey;
  /** During an attempt the first may be here twice: something else waits, too. */
  waiting: readonly Waiting[];
  /** Whether an attempt is under way, for the first. */
  isActive: boolean;
  /** How often attempts for the first have failed. */
  failures: number;
  /** Until its next attempt. */
  timer: Timer | undefined;
}

const BACKOFF: BackoffOptions = { baseMs: 1_000, capMs: 3_600_000, jitter: 0.2 };

/**
 * The sources of which a sink is to be told. It holds no messages: what is said is decided when a
 * source's turn comes, so the newest version replaces older ones that wait (SPEC N5).
 */
export class SinkQueue {
  readonly #deps: SinkQueueDeps;
  readonly #lines = new Map<ObjectKey, Line>();
  /** Whose turn it is, so that a turn costs the same however many wait. */
  readonly #ready = new Set<Line>();
  /** Attempts under way. */
  #active = 0;
  #heldUntil = Number.NEGATIVE_INFINITY;
  readonly #wakeup = new Wakeup();

  constructor(deps: SinkQueueDeps) {
    this.#deps = deps;
  }

  /** When the oldest thing that waits happened (ms since the epoch); Infinity: nothing waits. */
  get oldest(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { waiting } of this.#lines.values()) {
      for (const { since } of waiting) oldest = Math.min(oldest, since);
    }
    return oldest;
  }

  /** A source that waits already keeps its turn. `since`: see `oldest`. */
  add(uid: string, ref: ObjectKey, since: number): void {
    const line = this.#lines.get(ref) ?? this.#newLine(ref);
    const behind = line.isActive ? line.waiting.slice(1) : line.waiting;
    if (!behind.some((each) => each.uid === uid)) line.waiting = [...line.waiting, { uid, since }];
    this.#wakeup.wake();
  }

  /** Makes attempts until `signal` aborts, and resolves when the last one has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    void aborted(signal).then(() => this.#wakeup.wake());
    while (!signal.aborted) {
      const { take, waitMs } = this.#next();
      if (take > 0) void this.#attempt(take);
      else await this.#wakeup.wait(clock, waitMs);
    }
    while (this.#active > 0) await this.#wakeup.wait(clock);
    for (const { timer } of this.#lines.values()) timer?.cancel();
  }

  #newLine(ref: ObjectKey): Line {
    const line: Line = { ref, waiting: [], isActive: false, failures: 0, timer: undefined };
    this.#lines.set(ref, line);
    this.#ready.add(line);
    return line;
  }

  #next(): Turn {
    const { concurrency, pace, clock } = this.#deps;
    const now = clock.now();
    const isBusy = this.#active >= concurrency;
    if (isBusy || this.#ready.size === 0) return { take: 0, waitMs: Number.POSITIVE_INFINITY };
    if (this.#heldUntil > now) return { take: 0, waitMs: this.#heldUntil - now };
    return pace.next(this.#ready.size, now);
  }

  /** For the first of `take` lines. */
  async #attempt(take: number): Promise<void> {
    const { attempt, pace, clock } = this.#deps;
    const lines: Line[] = [];
    for (const line of this.#ready) {
      if (lines.length === take) break;
      this.#ready.delete(line);
      line.isActive = true;
      lines.push(line);
    }
    this.#active += 1;
    const result = await attempt(lines.flatMap(({ waiting }) => waiting.slice(0, 1).map(({ uid }) => uid)));
    this.#active -= 1;
    pace.ended(clock.now());
    if (result.kind === 'failed') this.#heldUntil = Math.max(this.#heldUntil, clock.now() + result.holdMs);
    for (const line of lines) {
      line.isActive = false;
      if (result.kind === 'done') this.#advance(line);
      else this.#delay(line, result.kind === 'failed');
    }
    this.#wakeup.wake();
  }

  #advance(line: Line): void {
    line.waiting = line.waiting.slice(1);
    line.failures = 0;
    if (line.waiting.length > 0) this.#ready.add(line);
    else this.#lines.delete(line.ref);
  }

  #delay(line: Line, hasFailed: boolean): void {
    const { clock, random } = this.#deps;
    // What was added meanwhile is what the next attempt sends.
    line.waiting = line.waiting.filter(({ uid }, at) => at === 0 || uid !== line.waiting[0]?.uid);
    if (hasFailed) line.failures += 1;
    const delayMs = backoffDelay(hasFailed ? line.failures : 1, BACKOFF, random);
    line.timer = clock.setTimer(delayMs, () => {
      this.#ready.add(line);
      this.#wakeup.wake();
    });
  }
}
