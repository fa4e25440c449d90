import { setTimeout as delay } from 'node:timers/promises';
import type { Mirror } from '../controller/player.ts';
import type { Replica } from '../leaderelection/replica.ts';
import type { Replicas } from '../leaderelection/replicas.ts';
import { type MetricFamily, parseExposition } from '../support/exposition.ts';
import { freePorts } from '../support/free-ports.ts';
import { waitFor } from '../support/wait-for.ts';

export type Metrics = ReadonlyMap<string, MetricFamily>;

/** Time limit (ms) of a scrape. */
const SCRAPE_MS = 2_000;

interface Running {
  readonly replica: Replica;
  readonly httpPort: number;
}

/**
 * Two replicas, each in its place: one that has ended is replaced. What `Mirror` asks for is asked
 * of whichever leads.
 */
export class Pair implements Mirror {
  /**
   * In real time: a wait of 30 s for a name that becomes free unseen, one of up to 60 s in a fight,
   * or a call that gets no answer for 30 s.
   */
  readonly deadlineMs = 180_000;
  readonly #replicas: Replicas;
  readonly #running = new Map<number, Running>();
  /** What should not have happened. */
  readonly faults: string[] = [];

  static async start(replicas: Replicas): Promise<Pair> {
    const pair = new Pair(replicas);
    for (const place of [0, 1]) await pair.#start(place);
    return pair;
  }

  private constructor(replicas: Replicas) {
    this.#replicas = replicas;
  }

  get running(): readonly Replica[] {
    return [...this.#running.values()].map(({ replica }) => replica);
  }

  start(): void {
    // They run always.
  }

  stop(): Promise<void> {
    throw new Error('a pair goes on running');
  }

  silence(): void {
    throw new Error('the proxy does that');
  }

  /** Waits until one of the two leads, and has nothing left to do. */
  async settle(): Promise<void> {
    const isSettled = async () => {
      const [leader, ...others] = (await this.scrapes()).filter(({ metrics }) => isLeader(metrics));
      return leader !== undefined && others.length === 0 && isIdle(leader.metrics);
    };
    await this.#replicas.world.settle({ isSettled }, { namespaces: true });
    for (const { replica, httpPort } of this.#running.values()) {
      const isHealthy = () => fetch(`http://127.0.0.1:${httpPort}/healthz`).then(({ ok }) => ok);
      await waitFor(isHealthy, {
        deadlineMs: this.deadlineMs,
        describe: () => `${replica.name} to be healthy; it logged\n${replica.logTail()}`,
      });
    }
  }

  async terminate(place: number): Promise<void> {
    await this.#replace(place, async ({ replica }) => {
      replica.signal('TERM');
      const code = await replica.ended();
      // Without a line it had not begun to listen to signals.
      if (code !== 0 && replica.log.length > 0)
        this.faults.push(`${replica.name} ended with ${code}:\n${replica.logTail()}`);
    });
  }

  async kill(place: number): Promise<void> {
    await this.#replace(place, ({ replica }) => replica.kill());
  }

  /** Stops one and lets it go on later. */
  async pause(place: number, forMs: number): Promise<void> {
    const running = this.#running.get(place);
    running?.replica.signal('STOP');
    await delay(forMs);
    running?.replica.signal('CONT');
  }

  /** Of those that answer. */
  async scrapes(): Promise<readonly { readonly pod: string; readonly metrics: Metrics }[]> {
    const scrapes = [...this.#running.values()].map(async ({ replica, httpPort }) => {
      const signal = AbortSignal.timeout(SCRAPE_MS);
      try {
        const response = await fetch(`http://127.0.0.1:${httpPort}/metrics`, { signal });
        return [{ pod: replica.name, metrics: parseExposition(await response.text()) }];
      } catch {
        return [];
      }
    });
    return (await Promise.all(scrapes)).flat();
  }

  async #replace(place: number, end: (running: Running) => Promise<void>): Promise<void> {
    const running = this.#running.get(place);
    if (running !== undefined) await end(running);
    await this.#start(place);
  }

  async #start(place: number): Promise<void> {
    const [httpPort = 0] = await freePorts(1);
    this.#running.set(place, { replica: this.#replicas.start({ httpPort }), httpPort });
  }
}

function isLeader(metrics: Metrics): boolean {
  return sum(metrics, 'leader_election_master_status') === 1;
}

function isIdle(metrics: Metrics): boolean {
  const left = ['mirror_oldest_unsynced_seconds', 'workqueue_depth', 'workqueue_unfinished_work_seconds'];
  return left.every((name) => sum(metrics, name) === 0);
}

/** Over all series of a metric. */
export function sum(metrics: Metrics, name: string): number {
  return [...(metrics.get(name)?.series.values() ?? [])].reduce((total, value) => total + value, 0);
}
