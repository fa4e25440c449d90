import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

/** The command to drive: the environment's `KUBECTL`, else what PATH has. */
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';

/** Whether there is no kubectl; if so, that is said aloud. */
export function kubectlIsMissing(): boolean {
  const missing = spawnSync(KUBECTL, ['version', '--client']).status !== 0;
  if (missing) {
    process.stderr.write(
      `\nSKIPPED: there is no ${KUBECTL} on PATH, so that not one of its commands was tried.\n`,
    );
  }
  return missing;
}

export interface Outcome {
  /** Exit code. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  /** What it has printed so far. */
  readonly stdout: () => string;
  /** Interrupts it, as Ctrl-C does, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** A sandbox, a folder of its own, and a kubectl that knows nothing but the two. */
export interface Session {
  /** A namespace of the running test's own. */
  readonly namespace: string;
  run(...args: readonly string[]): Promise<Outcome>;
  /** `run` with something on its standard input. */
  runWith(stdin: string, ...args: readonly string[]): Promise<Outcome>;
  /** `run` with more in its environment. */
  runIn(env: Environment, ...args: readonly string[]): Promise<Outcome>;
  /** Starts a command that does not end by itself. */
  start(...args: readonly string[]): Running;
  /** What a command printed; throws when it failed. */
  succeeded(args: readonly string[], outcome: Outcome): string;
  /** Runs a command that must succeed and returns what it prints. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** The same in the test's namespace. */
  here(...args: readonly string[]): Promise<string>;
  /** The data of a ConfigMap in the test's namespace. */
  dataOf(name: string): Promise<unknown>;
  /** Writes a file into the folder and returns its path. */
  file(name: string, content: string | Buffer): Promise<string>;
}

type Environment = Readonly<Record<string, string>>;

/** To be called once in a `describe`, outside of its tests. */
export function useWorkshop(): Session {
  const sandbox = createSandbox({ now: () => new Date(), uid: () => randomUUID() });
  let folder = '';
  let environment: Environment = {};
  let count = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubectl-'));
    await sandbox.start();
    // kubectl keeps what it has discovered below HOME.
    environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      KUBECONFIG: await session.file('kubeconfig', sandbox.kubeconfig()),
    };
  });
  beforeEach(async () => {
    count += 1;
    await session.kubectl('create', 'namespace', session.namespace);
  });
  afterAll(async () => {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const session: Session = {
    get namespace() {
      return `test-${count}`;
    },
    run: (...args) => execute(environment, undefined, args),
    runWith: (stdin, ...args) => execute(environment, stdin, args),
    runIn: (more, ...args) => execute({ ...environment, ...more }, undefined, args),
    start: (...args) => begin(environment, args),
    succeeded(args, { code, stdout, stderr }) {
      if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
      return stdout;
    },
    kubectl: async (...args) => session.succeeded(args, await session.run(...args)),
    here: (...args) => session.kubectl('-n', session.namespace, ...args),
    dataOf: async (name) =>
      JSON.parse((await session.here('get', 'configmap', name, '-o', 'jsonpath={.data}')) || '{}'),
    async file(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
  };
  return session;
}

function execute(env: Environment, stdin: string | undefined, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      KUBECTL,
      [...args],
      { env, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end(stdin);
  });
}

function begin(env: Environment, args: readonly string[]): Running {
  const child = spawn(KUBECTL, [...args], { env });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    stdout: () => printed,
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  };
}
