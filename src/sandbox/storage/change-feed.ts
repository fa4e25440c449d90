import type { Change, EventLog } from './event-log.ts';

/** Hands every change that is appended to `log` from now on to `handle`, in order and at once. Returns what ends it. */
export function followChanges(log: EventLog, handle: (change: Change) => void): () => void {
  let position = log.end;
  return log.onAppend(() => {
    // A handler that writes appends in turn: the nested call has then moved the position on already.
    while (position < log.end) {
      const change = log.at(position++);
      if (change) handle(change);
    }
  });
}
