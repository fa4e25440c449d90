import type { Clock } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Step } from '../mirror/plan/step.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A pass of more writes than this has no line at `info` for each. */
const SMALL_PASS = 8;
const WRITES_PER_LINE = 100;

/**
 * Says what one pass has written: a line for each companion in a small pass, a line for each hundred in a large one. Ten
 * thousand lines for one edit help nobody, and writing them takes a twentieth of our processor time; at `debug` they are there.
 */
export class PassLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #source: ObjectKey;
  readonly #isSmall: boolean;
  #counts: Partial<Record<Step['action'], number>> = {};
  #counted = 0;
  #since: number;

  /** `writes`: how many the pass is about to make. */
  constructor(log: Logger, clock: Clock, source: ObjectKey, writes: number) {
    this.#log = log;
    this.#clock = clock;
    this.#source = source;
    this.#isSmall = writes <= SMALL_PASS;
    this.#since = clock.now();
  }

  /** `begunAt`: on the clock's reading. */
  wrote(companion: ObjectKey, done: Step['action'], reason: string, begunAt: number): void {
    const fields = { source: this.#source, companion, reason, durationMs: this.#msSince(begunAt) };
    if (this.#isSmall) {
      this.#log.info(fields, WRITTEN[done]);
      return;
    }
    this.#log.debug(fields, WRITTEN[done]);
    this.#counts[done] = (this.#counts[done] ?? 0) + 1;
    this.#counted += 1;
    if (this.#counted === WRITES_PER_LINE) this.#sum();
  }

  end(): void {
    if (this.#counted > 0) this.#sum();
  }

  #sum(): void {
    const { create, update, replace, delete: deleted, none } = this.#counts;
    const fields = { created: create, updated: update, replaced: replace, deleted, asTheyShouldBe: none };
    const durationMs = this.#msSince(this.#since);
    this.#log.info({ source: this.#source, ...fields, durationMs }, 'companions written');
    this.#counts = {};
    this.#counted = 0;
    this.#since = this.#clock.now();
  }

  #msSince(reading: number): number {
    return Math.round((this.#clock.now() - reading) * 10) / 10;
  }
}

const WRITTEN = {
  create: 'companion created',
  update: 'companion updated',
  replace: 'companion replaced',
  delete: 'companion deleted',
  defer: 'companion left to another source',
  none: 'companion met as it should be',
} as const satisfies Record<Step['action'], string>;
