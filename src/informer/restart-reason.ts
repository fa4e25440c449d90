import { isBadRequest, isGone, isInvalid } from '../kube/errors.ts';
import { SilentWatchError } from './guarded-watch.ts';
import { isHistoryRestart } from './history.ts';

/**
 * Why a reflector lists or watches again:
 * - `ended`: the server ended the watch at its time limit.
 * - `silent`: nothing came for 90 s.
 * - `expired`: the server no longer knows the resourceVersion (410).
 * - `history`: its history started over.
 * - `refused`: it does not do what it was asked for, such as to stream a list.
 * - `failed`: all else, such as 5xx and connections that break.
 */
export const RESTART_REASONS = ['ended', 'silent', 'expired', 'history', 'refused', 'failed'] as const;
export type RestartReason = (typeof RESTART_REASONS)[number];

/** Of a list or watch that failed with `error`. */
export function reasonToRestart(error: unknown): RestartReason {
  if (isHistoryRestart(error)) return 'history';
  if (error instanceof SilentWatchError) return 'silent';
  if (isGone(error)) return 'expired';
  // The server refuses to stream a list (422 if it knows the parameter and has it switched off, 400
  // from others), or a resourceVersion that means nothing to it.
  const isRefused = error instanceof NotStreamedError || isInvalid(error) || isBadRequest(error);
  return isRefused ? 'refused' : 'failed';
}

/** The server ignored the request to stream a list: it just watches. */
export class NotStreamedError extends Error {
  override readonly name = 'NotStreamedError';
}
