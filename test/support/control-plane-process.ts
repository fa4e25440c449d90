import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface ServerProcess {
  /** The last lines of its log, for a failure's message. */
  logTail(): string;
  isRunning(): boolean;
  /** Absent while it runs, and if it was killed; above 128 if it ended by a signal. */
  exitCode(): number | undefined;
  /** `STOP` and `CONT` make a server that holds its connections and answers nothing. */
  signal(name: 'TERM' | 'KILL' | 'STOP' | 'CONT'): void;
  /** Resolves when it has ended, by whatever cause. */
  readonly ended: Promise<void>;
  /** Kills it and resolves when it has ended. */
  kill(): Promise<void>;
}

/**
 * Runs a command and passes on the signals named on standard input. When that input closes, which
 * the kernel does however its writer ends, the command is killed. So no server outlives a test run
 * that was SIGKILLed.
 */
const WATCHDOG = `
exec 3<&0
"$@" </dev/null 3<&- & child=$!
{ while read -r signal; do kill -s "$signal" "$child"; done; kill -s KILL "$child"; } <&3 2>/dev/null & watch=$!
exec 3<&-
wait "$child"; status=$?
kill "$watch" 2>/dev/null
exit "$status"
`;

/**
 * Starts `binary` in a session of its own (a Ctrl-C in the terminal is ours to handle), its output
 * appended to `logPath`.
 */
export function startServerProcess(binary: string, flags: readonly string[], logPath: string): ServerProcess {
  const log = openSync(logPath, 'a');
  const child: ChildProcess = spawn('/bin/sh', ['-c', WATCHDOG, 'watchdog', binary, ...flags], {
    detached: true,
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  // Writing to a watchdog that has just ended is no failure: `ended` tells.
  child.stdin?.on('error', () => undefined);
  const ended = once(child, 'exit').then(() => undefined);
  return {
    logTail: () => readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-20).join('\n'),
    exitCode: () => child.exitCode ?? undefined,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => void child.stdin?.write(`${name}\n`),
    ended,
    kill: () => {
      child.stdin?.end();
      return ended;
    },
  };
}
