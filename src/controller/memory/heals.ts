/** More heals than this within the window are a fight (SPEC R14). */
const HEALS_ALLOWED = 5;
const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** Time (ms) without a change or a heal after which a companion's heals are forgotten. */
const PEACE_MS = 2 * WINDOW_MS;

/**
 * What is remembered of a companion that somebody else changes: when we healed it. Another program may undo each heal, and
 * the two would write as fast as the API server allows; so pauses grow. A companion that nobody else touches has no such
 * record, however often it is written (SPEC W4).
 */
export interface Heals {
  /** Whether somebody else changed the companion after its last heal; then the next write is a heal. */
  readonly disturbed: boolean;
  /** The source's version written last; writing a newer one is no heal. Undefined before the first heal. */
  readonly sourceVersion: string | undefined;
  /** Time of the last heal, or of the first change before any, on the clock's reading. */
  readonly at: number;
  /** Times of the heals within the window. */
  readonly healed: readonly number[];
  /** Heals beyond {@link HEALS_ALLOWED}. Each doubles the pause. */
  readonly excess: number;
}

/** Somebody else changed or deleted the companion. */
export function afterDisturbance(before: Heals | undefined, now: number): Heals {
  if (before !== undefined && !isPeaceful(before, now)) return { ...before, disturbed: true };
  return { disturbed: true, sourceVersion: undefined, at: now, healed: [], excess: 0 };
}

/** We wrote the companion. Undefined: nothing needs to be remembered any more. */
export function afterWrite(before: Heals | undefined, sourceVersion: string, now: number): Heals | undefined {
  if (before === undefined || (before.sourceVersion ?? sourceVersion) !== sourceVersion) return undefined;
  if (!before.disturbed) return before;
  const healed = [...before.healed.filter((time) => now - time < WINDOW_MS), now];
  const isFight = healed.length > HEALS_ALLOWED || before.excess > 0;
  return { disturbed: false, sourceVersion, at: now, healed, excess: isFight ? before.excess + 1 : 0 };
}

/** Milliseconds until the companion may be healed again; 0: now. A new version of the source does not wait. */
export function pauseMs(heals: Heals | undefined, sourceVersion: string, now: number): number {
  if (heals === undefined || heals.excess === 0 || heals.sourceVersion !== sourceVersion) return 0;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (heals.excess - 1));
  return Math.max(0, heals.at + pause - now);
}

export function isPeaceful({ at }: Heals, now: number): boolean {
  return now - at >= PEACE_MS;
}
