/** Most heals within the window that are not yet a fight (SPEC R14). */
const HEALS_ALLOWED = 5;
const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** Time (ms) without a heal after which a companion's heals are forgotten. */
const PEACE_MS = 2 * WINDOW_MS;

/**
 * When we healed a companion that another client changes. If that client undoes each heal, both
 * would write as fast as the API server allows, so the pauses grow.
 */
export interface Heals {
  /** Whether another client changed it since our last heal. Then our next write is a heal. */
  readonly disturbed: boolean;
  /** The source's version at the last heal; undefined before the first. */
  readonly sourceVersion: string | undefined;
  /** Time of the last heal; before the first, of the change. */
  readonly at: number;
  /** Times of the heals within the window. */
  readonly healed: readonly number[];
  /** Heals beyond {@link HEALS_ALLOWED}. Each doubles the pause. */
  readonly excess: number;
}

/** Another client changed or deleted the companion. */
export function afterDisturbance(before: Heals | undefined, now: number): Heals {
  if (before !== undefined && !isPeaceful(before, now)) return { ...before, disturbed: true };
  return { disturbed: true, sourceVersion: undefined, at: now, healed: [], excess: 0 };
}

/** Whether a write undoes another client's change. Writing a new version of the source does not. */
export function isHeal(heals: Heals | undefined, sourceVersion: string): boolean {
  return heals?.disturbed === true && (heals.sourceVersion ?? sourceVersion) === sourceVersion;
}

/** We wrote the companion. Writing a new version of the source ends the record. */
export function afterWrite(before: Heals | undefined, sourceVersion: string, now: number): Heals | undefined {
  if (before === undefined || (before.sourceVersion ?? sourceVersion) !== sourceVersion) return undefined;
  if (!isHeal(before, sourceVersion)) return before;
  const healed = [...before.healed.filter((time) => now - time < WINDOW_MS), now];
  const isFight = healed.length > HEALS_ALLOWED || before.excess > 0;
  return { disturbed: false, sourceVersion, at: now, healed, excess: isFight ? before.excess + 1 : 0 };
}

/** Time (ms) until the companion may be written; 0: now. A new source version does not wait. */
export function pauseMs(heals: Heals | undefined, sourceVersion: string, now: number): number {
  if (heals === undefined || heals.excess === 0 || heals.sourceVersion !== sourceVersion) return 0;
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (heals.excess - 1));
  return Math.max(0, heals.at + pause - now);
}

export function isPeaceful({ at }: Heals, now: number): boolean {
  return now - at >= PEACE_MS;
}
