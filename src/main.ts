import './v8-flags.ts';
import { basename } from 'node:path';
import process from 'node:process';
import { runProgram } from './cli/program.ts';

/**
 * The process edge. The first SIGINT or SIGTERM asks the program to stop in good order; a second
 * one ends it at once.
 */
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  });
}

// A process whose output nobody reads any more goes on: to die here would leave the Lease held.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// Explicitly, since a connection attempt to a host that is gone may hold the process for ten
// seconds more.
const io = {
  // A getter: Node opens stdin at the first access.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
};
// As a plugin of kubectl the file has another name (SPEC C9).
process.exit(await runProgram(process.argv.slice(2), io, basename(process.argv[1] ?? '')));
