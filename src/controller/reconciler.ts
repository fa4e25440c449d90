import { type Clock, sleep } from '../clock/clock.ts';
import type { ConfigMapApi } from '../kube/config-maps.ts';
import { isNotFound } from '../kube/errors.ts';
import { type ObjectKey, splitKey } from '../kube/object-key.ts';
import { companionShape } from '../mirror/companion.ts';
import type { Content } from '../mirror/digest.ts';
import { type ObservedConfigMap, observe } from '../mirror/observed.ts';
import { mayDelete } from '../mirror/ownership.ts';
import { planSource } from '../mirror/plan.ts';
import { planOrphans } from '../mirror/removal.ts';
import type { MirrorRequest } from '../mirror/request.ts';
import type { Step } from '../mirror/step.ts';
import type { ClusterView } from '../mirror/view.ts';
import type { Lane } from '../workqueue/queue.ts';
import type { CompanionWrites, Pass, Wait } from './companion-writes.ts';
import { mostRecent } from './recency.ts';
import type { Reports } from './reports.ts';
import { type SourceBodies, StaleSourceError } from './source-bodies.ts';
import type { Desired, WriteStep } from './step-runner.ts';
import { SupersededError } from './write-limiter.ts';

export interface ReconcileResult {
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

/** The pass that is under way, for writes in a lane. */
type PassIn = (lane: Lane, options?: { readonly leadsBulk: boolean }) => Pass;

const DONE: ReconcileResult = { requeueAfterMs: undefined, unfinished: false, more: false };

/**
 * Makes true what a source asks for. Level-triggered: it is told a source key, not what happened, computes what should
 * be from the caches, and writes the difference (SPEC R1).
 */
export class Reconciler {
  readonly #view: ClusterView;
  readonly #api: Pick<ConfigMapApi, 'get'>;
  readonly #bodies: SourceBodies;
  readonly #writes: CompanionWrites;
  readonly #reports: Reports;
  readonly #namespacesKnown: () => boolean;
  readonly #stopping: () => boolean;
  readonly #clock: Clock;
  readonly #writesPerPass: WritesPerPass;
  readonly #awaited: (key: ObjectKey) => boolean;
  readonly #demote: (key: ObjectKey) => boolean;

  constructor(deps: {
    readonly view: ClusterView;
    readonly api: Pick<ConfigMapApi, 'get'>;
    readonly bodies: SourceBodies;
    readonly writes: CompanionWrites;
    readonly reports: Reports;
    /** Whether the view knows the namespaces: before, a source that targets some cannot be judged. */
    readonly namespacesKnown: () => boolean;
    /** Whether the controller is being stopped: then no further write may leave. */
    readonly stopping: () => boolean;
    readonly clock: Clock;
    readonly writesPerPass: WritesPerPass;
    /** Whether the source, while it is reconciled, has been queued again as fresh. */
    readonly awaited: (key: ObjectKey) => boolean;
    /** Asks whether the pass over the source, which came in the fresh lane, may go on in the bulk lane. */
    readonly demote: (key: ObjectKey) => boolean;
  }) {
    this.#view = deps.view;
    this.#api = deps.api;
    this.#bodies = deps.bodies;
    this.#writes = deps.writes;
    this.#reports = deps.reports;
    this.#namespacesKnown = deps.namespacesKnown;
    this.#stopping = deps.stopping;
    this.#clock = deps.clock;
    this.#writesPerPass = deps.writesPerPass;
    this.#awaited = deps.awaited;
    this.#demote = deps.demote;
  }

  /**
   * One pass over one source and its companions. Never two at once for one key: the queue sees to that.
   * @throws what a read of the source throws; failed writes are in the result instead.
   */
  async reconcile(key: ObjectKey, lane: Lane): Promise<ReconcileResult> {
    const { namespaces } = this.#view.settings.bounds;
    // A companion may refer to a source that another controller looks after (SPEC P2).
    if (namespaces !== undefined && !namespaces.has(splitKey(key).namespace)) return DONE;
    const source = this.#view.configMap(key);
    if (source?.request === undefined) return this.#reconcileOrphans(key, lane);
    if (!source.request.ok) {
      this.#reports.invalidSource(key, source.request.problem);
      return DONE;
    }
    this.#reports.validSource(key);
    return this.#reconcileSource(source, source.request.value, lane);
  }

