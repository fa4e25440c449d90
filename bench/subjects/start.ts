import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Subject } from './subjects.ts';

/** A controller's process. */
export interface RunningController {
  readonly pid: number;
  /** From its start until it logged that its caches are complete. */
  readonly readyMs: number;
  /** Asks it to stop; resolves when it has ended. */
  stop(): Promise<Stopped>;
}

export interface Stopped {
  /** How long the event loop was blocked (ms); only for Node. */
  readonly loop: { readonly max: number; readonly p99: number } | undefined;
}

/** Start of the log message of every subject whose caches are complete. */
const READY = '"caches synced';
const READY_DEADLINE_MS = 60_000;
const POLL_MS = 3;

/** Starts the subject, its log in a file in `folder`, and waits until it is ready. */
export async function start(
  subject: Subject,
  kubeconfig: string,
  folder: string,
): Promise<RunningController> {
  const [command, ...args] = subject.command;
  const logPath = join(folder, `${subject.name}-${Date.now()}.log`);
  const loopDelayFile = `${logPath}.loop`;
  const log = openSync(logPath, 'a');
  const child = spawn(command, [...args, `--kubeconfig=${kubeconfig}`], {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...subject.env, BENCH_LOOP_DELAY_FILE: loopDelayFile },
  });
  const begun = performance.now();
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} does not start`);
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  await ready(child, logPath, subject, begun);
  return {
    pid,
    readyMs: performance.now() - begun,
    stop: async () => {
      const ended = once(child, 'exit');
      if (hasEnded(child)) throw new Error(`${subject.name} ended by itself: ${tail(logPath)}`);
      child.kill('SIGTERM');
      await ended;
      process.off('exit', endWithUs);
      const loop = existsSync(loopDelayFile) ? JSON.parse(readFileSync(loopDelayFile, 'utf8')) : undefined;
      return { loop };
    },
  };
}

async function ready(child: ChildProcess, logPath: string, subject: Subject, begun: number): Promise<void> {
  while (!readFileSync(logPath, 'utf8').includes(READY)) {
    if (hasEnded(child)) throw new Error(`${subject.name} did not start: ${tail(logPath)}`);
    if (performance.now() - begun > READY_DEADLINE_MS) {
      child.kill('SIGKILL');
      throw new Error(`${subject.name} was not ready within a minute: ${tail(logPath)}`);
    }
    await delay(POLL_MS);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function tail(logPath: string): string {
  return readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
}
