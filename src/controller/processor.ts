import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { RateLimitingQueue } from '../workqueue/rate-limiting-queue.ts';
import { describeError, isOutage, judge } from './failure.ts';
import type { Reconciler } from './reconciler.ts';
import type { Reports } from './reports.ts';

/** A key that has failed so often in a row, over about ten seconds, is not waited for by {@link Processor.isSettled}. */
const GIVE_UP_AFTER = 8;

export interface ProcessorDeps {
  readonly queue: RateLimitingQueue<ObjectKey>;
  readonly reconciler: Pick<Reconciler, 'reconcile'>;
  readonly reports: Reports;
  readonly log: Logger;
}

/**
 * What the workers do with a key: reconcile it, and decide when it comes back. Companions that failed have delays of
 * their own (`attempts.ts`); the soonest of them comes with the result of a pass.
 */
export class Processor {
  readonly #deps: ProcessorDeps;
  readonly #inFlight = new Set<ObjectKey>();
  /** How often in a row a pass over the key left something that may yet succeed. */
  readonly #unfinished = new Map<ObjectKey, number>();

  constructor(deps: ProcessorDeps) {
    this.#deps = deps;
  }

  /** Never rejects. */
  async process(key: ObjectKey): Promise<void> {
    const { queue, reconciler } = this.#deps;
    this.#inFlight.add(key);
    try {
      const { requeueAfterMs, unfinished, more } = await reconciler.reconcile(key, queue.laneOf(key));
      queue.forget(key);
      this.#note(key, unfinished);
      if (more) queue.add(key, 'bulk');
      else if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
    } catch (error) {
      this.#note(key, true);
      this.#retry(key, error);
    } finally {
      this.#inFlight.delete(key);
    }
  }

  /** Nothing is queued or under way, and nothing that failed is likely to succeed soon. */
  isSettled(): boolean {
    if (this.#deps.queue.length > 0 || this.#inFlight.size > 0) return false;
    return [...this.#unfinished.values()].every((failures) => failures >= GIVE_UP_AFTER);
  }

  /** The keys of which something failed in the latest pass. */
  get unfinished(): readonly ObjectKey[] {
    return [...this.#unfinished.keys()];
  }

  #note(key: ObjectKey, unfinished: boolean): void {
    if (unfinished) this.#unfinished.set(key, (this.#unfinished.get(key) ?? 0) + 1);
    else if (this.#unfinished.delete(key) && this.#unfinished.size === 0) this.#deps.reports.serverAnswers();
  }

  #retry(key: ObjectKey, error: unknown): void {
    const { queue, reports, log } = this.#deps;
    const { failure, quiet } = judge(error);
    const notBeforeMs = failure.kind === 'transient' ? failure.retryAfterMs : undefined;
    const retryInMs = Math.round(queue.addRateLimited(key, { notBeforeMs }));
    const fields = { source: key, err: describeError(error), retryInMs };
    const outage = isOutage(error);
    // An outage is told once, for all keys.
    if (outage) reports.serverFails(error);
    log[outage || quiet ? 'debug' : 'warn'](fields, 'reconcile failed; retrying');
  }
}