  async #reconcileSource(
    source: ObservedConfigMap,
    request: MirrorRequest,
    lane: Lane,
  ): Promise<ReconcileResult> {
    // They come soon, and every source that targets namespaces is enqueued then.
    if (request.targets !== undefined && !this.#namespacesKnown()) return DONE;
    const shape = companionShape(source, request, this.#view.settings.vocabulary);
    const steps = planSource(shape, this.#view);
    let content: Promise<Content> | undefined;
    const desired: Desired = {
      shape,
      content: () => {
        content ??= this.#bodies.selectedContent(source, request);
        return content;
      },
    };
    return this.#run(source.key, source, steps, desired, lane);
  }

  /** The key is no source's any more; what it left behind is judged after a live read (SPEC R3). */
  async #reconcileOrphans(key: ObjectKey, lane: Lane): Promise<ReconcileResult> {
    const { vocabulary } = this.#view.settings;
    this.#bodies.forget(key);
    this.#reports.validSource(key);
    const identity = { key, uid: undefined };
    if (!this.#view.referrers(identity).some((object) => mayDelete(object, identity, vocabulary))) {
      this.#reports.keepOnly(key, []);
      this.#writes.keepOnly(key, []);
      return DONE;
    }
    const live = await this.#liveSource(key);
    if (live?.request !== undefined)
      throw new StaleSourceError('the source is there, and not in the cache yet');
    return this.#run(key, live, planOrphans(key, live, this.#view), undefined, lane);
  }

  async #liveSource(key: ObjectKey): Promise<ObservedConfigMap | undefined> {
    try {
      return observe(await this.#api.get(key), this.#view.settings.vocabulary);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #run(
    key: ObjectKey,
    source: ObservedConfigMap | undefined,
    steps: readonly Step[],
    desired: Desired | undefined,
    lane: Lane,
  ): Promise<ReconcileResult> {
    const writes: WriteStep[] = [];
    for (const step of steps) {
      if (step.action === 'none') this.#reports.leftAlone(key, step, isNamed(step, desired));
      else writes.push(step);
    }
    this.#reports.keepOnly(key, steps);
    this.#writes.keepOnly(key, writes);
    if (writes.length === 0) return DONE;
    const passIn: PassIn = (writeLane, { leadsBulk } = { leadsBulk: false }) => ({
      source: key,
      sourceVersion: source === undefined ? '' : `${source.uid}/${source.resourceVersion}`,
      desired,
      turn: { lane: writeLane, leadsBulk, check: () => this.#checkTurn(key, source, writeLane) },
    });
    const pass = passIn(lane);
    // What must wait is set aside first, so that it takes no place in the pass from what need not.
    const held: Wait[] = [];
    const ready: WriteStep[] = [];
    for (const step of writes) {
      const wait = this.#writes.holdOf(step, pass);
      if (wait === undefined) ready.push(step);
      else held.push(wait);
    }
    const most = this.#writesPerPass;
    if (lane === 'fresh' && ready.length > most.fresh) return this.#fanOut(key, ready, held, passIn);
    const waits = await this.#writes.attempt(ready.slice(0, most[lane]), pass);
    return combine([...held, ...waits], ready.length > most[lane]);
  }

  /** Begins in the fresh lane, for who waits for the change, and leaves the rest to the bulk lane. */
  async #fanOut(
    key: ObjectKey,
    ready: readonly WriteStep[],
    held: readonly Wait[],
    passIn: PassIn,
  ): Promise<ReconcileResult> {
    const most = this.#writesPerPass;
    const first = mostRecent(ready, most.leading, this.#view);
    const leading = passIn('fresh', { leadsBulk: true });
    const begun = first.map((step) => this.#writes.attempt([step], leading));
    const isOver = new AbortController();
    await Promise.race([...begun, sleep(this.#clock, HEAD_START_MS, isOver.signal)]);
    isOver.abort();
    const rest = this.#demote(key) ? ready.filter((step) => !first.includes(step)).slice(0, most.bulk) : [];
    const waits = await Promise.all([...begun, this.#writes.attempt(rest, passIn('bulk'))]);
    return combine([...held, ...waits.flat()], ready.length > first.length + rest.length);
  }

  /** Throws when the rest of a pass is better left to the next one. */
  #checkTurn(key: ObjectKey, source: ObservedConfigMap | undefined, lane: Lane): void {
    if (this.#stopping()) throw new SupersededError('the controller stops');
    const now = this.#view.configMap(key);
    const changed = source?.request === undefined ? now?.request !== undefined : now !== source;
    if (changed) throw new SupersededError('the source has changed');
    if (lane === 'bulk' && this.#awaited(key)) throw new SupersededError('a fresh change waits');
  }
}

/** Whether the source names the companion's namespace, and not only a pattern that it matches. */
function isNamed({ companion }: Step, desired: Desired | undefined): boolean {
  const targets = desired?.shape.request.targets;
  return targets === undefined || targets.patterns.names.has(splitKey(companion).namespace);
}

/** For each that waits the next pass comes a moment later, one second at most, so that it finds several of them due. */
const SLACK_PER_WAIT_MS = 1;
const MOST_SLACK_MS = 1000;

function combine(waiting: readonly Wait[], more: boolean): ReconcileResult {
  const unfinished = waiting.some((wait) => wait.unfinished);
  const slackMs = Math.min(MOST_SLACK_MS, (waiting.length - 1) * SLACK_PER_WAIT_MS);
  const nextMs = waiting.reduce((least, wait) => Math.min(least, wait.ms), Number.POSITIVE_INFINITY);
  return { requeueAfterMs: Number.isFinite(nextMs) ? nextMs + slackMs : undefined, unfinished, more };
}
