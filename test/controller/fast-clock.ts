import type { Clock } from '../../src/clock/clock.ts';

/**
 * A clock that runs `times` as fast as the server's, for rules about half a minute. Answers take
 * longer on it: with a time limit of 30 s and `times` 20 the server has 1.5 s.
 */
export function fastClock(times: number): Clock {
  const start = Date.now();
  return {
    now: () => performance.now() * times,
    wallTime: () => new Date(start + (Date.now() - start) * times),
    setTimer: (delayMs, callback) => {
      const handle = setTimeout(callback, delayMs / times);
      return { cancel: () => clearTimeout(handle) };
    },
  };
}
