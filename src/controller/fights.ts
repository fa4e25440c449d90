import { type Clock, every } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/object-key.ts';

/** More heals than this within the window are a fight (SPEC R14). */
const HEALS_ALLOWED = 5;
const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** So long after the last write a fight is forgiven, and the companion forgotten. */
const PEACE_MS = 2 * WINDOW_MS;

const NEVER: readonly number[] = [];

interface Heals {
  /** The source's version that was written: writing a newer one is no heal. */
  readonly sourceVersion: string;
  readonly lastWrite: number;
  /** When it was healed, within the window: written again, though the source had not changed. */
  readonly healed: readonly number[];
  /** Heals beyond what is allowed: each doubles the pause. */
  readonly excess: number;
}

/**
 * Notices that somebody else keeps changing what we keep healing, and makes the heals rarer: the other one is a
 * program too, and the two would write against each other as fast as the API server allows.
 */
export class Fights {
  readonly #clock: Clock;
  /** Of the companions that were written lately. */
  readonly #heals = new Map<ObjectKey, Heals>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of a write. Returns true when it was one heal too many: the companion is being fought over. */
  wrote(companion: ObjectKey, sourceVersion: string): boolean {
    const now = this.#clock.now();
    const before = this.#heals.get(companion);
    if (before?.sourceVersion !== sourceVersion || isPeaceful(before, now)) {
      this.#heals.set(companion, { sourceVersion, lastWrite: now, healed: NEVER, excess: 0 });
      return false;
    }
    const healed = [...before.healed.filter((time) => now - time < WINDOW_MS), now];
    const fought = healed.length > HEALS_ALLOWED || before.excess > 0;
    this.#heals.set(companion, {
      sourceVersion,
      lastWrite: now,
      healed,
      excess: fought ? before.excess + 1 : 0,
    });
    return fought;
  }

  /** Milliseconds until the companion may be healed again; 0: now. A new version of the source need not wait. */
  waitMs(companion: ObjectKey, sourceVersion: string): number {
    const heals = this.#heals.get(companion);
    if (heals === undefined || heals.excess === 0 || heals.sourceVersion !== sourceVersion) return 0;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (heals.excess - 1));
    return Math.max(0, heals.lastWrite + pause - this.#clock.now());
  }

  /** We have deleted it ourselves: making it anew is no heal. */
  deleted(companion: ObjectKey): void {
    this.#heals.delete(companion);
  }

  /** Until `signal` aborts, forgets what was not written lately. */
  async run(signal: AbortSignal): Promise<void> {
    await every(this.#clock, WINDOW_MS, signal, () => {
      const now = this.#clock.now();
      for (const [companion, heals] of this.#heals) if (isPeaceful(heals, now)) this.#heals.delete(companion);
    });
  }
}

function isPeaceful({ lastWrite }: Heals, now: number): boolean {
  return now - lastWrite >= PEACE_MS;
}
