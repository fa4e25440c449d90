import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SubjectName } from './scenario.ts';

/** What is measured: our controller, or an opponent. */
export interface Subject {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Set besides our own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Begins the message of the log line that says: the caches are complete. */
  readonly readyMessage: string;
}

/** A controller's process. */
export interface RunningController {
  readonly pid: number;
  /** Milliseconds from its start until it said that its caches are complete. */
  readonly readyMs: number;
  /** Asks it to stop; resolves when it has ended. */
  stop(): Promise<Stopped>;
}

export interface Stopped {
  /** The longest that the event loop was kept, and the 99th percentile of looks every 10 ms, in ms; only for Node. */
  readonly loop: { readonly max: number; readonly p99: number } | undefined;
}

/** `baseline`: the Go program. `other`: another bundle of ours, if there is one. */
export function subjects(
  baseline: string,
  other: string | undefined,
): Readonly<Partial<Record<SubjectName, Subject>>> {
  const readyMessage = '"caches synced';
  const env = imageEnvironment();
  const bundle = (name: string, path: string): Subject => ({
    name,
    command: [process.execPath, '--import', local('./loop-delay.mjs'), path, 'run', '--log-format=json'],
    env,
    readyMessage,
  });
  const goProgram = (name: string, ...flags: string[]): Subject => ({
    name,
    command: [baseline, ...flags],
    env: {},
    readyMessage,
  });
  return {
    ours: bundle('ours', local('../dist/mirror-controller.js')),
    ...(other !== undefined && { other: bundle('other', resolve(other)) }),
    go: goProgram('go', '--qps=-1'),
    // As fast as client-go can be made: it speaks JSON unless it is told otherwise, and few controllers tell it.
    'go-protobuf': goProgram('go-protobuf', '--qps=-1', '--content-type=application/vnd.kubernetes.protobuf'),
    'go-5qps': goProgram('go-5qps'),
  };
}

/** The variables that the container image sets: people run the image. */
function imageEnvironment(): Readonly<Record<string, string>> {
  const dockerfile = readFileSync(local('../Dockerfile'), 'utf8');
  const settings = dockerfile.matchAll(/^ENV (\w+)=(\S+)$/gm);
  return Object.fromEntries(Array.from(settings, ([, name, value]) => [name, value]));
}

function local(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

const READY_DEADLINE_MS = 60_000;
const POLL_MS = 3;

/** Starts the subject, its log in a file of `folder`, and waits until it is ready. */
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
  if (pid === undefined) throw new Error(`${command} cannot be started`);
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
  while (!readFileSync(logPath, 'utf8').includes(subject.readyMessage)) {
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
