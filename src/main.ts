import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runProgram } from './cli/program.ts';

/**
 * The heap's young generation stays at its first size. Otherwise V8 lets it grow to 48 MiB at the first burst and keeps it,
 * which is more than all that we remember of 10,000 companions.
 */
setFlagsFromString('--semi-space-growth-factor=1');

/**
 * The process edge. The first SIGINT or SIGTERM asks the program to stop in good order; a second one ends it at once.
 */
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  });
}

// Explicitly, since a connection attempt to a host that is gone may hold the process for ten seconds more.
const exitCode = await runProgram(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
});
process.exit(exitCode);
