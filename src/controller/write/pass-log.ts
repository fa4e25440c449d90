import type { Clock } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { Logger } from '../../telemetry/logger.ts';

/** Most writes of a pass for which each gets a line at `info`. */
const SMALL_PASS = 8;
const WRITES_PER_LINE = 100;

/**
 * Logs what one pass has written: a line for each companion of a small pass, a line for each
 * hundred of a large one. At `debug` a large pass has a line for each, too.
 */
export class PassLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #source: ObjectKey;
  readonly #isSmall: boolean;
  /** Writes that have not ended. */
  #left: number;
  #counts: Partial<Record<Step['action'], number>> = {};
  #counted = 0;
  #since: number;

  /** `writes`: how many the pass will make. */
  constructor(log: Logger, clock: Clock, source: ObjectKey, writes: number) {
    this.#log = log;
    this.#clock = clock;
    this.#source = source;
    this.#isSmall = writes <= SMALL_PASS;
    this.#left = writes;
    this.#since = clock.now();
  }

  /** A write has succeeded. `begunAt`: when it began, on the clock. */
  wrote(companion: ObjectKey, done: Step['action'], reason: string, begunAt: number): void {
    const fields = { source: this.#source, companion, reason, durationMs: this.#msSince(begunAt) };
    this.#log[this.#isSmall ? 'info' : 'debug'](fields, WRITTEN[done]);
    this.#counts[done] = (this.#counts[done] ?? 0) + 1;
    this.#counted += 1;
  }

  /** A write has ended, well or not. */
  ended(): void {
    this.#left -= 1;
    const isDue = this.#counted === WRITES_PER_LINE || (this.#left === 0 && this.#counted > 0);
    if (!this.#isSmall && isDue) this.#sum();
  }

  #sum(): void {
    const {
      create: created,
      update: updated,
      replace: replaced,
      delete: deleted,
      none: inSync,
    } = this.#counts;
    const fields = { source: this.#source, created, updated, replaced, deleted, inSync };
    this.#log.info({ ...fields, durationMs: this.#msSince(this.#since) }, 'companions written');
    this.#counts = {};
    this.#counted = 0;
    this.#since = this.#clock.now();
  }

  #msSince(reading: number): number {
    return Math.round(this.#clock.now() - reading);
  }
}

const WRITTEN = {
  create: 'companion created',
  update: 'companion updated',
  replace: 'companion replaced',
  delete: 'companion deleted',
  defer: 'companion left to another source',
  none: 'companion already in sync',
} as const satisfies Record<Step['action'], string>;
