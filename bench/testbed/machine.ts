import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { busySeconds, cpuSeconds, cpuSecondsOfChildren } from './process-stats.ts';

const CORES = availableParallelism();
/** Share of all cores that may be busy when a measurement starts. */
const QUIET = 0.1;
/** Time between two looks. */
const SAMPLE_MS = 1000;

/** The machine on which the figures are measured. */
export function describeMachine(): Readonly<Record<string, string>> {
  const kernel = readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim();
  return {
    cpu: `${CORES} x ${cpus()[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    kernel: `Linux ${kernel}`,
    node: `Node ${process.version.slice(1)}`,
  };
}

/** Waits until the machine is quiet, at most `maxMs`. */
export async function waitForQuiet(maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (performance.now() < deadline) {
    const before = busySeconds();
    await delay(SAMPLE_MS);
    if ((busySeconds() - before) / CORES < (QUIET * SAMPLE_MS) / 1000) return;
  }
}

/**
 * Call it before a measurement, and its result afterwards to get the share of the machine's
 * processor time that unrelated processes used. `servers`: the benchmark's processes that keep
 * running.
 */
export function otherLoad(servers: readonly number[]): () => number {
  const own = () => [process.pid, ...servers].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const read = () => ({ at: performance.now(), busy: busySeconds(), own: own() + cpuSecondsOfChildren() });
  const before = read();
  return () => {
    const after = read();
    const other = after.busy - before.busy - (after.own - before.own);
    return Math.max(0, other / CORES / ((after.at - before.at) / 1000));
  };
}
