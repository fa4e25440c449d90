import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { memory } from '../testbed/process-stats.ts';
import type { Subject } from './subjects.ts';

/** A command that reads the cluster, prints what it found, and ends. */
export interface Asked {
  readonly printed: string;
  /** From the start of the process to its end. */
  readonly ms: number;
  /** Peak of the resident set (MiB), a few milliseconds before the end. */
  readonly peakMiB: number;
}

const POLL_MS = 5;

/** Runs another command of the subject, such as `status`. Rejects if it fails. */
export async function ask(subject: Subject, args: readonly string[], kubeconfig: string): Promise<Asked> {
  const [command, ...before] = subject.command.with(-1, `--kubeconfig=${kubeconfig}`);
  const begun = performance.now();
  const child = spawn(command ?? '', [...before, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...subject.env, BENCH_LOOP_DELAY_FILE: '/dev/null' },
    timeout: 60_000,
  });
  const exited = once(child, 'exit');
  const printing = text(child.stdout);
  let peakMiB = 0;
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    peakMiB = Math.max(peakMiB, peakOf(child.pid));
    await Promise.race([exited, delay(POLL_MS)]);
  }
  await exited;
  const ms = performance.now() - begun;
  const printed = await printing;
  if (child.exitCode !== 0) throw new Error(`${subject.name} ${args.join(' ')} ended with ${child.exitCode}`);
  return { printed, ms, peakMiB };
}

/** 0 when the process has ended: then nothing is known of its memory. */
function peakOf(pid: number): number {
  return memory(pid).peak || 0;
}
