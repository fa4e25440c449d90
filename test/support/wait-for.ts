import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

export interface WaitForOptions {
  /**
   * How long to wait before failing, real milliseconds; default 20,000. Generous: only a failure
   * waits so long.
   */
  readonly deadlineMs?: number;
  /** What is waited for, or what is seen at the moment; called once, for the failure's message. */
  readonly describe?: () => string;
}

/**
 * Polls until `condition` gives something truthy, and resolves to that. A condition that throws (a
 * failed `expect`) does not hold yet; one that is made of `expect`s alone must end in `return
 * true`. Rejects at the deadline, saying what was last seen.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: WaitForOptions = {},
): Promise<NonNullable<T>> {
  const deadlineMs = options.deadlineMs ?? 20_000;
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    let seen: unknown;
    try {
      seen = await condition();
      if (seen) return seen as NonNullable<T>;
    } catch (error) {
      seen = error;
    }
    if (performance.now() >= deadline) {
      const what = options.describe === undefined ? '' : `: ${options.describe()}`;
      const last = seen instanceof Error ? seen.message : String(seen);
      throw new Error(`waited ${deadlineMs} ms in vain${what} (last seen: ${last})`, { cause: seen });
    }
    await delay(POLL_MS);
  }
}
