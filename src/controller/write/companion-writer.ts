import type { Clock } from '../../clock/clock.ts';
import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { type CompanionShape, desiredEdition, newCompanion } from '../../mirror/companion/companion.ts';
import type { Difference } from '../../mirror/companion/drift.ts';
import { mayDelete } from '../../mirror/companion/ownership.ts';
import { replacement } from '../../mirror/companion/patch.ts';
import { observe } from '../../mirror/observe/observed-config-map.ts';
import { claims } from '../../mirror/plan/claims.ts';
import { planCompanion } from '../../mirror/plan/plan.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import { valuesVersion } from '../../mirror/render/values.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { DelayingQueue } from '../../workqueue/delaying-queue.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import type { Deletions } from '../memory/deletions.ts';
import { BlockedError, describeError, judge, LeavingError } from '../memory/failure.ts';
import type { Heal } from '../memory/happening.ts';
import type { Reports } from '../memory/reports.ts';
import { createFollowed, deleteFollowed, patchFollowed } from './followed-writes.ts';
import type { MutationCache } from './mutation-cache.ts';
import { RevisionWriter } from './revision-writer.ts';
import type { SourceBodies } from './source-bodies.ts';
import type { Pass, Write } from './write-queue.ts';
import type { WriteRate } from './write-rate.ts';
import {
  type CompanionWriteStep,
  intentOf,
  isOfDesired,
  isOfRevision,
  type WriteStep,
} from './write-step.ts';

type Drifted = Extract<CompanionWriteStep, { readonly differences: unknown }>;

export interface CompanionWriterDeps {
  readonly view: ClusterView;
  readonly api: ConfigMapApi;
  readonly bodies: SourceBodies;
  readonly mutations: MutationCache;
  readonly memory: CompanionMemory;
  readonly deletions: Pick<Deletions, 'begins'>;
  readonly reports: Reports;
  /** Gets the keys of sources that need another pass. */
  readonly queue: DelayingQueue<ObjectKey>;
  /** The queue has counted the first request of a step. */
  readonly rate: Pick<WriteRate, 'next'>;
  /** While it returns false, steps are dropped, and `api` sends no write. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The only place that writes to the cluster. It carries out one step of a plan and records how it
 * ended. Each request is safe to repeat and safe to be late: a create fails if an object exists, a
 * patch or a delete if the object has changed (SPEC R2, R8).
 */
export class CompanionWriter {
  readonly #deps: CompanionWriterDeps;
  readonly #revisions: RevisionWriter;

  constructor(deps: CompanionWriterDeps) {
    this.#deps = deps;
    this.#revisions = new RevisionWriter({ ...deps, vocabulary: deps.view.settings.vocabulary });
  }

  /**
   * Makes one write, unless the plan is out of date. Never rejects: after a failure it queues the
   * source again (see `judge`).
   */
  async write({ pass, step }: Write): Promise<void> {
    const { clock, mayWrite } = this.#deps;
    if (!mayWrite() || !this.#isCurrent(pass, step)) {
      pass.report.ended();
      return;
    }
    const begunAt = clock.now();
    try {
      if (isOfRevision(step)) {
        const done = await this.#revisions.write(step, shapeOf(pass).source);
        pass.report.wroteRevision(step, done, begunAt);
        this.#revisionSucceeded(pass, step);
      } else {
        const done = await this.#carryOut(step, pass);
        const { sourceVersion } = intentOf(step, pass);
        pass.report.wrote(step, done, begunAt, this.#healedBy(pass, step, done, sourceVersion));
        this.#succeeded(pass, step, done, sourceVersion);
      }
    } catch (error) {
      // Otherwise the Lease was lost meanwhile, and everything is queued once it is held again.
      if (mayWrite()) this.#failed(pass, step, error, begunAt);
    }
    pass.report.ended();
  }

  /** Whether a plan would still contain the step. If not, the source is queued for another pass. */
  #isCurrent({ key, source, shape, lane }: Pass, step: WriteStep): boolean {
    const { view, queue } = this.#deps;
    const now = view.configMap(key);
    const isSameSource = source?.request === undefined ? now?.request === undefined : now === source;
    const isSameContent =
      shape?.rendering === undefined || valuesVersion(shape.source, view) === shape.rendering.valuesVersion;
    // The event that changed the source or its values has queued it.
    if (!isSameSource || !isSameContent || queue.isAwaited(key)) return false;
    const actual = 'actual' in step ? step.actual : undefined;
    // A permission of its namespace may have changed while the step waited in the write queue.
    const isWanted = shape !== undefined && claims(shape.source, step.companion, view);
    const isSameNamespace = isOfRevision(step) || isOfDesired(step) === isWanted;
    if (isSameNamespace && view.configMap(step.companion) === actual) return true;
    queue.add(key, lane);
    return false;
  }

