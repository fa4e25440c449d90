import type { Clock } from '../clock/clock.ts';
import type { Reconciled } from '../controller/memory/happening.ts';
import type { Sources } from '../controller/sources.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import type { Vocabulary } from '../mirror/vocabulary.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ChangedKeys } from './changed-keys.ts';
import { type Choice, chosenSinks, receiversOf, rememberedChoice } from './choice.ts';
import type { Sink } from './delivery/config.ts';
import type { Problems } from './problems.ts';
import type { Report } from './report.ts';
import { baseline, departed, type Observation, observed } from './state/news.ts';
import type { NotifyState } from './state/notify-state.ts';
import { mayBeOutdated } from './state/record.ts';

export interface TrackerDeps {
  readonly sinks: readonly Sink[];
  readonly vocabulary: Vocabulary;
  readonly sources: Pick<Sources, 'get'>;
  readonly state: Pick<NotifyState, 'get' | 'set' | 'stored' | 'uidAt' | 'goneAt'>;
  /** The sequence number of what a sink is being sent of a source. */
  readonly sending: (sink: string, uid: string) => number | undefined;
  /** What the cluster itself says of a source. Resolves to undefined if the term ends before. */
  readonly read: (ref: ObjectKey) => Promise<Reading | undefined>;
  /** Whether the cache may be behind what another process has recorded. */
  readonly mayBeBehind: () => boolean;
  readonly problems: Pick<Problems, 'of'>;
  readonly report: Report;
  readonly clock: Clock;
  readonly log: Logger;
}

/** `source` undefined: there is no object of this name. */
export interface Reading {
  readonly source: ObservedConfigMap | undefined;
}

/** Most problems of one source's choice that are reported. */
const MOST_REPORTED = 5;

/**
 * Compares sources as they are now with what is remembered of them. A difference becomes a
 * notification, whichever way it was noticed.
 */
export class Tracker {
  readonly changedKeys = new ChangedKeys();
  readonly #deps: TrackerDeps;
  /** The sources that the cluster is asked about, with the latest pass over each. */
  readonly #verifying = new Map<ObjectKey, Reconciled>();
  /** What was last said of a source's choice of sinks, by uid. */
  readonly #choiceProblems = new Map<string, string>();

  constructor(deps: TrackerDeps) {
    this.#deps = deps;
  }

  /** Nobody is told of this source as it is now. */
  takeAsBaseline(source: ObservedConfigMap): void {
    const { state, clock } = this.#deps;
    const observation = this.#observationOf(source, undefined);
    if (observation !== undefined && state.get(source.uid) === undefined) {
      state.set(source.uid, baseline(observation, clock.wallTime()));
    }
  }

  /** Compares the source of a pass. */
  look(pass: Reconciled): void {
    const { sources, state } = this.#deps;
    // A stale pass is followed by another one.
    if (!isPlanned(pass)) return;
    const { source: ref } = pass;
    const cached = sources.get(ref);
    const source = cached?.request === undefined ? undefined : cached;
    const known = state.uidAt(ref);
    const hasGone = known !== undefined && known !== source?.uid;
    if (hasGone || (source !== undefined && this.#isDoubtful(source))) void this.#verify(pass);
    else if (source !== undefined) this.#compare(source, pass);
    else {
      this.changedKeys.forget(ref);
      // The deletion of its companions may be held since, or no longer.
      const gone = state.goneAt(ref);
      if (gone !== undefined) this.depart(gone);
    }
  }

  /** The source with this uid was deleted or unlabelled, now or before. */
  depart(uid: string): void {
    const { sinks, state, sending, problems, clock } = this.#deps;
    const record = state.get(uid);
    if (record === undefined) return;
    this.#choiceProblems.delete(uid);
    this.changedKeys.forget(record.ref);
    const receivers = receiversOf(record, chosenSinks(record, sinks).sinks, (sink) => sending(sink, uid));
    const { conditions } = problems.of(record.ref);
    const after = departed(record, conditions, receivers, clock.wallTime());
    if (after !== record) state.set(uid, after);
  }

  /** Whether the cache may be behind what is recorded. */
  #isDoubtful(source: ObservedConfigMap): boolean {
    const record = this.#deps.state.get(source.uid);
    return record === undefined ? this.#deps.mayBeBehind() : mayBeOutdated(record, source);
  }

  #compare(source: ObservedConfigMap, pass: Reconciled): void {
    const { state, sending, clock } = this.#deps;
    const observation = this.#observationOf(source, pass);
    if (observation === undefined) return;
    const { uid, key } = source;
    const before = state.get(uid);
    const choice = this.#choiceOf(source);
    this.#reportChoice(uid, key, choice.problems);
    const receivers = receiversOf(before, choice.sinks, (sink) => sending(sink, uid));
    const after = observed(before, observation, receivers, clock.wallTime());
    this.changedKeys.forget(key);
    if (after !== before) state.set(uid, after);
  }

