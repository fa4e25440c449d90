import { type Clock, every } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';

/** More heals than this within the window are a fight (SPEC R14). */
const HEALS_ALLOWED = 5;
const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** So long after the last write a fight is forgiven, and the companion forgotten. */
const PEACE_MS = 2 * WINDOW_MS;

interface Heals {
  /** Whether somebody else has changed the companion since it was healed last: then the next write is a heal. */
  readonly disturbed: boolean;
  /** The source's version that was written last: writing a newer one is no heal. Undefined before the first heal. */
  readonly sourceVersion: string | undefined;
  /** Of the last heal, or before the first one of the change that asks for it; on the clock's reading. */
  readonly at: number;
  /** When it was healed, within the window. */
  readonly healed: readonly number[];
  /** Heals beyond what is allowed: each doubles the pause. */
  readonly excess: number;
}

/**
 * Notices that somebody else keeps changing what we keep healing, and makes the heals rarer: the other one is a
 * program too, and the two would write against each other as fast as the API server allows. What nobody else
 * touches is not remembered, however much of it is written (SPEC W4).
 */
export class Fights {
  readonly #clock: Clock;
  /** Of the companions that somebody else changed lately. */
  readonly #heals = new Map<ObjectKey, Heals>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Somebody else has changed or deleted the companion. */
  disturbed(companion: ObjectKey): void {
    const now = this.#clock.now();
    const before = this.#heals.get(companion);
    this.#heals.set(
      companion,
      before === undefined || isPeaceful(before, now)
        ? { disturbed: true, sourceVersion: undefined, at: now, healed: [], excess: 0 }
        : { ...before, disturbed: true },
    );
  }

  /** Takes note of a write. Returns true when it was one heal too many: the companion is being fought over. */
  wrote(companion: ObjectKey, sourceVersion: string): boolean {
    const before = this.#heals.get(companion);
    if (before === undefined) return false;
    if ((before.sourceVersion ?? sourceVersion) !== sourceVersion) {
      this.#heals.delete(companion);
      return false;
    }
    if (!before.disturbed) return false;
    const now = this.#clock.now();
    const healed = [...before.healed.filter((time) => now - time < WINDOW_MS), now];
    const fought = healed.length > HEALS_ALLOWED || before.excess > 0;
    const excess = fought ? before.excess + 1 : 0;
    this.#heals.set(companion, { disturbed: false, sourceVersion, at: now, healed, excess });
    return fought;
  }

  /** Milliseconds until the companion may be healed again; 0: now. A new version of the source need not wait. */
  waitMs(companion: ObjectKey, sourceVersion: string): number {
    const heals = this.#heals.get(companion);
    if (heals === undefined || heals.excess === 0 || heals.sourceVersion !== sourceVersion) return 0;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (heals.excess - 1));
    return Math.max(0, heals.at + pause - this.#clock.now());
  }

  /** We have deleted it ourselves: whatever was is forgotten. */
  deleted(companion: ObjectKey): void {
    this.#heals.delete(companion);
  }

  /** Until `signal` aborts, forgets what was not changed or healed lately. */
  async run(signal: AbortSignal): Promise<void> {
    await every(this.#clock, WINDOW_MS, signal, () => {
      const now = this.#clock.now();
      for (const [companion, heals] of this.#heals) if (isPeaceful(heals, now)) this.#heals.delete(companion);
    });
  }
}

function isPeaceful({ at }: Heals, now: number): boolean {
  return now - at >= PEACE_MS;
}
