import { type Clock, sleep } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import type { Step } from '../mirror/plan/step.ts';
import type { ClusterView } from '../mirror/plan/view.ts';
import type { Lane, WorkQueue } from '../workqueue/queue.ts';
import type { CompanionWrites, Pass, Wait } from './companion-writes.ts';
import { mostRecent } from './recency.ts';
import type { Reports } from './reports.ts';
import type { Desired, WriteStep } from './step-runner.ts';
import { SupersededError } from './write-limiter.ts';

export interface PassResult {
  /** When to come back if nothing changes, milliseconds; undefined: then there is nothing more to do. */
  readonly requeueAfterMs: number | undefined;
  /** Whether something failed that may yet succeed; what only waits for somebody else does not count. */
  readonly unfinished: boolean;
  /** Whether the pass ended before its plan did: another one must follow, in the bulk lane. */
  readonly more: boolean;
}

/** Most writes in one pass. */
export interface WritesPerPass {
  /** Of a key that came in the fresh lane; a source with more to write has a fan-out. */
  readonly fresh: number;
  /** The fresh writes with which a fan-out begins. */
  readonly leading: number;
  readonly bulk: number;
}

/**
 * So long the rest of a fan-out lets the writes with which it begins go first, milliseconds, unless one of them is answered
 * before. Without it the first companion comes a third later; to wait for the answer itself leaves the API server with
 * little to do, and may take 30 s (docs/performance.md).
 */
const HEAD_START_MS = 3;

/**
 * A pass in the fresh lane is short, whatever the source: the rest of its fan-out is bulk, and what it begins with is in
 * everybody's way for a moment. One in the bulk lane is long enough that planning anew costs little beside its writes.
 */
export const WRITES_PER_PASS: WritesPerPass = { fresh: 8, leading: 4, bulk: 1000 };
/** A dry run changes nothing, so that every pass would begin with the same steps. */
const ALL = Number.POSITIVE_INFINITY;
export const UNLIMITED: WritesPerPass = { fresh: ALL, leading: ALL, bulk: ALL };

/** The pass that is under way, for writes in a lane. */
type PassIn = (lane: Lane, options?: { readonly leadsBulk: boolean }) => Pass;

/** There is nothing to do but to wait for changes. */
export const DONE: PassResult = { requeueAfterMs: undefined, unfinished: false, more: false };

export interface PassRunnerDeps {
  readonly view: ClusterView;
  readonly writes: CompanionWrites;
  readonly reports: Reports;
  /** Asked whether the key has been queued again as fresh, whether its pass may go on as bulk, and whether all stops. */
  readonly queue: Pick<WorkQueue<ObjectKey>, 'isAwaited' | 'demote' | 'shuttingDown'>;
  readonly clock: Clock;
  readonly writesPerPass: WritesPerPass;
}

/** The plan of one pass over a source. */
export interface PassPlan {
  readonly key: ObjectKey;
  /** As the plan was made from it; undefined when it is gone. */
  readonly source: ObservedConfigMap | undefined;
  readonly steps: readonly Step[];
  /** Undefined where nothing is to be created or updated. */
  readonly desired: Desired | undefined;
}

/**
 * Carries out a plan as far as it should go at once: reports what is left alone, sets aside what has to wait, and gives way
 * to whoever waits for a fresh change (SPEC Q2).
 */
export class PassRunner {
  readonly #deps: PassRunnerDeps;

  constructor(deps: PassRunnerDeps) {
    this.#deps = deps;
  }

  /** Never rejects: writes that failed are in the result. */
  async run(plan: PassPlan, lane: Lane): Promise<PassResult> {
    const { writes, writesPerPass: most } = this.#deps;
    const steps = this.#toBeWritten(plan);
    if (steps.length === 0) return DONE;
    const { key, source, desired } = plan;
    const passIn: PassIn = (writeLane, { leadsBulk } = { leadsBulk: false }) => ({
      source: key,
      sourceVersion: source === undefined ? '' : `${source.uid}/${source.resourceVersion}`,
      desired,
      turn: { lane: writeLane, leadsBulk, check: () => this.#checkTurn(plan, writeLane) },
    });
    const pass = passIn(lane);
    // What must wait is set aside first, so that it takes no place in the pass from what need not.
    const held: Wait[] = [];
    const ready: WriteStep[] = [];
    for (const step of steps) {
      const wait = writes.holdOf(step, pass);
      if (wait === undefined) ready.push(step);
      else held.push(wait);
    }
    if (lane === 'fresh' && ready.length > most.fresh) return this.#fanOut(key, ready, held, passIn);
    const waits = await writes.attempt(ready.slice(0, most[lane]), pass);
    return combine([...held, ...waits], ready.length > most[lane]);
  }

  /** The steps that write; of the others it is told why they do not, and what was remembered of them is forgotten. */
  #toBeWritten({ key, steps }: PassPlan): readonly WriteStep[] {
    const { reports, writes } = this.#deps;
    const toBeWritten: WriteStep[] = [];
    for (const step of steps) {
      if (step.action === 'none') reports.leftAlone(key, step);
      else toBeWritten.push(step);
    }
    reports.keepOnly(key, steps);
    writes.keepOnly(key, toBeWritten);
    return toBeWritten;
  }

  /** Begins in the fresh lane, for who waits for the change, and leaves the rest to the bulk lane. */
  async #fanOut(
    key: ObjectKey,
    ready: readonly WriteStep[],
    held: readonly Wait[],
    passIn: PassIn,
  ): Promise<PassResult> {
    const { view, writes, queue, clock, writesPerPass: most } = this.#deps;
    const first = mostRecent(ready, most.leading, view);
    const leading = passIn('fresh', { leadsBulk: true });
    const begun = first.map((step) => writes.attempt([step], leading));
    const isOver = new AbortController();
    await Promise.race([...begun, sleep(clock, HEAD_START_MS, isOver.signal)]);
    isOver.abort();
    const mayGoOn = queue.demote(key);
    const rest = mayGoOn ? ready.filter((step) => !first.includes(step)).slice(0, most.bulk) : [];
    const waits = await Promise.all([...begun, writes.attempt(rest, passIn('bulk'))]);
    return combine([...held, ...waits.flat()], ready.length > first.length + rest.length);
  }

  /** Throws when the rest of a pass is better left to the next one. */
  #checkTurn({ key, source }: PassPlan, lane: Lane): void {
    const { view, queue } = this.#deps;
    if (queue.shuttingDown) throw new SupersededError('the controller stops');
    const now = view.configMap(key);
    const changed = source?.request === undefined ? now?.request !== undefined : now !== source;
    if (changed) throw new SupersededError('the source has changed');
    if (lane === 'bulk' && queue.isAwaited(key)) throw new SupersededError('a fresh change waits');
  }
}

/** For each that waits the next pass comes a moment later, one second at most, so that it finds several of them due. */
const SLACK_PER_WAIT_MS = 1;
const MOST_SLACK_MS = 1000;

function combine(waiting: readonly Wait[], more: boolean): PassResult {
  const unfinished = waiting.some((wait) => wait.unfinished);
  const slackMs = Math.min(MOST_SLACK_MS, (waiting.length - 1) * SLACK_PER_WAIT_MS);
  const nextMs = waiting.reduce((least, wait) => Math.min(least, wait.ms), Number.POSITIVE_INFINITY);
  return { requeueAfterMs: Number.isFinite(nextMs) ? nextMs + slackMs : undefined, unfinished, more };
}
