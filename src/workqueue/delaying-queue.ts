import type { Clock, Timer } from '../clock/clock.ts';
import type { Lane } from './lanes.ts';
import { WorkQueue, type WorkQueueOptions } from './queue.ts';
import type { QueueMetrics } from './queue-metrics.ts';

interface Waiting {
  readonly readyAt: number;
  readonly lane: Lane;
  readonly timer: Timer;
}

export interface DelayingQueueOptions extends WorkQueueOptions {
  readonly clock: Clock;
}

/** A workqueue to which keys can be added later. */
export class DelayingQueue<K extends string = string> extends WorkQueue<K> {
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics | undefined;
  /** At most one wait a key: the earliest that was asked for. */
  readonly #delayed = new Map<K, Waiting>();

  constructor(options: DelayingQueueOptions) {
    super(options);
    this.#clock = options.clock;
    this.#metrics = options.metrics;
  }

  /**
   * Adds `key` in `delayMs` milliseconds (0 or less: now). Of several delays the one that ends
   * first counts, in the better of their lanes. An `add` in the meantime does not call the delay
   * off: it may have been set for a reason of its own. `lane` is by default the one out of which
   * the key is being processed.
   */
  addAfter(key: K, delayMs: number, lane: Lane = this.laneOf(key)): void {
    if (this.shuttingDown) return;
    this.#metrics?.retried();
    if (delayMs <= 0) {
      this.add(key, lane);
      return;
    }

    const before = this.#delayed.get(key);
    const readyAt = this.#clock.now() + delayMs;
    const better = before?.lane === 'fresh' ? 'fresh' : lane;
    if (before !== undefined && before.readyAt <= readyAt) {
      this.#delayed.set(key, { ...before, lane: better });
      return;
    }
    before?.timer.cancel();
    const timer = this.#clock.setTimer(delayMs, () => this.#ready(key));
    this.#delayed.set(key, { readyAt, lane: better, timer });
  }

  override shutDown(): void {
    super.shutDown();
    for (const { timer } of this.#delayed.values()) timer.cancel();
  }

  #ready(key: K): void {
    const lane = this.#delayed.get(key)?.lane;
    this.#delayed.delete(key);
    this.add(key, lane);
  }
}
