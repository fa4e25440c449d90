import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import type { LogFields, Logger } from '../../src/telemetry/logger.ts';
import { WorkQueue } from '../../src/workqueue/queue.ts';
import { Workers } from '../../src/workqueue/workers.ts';
import { ManualClock } from '../support/manual-clock.ts';

const DRAIN_MS = 10_000;

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps its lines. */
function recordingLogger(lines: LogLine[]): Logger {
  const at = (level: string) => (fields: LogFields, message: string) => {
    lines.push({ level, message, fields });
  };
  const logger: Logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => logger,
  };
  return logger;
}

/** Workers that process each key until the test ends it. */
class Scene {
  readonly clock = new ManualClock();
  readonly queue = new WorkQueue();
  readonly log: LogLine[] = [];
  /** Keys in the order in which they started. */
  readonly started: string[] = [];
  stopped = false;
  readonly workers: Workers<string>;
  readonly #endings = new Map<string, (error?: Error) => void>();
  readonly #stop = new AbortController();

  constructor(concurrency: number) {
    this.workers = new Workers({
      source: this.queue,
      concurrency,
      drainMs: DRAIN_MS,
      clock: this.clock,
      log: recordingLogger(this.log),
      process: (key) => this.#process(key),
    });
    void this.workers.run(this.#stop.signal).then(() => {
      this.stopped = true;
    });
  }

  get inFlight(): readonly string[] {
    return [...this.#endings.keys()];
  }

  add(...keys: readonly string[]): void {
    for (const key of keys) this.queue.add(key);
  }

  async end(key: string, error?: Error): Promise<void> {
    const end = this.#endings.get(key);
    this.#endings.delete(key);
    end?.(error);
    await turn();
  }

  stop(): void {
    this.#stop.abort();
  }

  #process(key: string): Promise<void> {
    this.started.push(key);
    return new Promise((resolve, reject) => {
      this.#endings.set(key, (error) => (error === undefined ? resolve() : reject(error)));
    });
  }
}