  /**
   * The cache of a process that has just taken over can be behind what the one before has recorded.
   * So the cluster itself is asked before a source counts as gone, as there again, or as changed to
   * an older version. What is stored first is sent first, so a source that has taken the name of
   * another one waits until it is stored that the other one is gone.
   */
  async #verify(pass: Reconciled): Promise<void> {
    const { sources, state, read } = this.#deps;
    const { source: ref } = pass;
    const isUnderWay = this.#verifying.has(ref);
    this.#verifying.set(ref, pass);
    if (isUnderWay) return;
    const cached = sources.get(ref);
    const reading = await read(ref);
    const live = reading?.source;
    const known = state.uidAt(ref);
    const isThere = live?.request !== undefined && live.uid === known;
    if (reading !== undefined && known !== undefined && !isThere) {
      this.depart(known);
      await state.stored(known);
    }
    const latest = this.#verifying.get(ref) ?? pass;
    this.#verifying.delete(ref);
    if (reading === undefined) return;
    if (sources.get(ref) !== cached) this.look(latest);
    // Otherwise a watch event will follow.
    else if (cached?.request && isSame(cached, live)) this.#compare(cached, latest);
  }

  /**
   * Undefined if the source is invalid: nobody hears of that. `pass` undefined: nothing is known of
   * the companions.
   */
  #observationOf(source: ObservedConfigMap, pass: Reconciled | undefined): Observation | undefined {
    const { key: ref, digest: version, resourceVersion, request, annotations } = source;
    if (!request?.ok) return undefined;
    const { uid, digest } = pass?.object ?? {};
    // A pass whose writes took long may end after a later one.
    const chooses = annotations[this.#deps.vocabulary.notify] !== undefined;
    const isSame = uid === source.uid && digest === version;
    return {
      ref,
      version,
      resourceVersion,
      notify: chooses ? rememberedChoice(this.#choiceOf(source)) : undefined,
      changedKeys: this.changedKeys.of(ref, request.value),
      companions: isSame ? pass?.companions : undefined,
      inSync: isSame && pass?.inSync === true,
      isEverywhere: isSame && !pass?.isHeldBack,
      ...this.#deps.problems.of(ref),
    };
  }

  #choiceOf({ key: ref, annotations }: ObservedConfigMap): Choice {
    const { sinks, vocabulary } = this.#deps;
    return chosenSinks({ ref, notify: annotations[vocabulary.notify] }, sinks);
  }

  #reportChoice(uid: string, ref: ObjectKey, problems: readonly string[]): void {
    const { report, vocabulary, log } = this.#deps;
    const more =
      problems.length > MOST_REPORTED ? [`${problems.length - MOST_REPORTED} more like these`] : [];
    const text = [...problems.slice(0, MOST_REPORTED), ...more].join('; ');
    if (text === (this.#choiceProblems.get(uid) ?? '')) return;
    this.#choiceProblems.set(uid, text);
    if (text === '') return;
    const note = `${vocabulary.notify}: ${text}`;
    log.warn({ source: ref, reason: note }, 'source names a sink that it cannot use');
    report(uid, ref, 'SinkUnavailable', note);
  }
}

/** Whether the controller has come to a plan, so that it has confirmed what it says. */
function isPlanned({ result, companions }: Reconciled): boolean {
  return result === 'ok' || result === 'invalid' || Object.keys(companions).length > 0;
}

function isSame(a: ObservedConfigMap, b: ObservedConfigMap | undefined): boolean {
  return a.uid === b?.uid && a.resourceVersion === b.resourceVersion;
}
