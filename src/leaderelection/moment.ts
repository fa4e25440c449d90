import type { Clock } from '../clock/clock.ts';

/** A moment on both clocks (ms): each may stand still or jump where the other does not. */
export interface Moment {
  /** The monotonic clock stops while a virtual machine is paused. */
  readonly monotonic: number;
  /** The wall clock can be set. */
  readonly wall: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonic: clock.now(), wall: clock.wallTime().getTime() };
}

/** Time (ms) since the moment, on the clock that says more. */
export function ageMs({ monotonic, wall }: Moment, clock: Clock): number {
  const now = momentOf(clock);
  return Math.max(now.monotonic - monotonic, now.wall - wall);
}
