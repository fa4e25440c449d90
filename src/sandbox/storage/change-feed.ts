import type { Change, EventLog } from './event-log.ts';

/** Calls `handle` at once and in order for every change appended from now on. */
export function followChanges(log: EventLog, handle: (change: Change) => void): void {
  let position = log.end;
  log.onAppend(() => {
    // A handler that writes causes a nested call, which moves the position on.
    while (position < log.end) {
      const change = log.at(position++);
      if (change) handle(change);
    }
  });
}