describe('Workers', () => {
  it('[L3] say so when one of them dies, and hand out nothing more', async () => {
    const queue = new WorkQueue();
    const source = {
      get: async (): Promise<string> => {
        throw new Error('a fault in the queue');
      },
      done: () => undefined,
      lend: () => undefined,
      shutDown: () => queue.shutDown(),
    };
    const clock = new ManualClock();
    const log = recordingLogger([]);
    const process = async () => undefined;
    const workers = new Workers({ source, process, concurrency: 2, drainMs: DRAIN_MS, clock, log });
    const running = workers.run(new AbortController().signal);
    await expect(running).rejects.toThrow('a fault in the queue');
    expect(queue.shuttingDown).toBe(true);
  });

  it('[Q1] process as many keys at once as allowed, and the next when one ends', async () => {
    const scene = new Scene(2);
    scene.add('a', 'b', 'c', 'd');
    await turn();
    expect(scene.inFlight).toEqual(['a', 'b']);
    await scene.end('b');
    expect(scene.inFlight).toEqual(['a', 'c']);
  });

  it('[Q2] leave keys that cannot start in the queue, where a fresh key still overtakes', async () => {
    const scene = new Scene(1);
    scene.add('a');
    scene.queue.add('bulk', 'bulk');
    await turn();
    expect(scene.queue.length).toBe(1);
    scene.add('fresh');
    await scene.end('a');
    expect(scene.inFlight).toEqual(['fresh']);
  });

  it('[Q1] process a key again after its run if it was added meanwhile', async () => {
    const scene = new Scene(2);
    scene.add('a');
    await turn();
    scene.add('a');
    await turn();
    expect(scene.started).toEqual(['a']);
    await scene.end('a');
    expect(scene.started).toEqual(['a', 'a']);
  });

  it('[Q1] log an error that a key throws, mark the key as done, and go on', async () => {
    const scene = new Scene(1);
    scene.add('a', 'b');
    await turn();
    const error = new Error('a fault');
    await scene.end('a', error);
    expect(scene.inFlight).toEqual(['b']);
    expect(scene.log).toEqual([
      { level: 'error', message: expect.any(String), fields: { item: 'a', err: error } },
    ]);
    scene.add('a');
    await scene.end('b');
    expect(scene.inFlight).toEqual(['a']);
  });

  it('[O2] know how long the oldest item has been processed, and since when none has ended', async () => {
    const scene = new Scene(2);
    const ages = () => [scene.workers.oldestMs(), scene.workers.stalledMs()];
    expect(ages()).toEqual([0, 0]);
    scene.add('a', 'b', 'c');
    await scene.clock.advance(100);
    expect(ages()).toEqual([100, 100]);
    await scene.end('b');
    await scene.clock.advance(100);
    expect(ages()).toEqual([200, 100]);
    await scene.end('a');
    await scene.end('c');
    await scene.clock.advance(100);
    expect(ages()).toEqual([0, 0]);
  });

  it('[Q3] after a stop start nothing new, and end when what is in flight has ended', async () => {
    const scene = new Scene(2);
    scene.add('a', 'b', 'c');
    await turn();
    scene.stop();
    await scene.end('a');
    scene.add('d');
    await scene.clock.advance(DRAIN_MS - 1);
    expect(scene.stopped).toBe(false);
    await scene.end('b');
    expect(scene.stopped).toBe(true);
    expect(scene.started).toEqual(['a', 'b']);
    expect(scene.log).toEqual([]);
    expect(scene.clock.pendingTimers).toBe(0);
  });

  it('[Q3] after a stop wait no longer than the drain time, and log it', async () => {
    const scene = new Scene(2);
    scene.add('a', 'b', 'c');
    await turn();
    scene.stop();
    await scene.clock.advance(DRAIN_MS - 1);
    expect(scene.stopped).toBe(false);
    await scene.clock.advance(1);
    expect(scene.stopped).toBe(true);
    expect(scene.log).toEqual([{ level: 'warn', message: expect.any(String), fields: { items: 2 } }]);
    await scene.end('a');
    expect(scene.started).toEqual(['a', 'b']);
  });

  it('[Q3] end at once if stopped while idle', async () => {
    const scene = new Scene(2);
    await turn();
    scene.stop();
    await turn();
    expect(scene.stopped).toBe(true);
  });

  it('[Q3] do not start a key that is added in the same turn as the stop', async () => {
    const scene = new Scene(2);
    await turn();
    scene.add('a');
    scene.stop();
    await turn();
    expect(scene.started).toEqual([]);
    expect(scene.stopped).toBe(true);
  });

  it('[R16] whose keys get no answer are replaced after half a second', async () => {
    const scene = new Scene(2);
    scene.add('hangs 1', 'hangs 2', 'a');
    await turn();
    await scene.clock.advance(499);
    expect(scene.inFlight).toEqual(['hangs 1', 'hangs 2']);
    await scene.clock.advance(1);
    expect(scene.inFlight).toEqual(['hangs 1', 'hangs 2', 'a']);
    await scene.end('a');
    scene.add('hangs 1', 'b');
    await turn();
    expect(scene.inFlight).toEqual(['hangs 1', 'hangs 2', 'b']);
  });

  it('[R16] are as many as before when the keys that hung have ended', async () => {
    const scene = new Scene(1);
    scene.add('hangs', 'a', 'b');
    await scene.clock.advance(500);
    await scene.end('hangs');
    expect(scene.inFlight).toEqual(['a']);
    await scene.end('a');
    expect(scene.inFlight).toEqual(['b']);
  });

  it('[R16] are replaced again, however many keys have hung and ended', async () => {
    const scene = new Scene(1);
    for (let round = 0; round < 8; round++) {
      scene.add('hangs');
      await turn();
      await scene.clock.advance(500);
      await scene.end('hangs');
    }
    scene.add('hangs', 'a');
    await turn();
    await scene.clock.advance(500);
    expect(scene.inFlight).toEqual(['hangs', 'a']);
  });

  it('[R16] are not replaced for keys that have ended in time', async () => {
    const scene = new Scene(1);
    scene.add('a');
    await turn();
    await scene.end('a');
    await scene.clock.advance(500);
    scene.add('b', 'c');
    await turn();
    expect(scene.inFlight).toEqual(['b']);
  });

  it('[O2] have not been stalled while there was nothing to do', async () => {
    const scene = new Scene(1);
    await scene.clock.advance(3_600_000);
    scene.add('a');
    await turn();
    await scene.clock.advance(100);
    expect(scene.workers.stalledMs()).toBe(100);
  });

  it('[R16] are at most eight times the concurrency if nothing is answered', async () => {
    const scene = new Scene(2);
    scene.add(...Array.from({ length: 100 }, (_, index) => `key-${index}`));
    for (let halfSeconds = 0; halfSeconds < 40; halfSeconds++) await scene.clock.advance(500);
    expect(scene.inFlight).toHaveLength(16);
  });

  it('[R16] [Q2] leave the share of bulk keys that hang to other bulk keys', async () => {
    const queue = new WorkQueue({ bulkLimit: 1 });
    for (const key of ['hangs', 'next', 'last']) queue.add(key, 'bulk');
    await queue.get();
    const next = queue.get();
    queue.lend('hangs');
    expect(await next).toBe('next');
    const last = queue.get();
    queue.done('hangs');
    expect(await Promise.race([last, turn('nothing yet')])).toBe('nothing yet');
    queue.done('next');
    expect(await last).toBe('last');
  });

  it('[W2] let timers and sockets run while they process many keys without I/O', async () => {
    const queue = new WorkQueue();
    const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
    for (const key of keys) queue.add(key);
    let now = 0;
    const clock: Clock = {
      now: () => now,
      wallTime: () => new Date(0),
      setTimer: () => ({ cancel: () => undefined }),
    };
    let processed = 0;
    const process = () => {
      now += 1;
      processed += 1;
      return Promise.resolve();
    };
    const log = recordingLogger([]);
    const stop = new AbortController();
    void new Workers({ source: queue, process, concurrency: 4, drainMs: DRAIN_MS, clock, log }).run(
      stop.signal,
    );

    const processedByTurn: number[] = [];
    while (processed < keys.length) {
      await turn();
      processedByTurn.push(processed);
    }
    stop.abort();
    const longestSlice = Math.max(
      ...processedByTurn.map((count, index) => count - (processedByTurn[index - 1] ?? 0)),
    );
    expect(longestSlice).toBeLessThanOrEqual(10);
  });
});
