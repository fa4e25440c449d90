import { expect } from 'vitest';
import type { FaultProxy } from '../support/fault-proxy.ts';

/** Deletions at once that the brake of a history holds, whatever their share. */
const BRAKE = 2;
export const BRAKE_FLAGS = { 'delete-brake': String(BRAKE), 'delete-brake-percent': '0' };
/** The 60 s in which they count, halved to be safe. */
const WINDOW_MS = 60_000 / 2;

type Request = FaultProxy['requests'][number];

/**
 * A controller has not made more deletions at once than its brake allows (SPEC D1).
 * @param requests those of one controller
 * @param clockSpeed how much faster its clock is than the server's
 * @param isReleased whether somebody has released just this one
 */
export function brakeHasHeld(
  requests: readonly Request[],
  clockSpeed: number,
  isReleased: (request: Request) => boolean = () => false,
): void {
  const deletions = requests.filter((request) => isDeletion(request) && !isReleased(request));
  for (const [index, { at, path }] of deletions.entries()) {
    const next = deletions[index + BRAKE - 1];
    if (next === undefined) continue;
    expect(next.at - at, `${path}, ${next.path}`).toBeGreaterThan(WINDOW_MS / clockSpeed);
  }
}

/** Of a companion, by the server: one that got no answer never reached it. */
function isDeletion({ method, path, status = 500, fault }: Request): boolean {
  const isDone = status < 300 || fault === 'lost-reply';
  return method === 'DELETE' && /\/configmaps\//.test(path) && !path.includes('-rev-') && isDone;
}
