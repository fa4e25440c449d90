import type { Clock } from '../clock/clock.ts';
import type { Counter, Histogram, Metrics } from '../telemetry/metrics.ts';

/** client-go's buckets: from 10 ns, each ten times the one before. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

/**
 * Measures one workqueue, under client-go's names and with its meanings:
 * https://pkg.go.dev/k8s.io/client-go/util/workqueue#MetricsProvider
 */
export class QueueMetrics {
  readonly #clock: Clock;
  /** Keys that need processing, by the time (ms) since when. */
  readonly #addedAt = new Map<string, number>();
  /** Keys that are being processed. */
  readonly #begunAt = new Map<string, number>();
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #queueDuration: Histogram;
  readonly #workDuration: Histogram;

  /** `name`: of the queue. One for each name. */
  constructor(name: string, metrics: Metrics, clock: Clock) {
    this.#clock = clock;
    const labels = { name: [name] };
    const counter = (of: string, help: string) =>
      metrics.counter({ name: `workqueue_${of}`, help, labels }).with(name);
    const histogram = (of: string, help: string) =>
      metrics.histogram({ name: `workqueue_${of}`, help, labels, buckets: BUCKETS }).with(name);
    const gauge = (of: string, help: string, read: () => number) =>
      metrics.gauge({
        name: `workqueue_${of}`,
        help,
        label: 'name',
        read: () => new Map([[name, read()]]),
      });
    this.#adds = counter('adds_total', 'Keys added to the queue.');
    this.#retries = counter('retries_total', 'Keys added with a delay, which may be 0.');
    this.#queueDuration = histogram('queue_duration_seconds', 'Time that a key waits in the queue.');
    this.#workDuration = histogram('work_duration_seconds', 'Time that the processing of a key takes.');
    gauge('depth', 'Keys that wait.', () => this.#addedAt.size);
    gauge('unfinished_work_seconds', 'Sum of the times for which keys have been processed so far.', () =>
      this.#unfinished().reduce((sum, seconds) => sum + seconds, 0),
    );
    gauge(
      'longest_running_processor_seconds',
      'Longest time for which a key has been processed so far.',
      () => Math.max(0, ...this.#unfinished()),
    );
  }

  /** A key that did not wait was added. */
  added(key: string): void {
    this.#adds.inc();
    this.#addedAt.set(key, this.#clock.now());
  }

  retried(): void {
    this.#retries.inc();
  }

  /** The processing of a key has begun. */
  begun(key: string): void {
    const now = this.#clock.now();
    this.#queueDuration.observe((now - (this.#addedAt.get(key) ?? now)) / 1000);
    this.#addedAt.delete(key);
    this.#begunAt.set(key, now);
  }

  ended(key: string): void {
    const now = this.#clock.now();
    this.#workDuration.observe((now - (this.#begunAt.get(key) ?? now)) / 1000);
    this.#begunAt.delete(key);
  }

  #unfinished(): readonly number[] {
    const now = this.#clock.now();
    return Array.from(this.#begunAt.values(), (begunAt) => (now - begunAt) / 1000);
  }
}
