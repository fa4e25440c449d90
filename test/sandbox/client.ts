/** A sandbox for each test, and a client for it without a library. */
import { afterEach, beforeEach } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';

export const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
export const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The parts of an answer that tests read. */
export interface Answer {
  readonly kind: string;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly ownerReferences?: readonly unknown[];
  };
  readonly items?: readonly Answer[];
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Answer & { readonly code?: number };
}

export interface Client {
  /** The sandbox of the running test. */
  readonly sandbox: Sandbox;
  /** Replaces it with one with other options. */
  restart(options: Partial<SandboxOptions>): Promise<void>;
  request(path: string, init?: RequestInit): Promise<Response>;
  get(path: string): Promise<Answer>;
  create(name: string, fields?: object): Promise<Response>;
  /** A watch of ConfigMaps, read line by line. */
  watch(query: string): Promise<{
    readonly events: readonly WatchEvent[];
    /** Resolves when it is over for any reason. */
    readonly done: Promise<void>;
    abort(): void;
  }>;
}

/** Call it once in a file, outside of all tests. */
export function useSandbox(): Client {
  let sandbox: Sandbox;
  let uids = 0;
  const start = async (options: Partial<SandboxOptions>) => {
    sandbox = createSandbox({ now: () => new Date(), uid: () => `uid-${++uids}`, ...options });
    await sandbox.start();
  };
  beforeEach(() => start({}));
  afterEach(() => sandbox.stop());

  const request = (path: string, init?: RequestInit) => fetch(sandbox.url + path, init);
  return {
    get sandbox() {
      return sandbox;
    },
    async restart(options) {
      await sandbox.stop();
      await start(options);
    },
    request,
    get: async (path) => (await (await request(path)).json()) as Answer,
    create: (name, fields = {}) =>
      request(CONFIGMAPS, {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify({ metadata: { name }, ...fields }),
      }),
    async watch(query) {
      const stop = new AbortController();
      const response = await request(`${CONFIGMAPS}?watch=true&${query}`, { signal: stop.signal });
      const events: WatchEvent[] = [];
      // An abort rejects the read, which also ends the watch.
      const done = readLines(response, (line) => events.push(JSON.parse(line))).catch(() => undefined);
      return { events, done, abort: () => stop.abort() };
    },
  };
}

/** The resourceVersion of the object at `path`. */
export async function versionOf(client: Client, path: string): Promise<string> {
  return (await client.get(path)).metadata.resourceVersion ?? '';
}

async function readLines(response: Response, handle: (line: string) => void): Promise<void> {
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) handle(line);
  }
}
