import type { Change } from './change.ts';

/** Whether a record is in the cluster. `reloaded`: it was read again, and is as it is there. */
export type Stored = 'stored' | 'reloaded' | 'stopped';

/** Somebody who waits until a record is stored. */
export interface Waiter {
  /** Undefined: all of them. */
  readonly uid: string | undefined;
  /** The record, as writes without an answer had it. Each may have been applied. */
  readonly unanswered: readonly (string | undefined)[];
  readonly resolve: (stored: Stored) => void;
}

export function withUnanswered(waiter: Waiter, changes: readonly Change[]): Waiter {
  const change = changes.find(({ uid }) => uid === waiter.uid);
  if (change === undefined || waiter.unanswered.includes(change.text)) return waiter;
  return { ...waiter, unanswered: [...waiter.unanswered, change.text] };
}
