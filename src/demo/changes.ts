import type { Clock } from '../clock/clock.ts';

export interface Patience {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** Wakes who waits whenever something has changed, whatever it was: then they look for themselves. */
export class Changes {
  readonly #listeners = new Set<() => void>();

  notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /**
   * Asks now and after each change, and resolves to the first answer. Resolves to undefined at the deadline, or as
   * soon as the signal aborts: look at the signal.
   */
  until<T>(question: () => T | undefined, { clock, deadlineMs, signal }: Patience): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        timer.cancel();
        this.#listeners.delete(ask);
        signal.removeEventListener('abort', giveUp);
      };
      const settle = (answer: T | undefined) => {
        stop();
        resolve(answer);
      };
      const giveUp = () => settle(undefined);
      // It is called in the middle of somebody else's work, which an error here must not disturb.
      const ask = () => {
        try {
          const answer = question();
          if (answer !== undefined) settle(answer);
        } catch (error) {
          stop();
          reject(error);
        }
      };
      const timer = clock.setTimer(deadlineMs, giveUp);
      this.#listeners.add(ask);
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      else ask();
    });
  }
}