  /** Set if the write has undone another client's change, seen in the watch or in the companion. */
  #healedBy(
    { key, shape }: Pass,
    step: CompanionWriteStep,
    done: Step,
    sourceVersion: string,
  ): Heal | undefined {
    const { memory, view } = this.#deps;
    const drifted = 'differences' in step && step.differences.some(isContent) ? step : undefined;
    const checksumOf = ({ actual }: Drifted) => actual.annotations[view.settings.vocabulary.sourceChecksum];
    // With the source's checksum and other content, it was edited while the controller was down.
    const hasBeenRight = (drifted: Drifted) =>
      shape !== undefined && checksumOf(drifted) === desiredEdition(drifted.actual.namespace, shape).digest;
    // It holds what was last written, and should hold something else now.
    if (drifted && checksumOf(drifted) === drifted.actual.digest) return undefined;
    const isHeal =
      memory.isHeal(key, step.companion, sourceVersion) || (drifted !== undefined && hasBeenRight(drifted));
    return isHeal && isWrite(done) ? { editedBy: editedBy(done) } : undefined;
  }

  /** The plan depends on the revisions, and the watch event of our own write queues no pass. */
  #revisionSucceeded({ key, lane }: Pass, { companion: revision }: WriteStep): void {
    const { memory, reports, queue } = this.#deps;
    memory.succeeded(key, revision);
    reports.written(key, revision);
    queue.add(key, lane);
  }

  #succeeded({ key }: Pass, { companion }: CompanionWriteStep, done: Step, sourceVersion: string): void {
    const { memory, reports } = this.#deps;
    const isFight = isWrite(done) && memory.wrote(key, companion, sourceVersion);
    if (!isWrite(done)) memory.succeeded(key, companion);
    if (isFight) reports.fight(key, companion, editedBy(done));
    else reports.written(key, companion);
    // A delete of our own ends the companion's history of heals (SPEC R14).
    if (done.action === 'delete') memory.forget(key, companion);
  }

  #failed(pass: Pass, step: WriteStep, error: unknown, begunAt: number): void {
    const { key, lane, report } = pass;
    const { memory, reports, queue, log } = this.#deps;
    const { companion, action } = step;
    const verdict = judge(error);
    const { failure, quiet } = verdict;
    const delayMs = memory.failed(key, companion, intentOf(step, pass).fingerprint, failure);
    const willRetry = Number.isFinite(delayMs);
    const fields = { source: key, companion, action, error: describeError(error) };
    log.debug({ ...fields, ...(willRetry && { retryInMs: Math.round(delayMs) }) }, 'companion not written');
    report.failed(step, begunAt, verdict);
    if (!quiet) reports.failed(key, step, error);
    // Retries after real failures are bulk, so that fresh changes overtake them.
    if (willRetry) queue.addAfter(key, delayMs, quiet ? lane : 'bulk');
  }

  /**
   * Resolves to the step that was carried out: a create that meets our own companion becomes a heal
   * of it, or nothing.
   * @throws BlockedError if an unrelated object has the name, LeavingError if the object there is
   * being deleted, or what the API throws.
   */
  async #carryOut(step: CompanionWriteStep, pass: Pass): Promise<Step> {
    switch (step.action) {
      case 'delete':
        if (step.counts) this.#deps.deletions.begins(pass.key, step.actual);
        await deleteFollowed(step.actual, this.#deps);
        return step;
      case 'update':
        await this.#update(step, pass);
        return step;
      case 'replace':
        return this.#replace(step, pass);
      case 'create':
        return this.#create(step, pass);
      case 'defer':
        return this.#defer(step, pass);
    }
  }

  async #create(step: CompanionWriteStep, pass: Pass): Promise<Step> {
    const { companion } = step;
    const shape = shapeOf(pass);
    const { digest, content } = await this.#load(companion, shape);
    const body = newCompanion(companion, shape, content, this.#deps.view.settings.vocabulary);
    try {
      await createFollowed(body, digest, this.#deps);
      return step;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#meet(companion, pass);
    }
  }

  async #update({ companion, actual, differences }: Drifted, pass: Pass): Promise<void> {
    const loaded = differences.some(isContent) ? await this.#load(companion, shapeOf(pass)) : undefined;
    await patchFollowed(actual, differences, loaded, this.#deps);
  }

  /** Deletes and creates (SPEC R12). First heals the marks without which R8 forbids a delete. */
  async #replace(step: Drifted, pass: Pass): Promise<Step> {
    const { rate, view } = this.#deps;
    const shape = shapeOf(pass);
    const marks = step.differences.filter((difference) => !isContent(difference));
    const { digest, content } = await this.#load(step.companion, shape);
    const actual = mayDelete(step.actual, shape.source, view.settings.vocabulary)
      ? step.actual
      : await patchFollowed(step.actual, marks, undefined, this.#deps);
    if (actual !== step.actual) await rate.next();
    await deleteFollowed(actual, this.#deps);
    await rate.next();
    try {
      await createFollowed(replacement(actual, step.differences, content), digest, this.#deps);
      return step;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#meet(actual.key, pass);
    }
  }

  /** Leaves the name to the source that comes first, unless our own companion is already there. */
  async #defer({ companion, reason }: CompanionWriteStep, pass: Pass): Promise<Step> {
    try {
      return await this.#meet(companion, pass);
    } catch (error) {
      if (isNotFound(error)) throw new BlockedError(reason);
      throw error;
    }
  }

  /**
   * Reads the object at the name, which the cache does not have, and acts on it (SPEC R2, R6): a
   * companion without its label, one whose create got no reply, or an unrelated object.
   */
  async #meet(companion: ObjectKey, pass: Pass): Promise<Step> {
    const { api, rate, view } = this.#deps;
    const actual = observe(await api.get(companion), view.settings.vocabulary);
    const step = planCompanion(companion, actual, shapeOf(pass), view);
    if (step.action !== 'none') {
      await rate.next();
      return this.#carryOut(step, pass);
    }
    if (step.state === 'conflict') throw new BlockedError(step.reason);
    if (step.state === 'waiting' || step.state === 'unresolved') throw new LeavingError(step.reason);
    return step;
  }

  /** What a companion should hold. */
  async #load(companion: ObjectKey, { source, editionIn, rendering }: CompanionShape) {
    const { bodies } = this.#deps;
    const { namespace } = splitKey(companion);
    const { digest, revision } = desiredEdition(namespace, { editionIn });
    if (rendering) return { digest, content: rendering.contentIn(namespace, revision ?? source) };
    const content = revision ? await bodies.revisionContent(revision) : await bodies.content(source);
    return { digest, content };
  }
}

function shapeOf({ shape }: Pass): CompanionShape {
  if (shape === undefined) throw new TypeError('a step that writes content needs to know what is desired');
  return shape;
}

/** Whether the companion now has what it should have because of us. */
const isWrite = ({ action }: Step): boolean => action !== 'delete' && action !== 'none';
const editedBy = (step: Step): string | undefined => ('actual' in step ? step.actual.editedBy : undefined);
const isContent = ({ kind }: Difference): boolean => kind === 'content';
