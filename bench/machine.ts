import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { busySeconds, cpuSeconds, cpuSecondsOfChildren } from './process-stats.ts';

const CORES = availableParallelism();
/** Share of all cores that may be busy when a measurement begins. */
const QUIET = 0.1;
const SAMPLE_MS = 1000;

/** What the figures were measured on. */
export function describeMachine(): Readonly<Record<string, string>> {
  const kernel = readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim();
  return {
    cpu: `${CORES} x ${cpus()[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    kernel: `Linux ${kernel}`,
    node: process.version,
  };
}

/** Waits until the machine has little else to do, at most `maxMs`. */
export async function waitForQuiet(maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (performance.now() < deadline) {
    const before = busySeconds();
    await delay(SAMPLE_MS);
    if ((busySeconds() - before) / CORES < (QUIET * SAMPLE_MS) / 1000) return;
  }
}

/**
 * Call it before a measurement, and what it returns afterwards: that tells which share of the machine's processor time
 * went to processes that are not part of the benchmark. `servers`: those that live for longer than the measurement.
 */
export function foreignLoad(servers: readonly number[]): () => number {
  const own = () => [process.pid, ...servers].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const read = () => ({ at: performance.now(), busy: busySeconds(), own: own() + cpuSecondsOfChildren() });
  const before = read();
  return () => {
    const after = read();
    const foreign = after.busy - before.busy - (after.own - before.own);
    return Math.max(0, foreign / CORES / ((after.at - before.at) / 1000));
  };
}
