import { isOlder } from '../kube/api/resource-version.ts';
import { ApiError } from '../kube/errors.ts';

/**
 * The server sent a resourceVersion older than one that it sent before, as it does after its etcd
 * was restored from a backup. What was known of its objects means nothing any more.
 */
export class HistoryRestartedError extends Error {
  override readonly name = 'HistoryRestartedError';

  constructor(sent: string, before: string) {
    super(`the server sent resourceVersion ${sent} after ${before}`);
  }
}

/** Throws {@link HistoryRestartedError} if the server sent `resourceVersion` after a newer one. */
export function requireNotOlder(resourceVersion: string, before: string | undefined): void {
  if (before !== undefined && isOlder(resourceVersion, before)) {
    throw new HistoryRestartedError(resourceVersion, before);
  }
}

/** Also true of a refusal: `Too large resource version`, a 504 with this cause. */
export function isHistoryRestart(error: unknown): boolean {
  if (error instanceof HistoryRestartedError) return true;
  return error instanceof ApiError && error.causes.includes('ResourceVersionTooLarge');
}
