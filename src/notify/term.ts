import { setMaxListeners } from 'node:events';
import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import { sleep } from '../clock/clock.ts';
import type { Happening, ProblemKind, Reconciled } from '../controller/memory/happening.ts';
import type { Sources } from '../controller/sources.ts';
import { TurnBudget } from '../informer/turn-budget.ts';
import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Content } from '../mirror/observe/content.ts';
import { type ObservedConfigMap, observe } from '../mirror/observe/observed-config-map.ts';
import type { Vocabulary } from '../mirror/vocabulary.ts';
import { ChangedKeys } from './changed-keys.ts';
import { chosenSinks, receiversOf } from './choice.ts';
import type { Sink } from './config.ts';
import { NotifyState } from './notify-state.ts';
import { baseline, departed, type Observation, observed, type SourceRecord } from './record.ts';
import { type Result, Sender, type SenderDeps } from './sender.ts';

/** Says something on a source, as an Event. */
export type Report = (
  uid: string,
  ref: ObjectKey,
  reason: 'SinkUnavailable' | 'SinkGone' | 'NotificationDropped',
  note: string,
) => void;

export interface TermDeps extends Pick<SenderDeps, 'deliver' | 'clock' | 'random' | 'log'> {
  readonly sinks: readonly Sink[];
  readonly vocabulary: Vocabulary;
  readonly sources: Sources;
  /** Has the fence of leadership. */
  readonly api: Pick<ConfigMapApi, 'get' | 'create' | 'patch'>;
  /** Where the state is. */
  readonly namespace: string;
  /** What the notifications call this cluster. */
  readonly cluster: () => Promise<string>;
  readonly report: Report;
  readonly count: (sink: string, result: Result) => void;
}

/** Problems of companions, not of what the source says. */
const FAILURES: readonly ProblemKind[] = [
  ...(['conflict', 'refused', 'target missing', 'write failed', 'fighting'] as const),
];
const BACKOFF: BackoffOptions = { baseMs: 500, capMs: 30_000, jitter: 0.5 };

/** Notifies for as long as this process may write. */
export class Term {
  readonly #deps: TermDeps;
  readonly #state: NotifyState;
  readonly #senders: ReadonlyMap<string, Sender>;
  readonly #changedKeys = new ChangedKeys();
  /** What the controller has told before the state was known: the last of each source. */
  readonly #heard = new Map<ObjectKey, Reconciled>();
  /** Problems of companions, by source and companion. */
  readonly #problems = new Map<ObjectKey, Map<ObjectKey, string>>();
  /** What was last said of a source's choice of sinks, by uid. */
  readonly #choiceProblems = new Map<string, string>();
  #isReady = false;
  #cluster = '';

  constructor(deps: TermDeps) {
    this.#deps = deps;
    const { sinks, count, sources } = deps;
    this.#state = new NotifyState({
      ...deps,
      onStored: (uids) => {
        for (const uid of uids) this.#offer(uid);
      },
      onReloaded: (isAffected) => {
        for (const source of sources.all()) if (isAffected(source.uid)) this.#look(source.key, undefined);
      },
    });
    const create = (sink: Sink) =>
      new Sender({
        ...deps,
        sink,
        state: this.#state,
        cluster: () => this.#cluster,
        content: (uid, ref, version) => this.#content(uid, ref, version),
        count: (result) => count(sink.name, result),
      });
    this.#senders = new Map(sinks.map((sink) => [sink.name, create(sink)]));
  }

  /** When the oldest notification that waits for a sink was made (ms since the epoch). */
  oldest(sink: string): number | undefined {
    return this.#senders.get(sink)?.oldest;
  }

  hear(happening: Happening): void {
    if (happening.type === 'problem' && FAILURES.includes(happening.kind)) {
      const { source, subject, state, reason } = happening;
      const problems = this.#problems.get(source) ?? new Map();
      if (state === 'began') this.#problems.set(source, problems.set(subject, `${subject}: ${reason}`));
      else if (problems.delete(subject) && problems.size === 0) this.#problems.delete(source);
    } else if (happening.type === 'reconciled') {
      if (this.#isReady) this.#look(happening.source, happening);
      else this.#heard.set(happening.source, happening);
    }
  }

  /** The data of a source has changed. `before` undefined: it is not known what it was. */
  contentChanged(source: ObjectKey, before: Content | undefined, after: Content): void {
    this.#changedKeys.add(source, before, after);
  }

  /** Until `signal` aborts; then writes what is known, and resolves. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { sources } = this.#deps;
    const state = this.#state;
    // All that waits listens to it, and Node would report more than ten listeners as a leak.
    setMaxListeners(0, signal);
    await Promise.all([state.load(signal), this.#nameCluster(signal), sources.whenSynced(signal)]);
    if (signal.aborted) return;
    const senders = Array.from(this.#senders.values(), (sender) => sender.run(signal));
    await Promise.all([state.run(signal), this.#begin(signal), ...senders]);
    await state.flush();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    const isFirst = !this.#state.exists;
    if (isFirst) await this.#takeBaseline(signal);
    if (signal.aborted) return;
    this.#isReady = true;
    for (const happening of this.#heard.values()) this.#look(happening.source, happening);
    this.#heard.clear();
    this.#resume();
    log.info({ sinks: this.#senders.size, firstStart: isFirst }, 'notifying');
    if (!isFirst) await this.#findDeparted(signal);
  }

  /** Nobody is told of what is there on the very first start. */
  async #takeBaseline(signal: AbortSignal): Promise<void> {
    const { sources, clock } = this.#deps;
    const state = this.#state;
    await new TurnBudget(clock).each(sources.all(), (source) => {
      const observation = this.#observationOf(source, undefined);
      if (observation !== undefined && state.get(source.uid) === undefined) {
        state.set(source.uid, baseline(observation, clock.wallTime()));
      }
    });
    for (let isStored = false; !isStored && !signal.aborted; ) isStored = await state.markExisting();
  }

  /** What was pending when another process ended, in the order in which it happened. */
  #resume(): void {
    const since = ({ sinks = {} }: SourceRecord) =>
      Object.values(sinks)
        .flatMap(({ pending = [] }) => pending.slice(0, 1).map(({ at }) => at))
        .sort()[0];
    const waiting = [...this.#state.entries()].flatMap(([uid, record]) => {
      const at = since(record);
      return at === undefined ? [] : [{ uid, at }];
    });
    for (const { uid } of waiting.sort((a, b) => (a.at < b.at ? -1 : 1))) this.#offer(uid);
  }

  /** Sources that have gone while nobody looked. A live read confirms each. */
  async #findDeparted(signal: AbortSignal): Promise<void> {
    const { sources, api, vocabulary, clock, log } = this.#deps;
    const present = new Set(sources.all().map(({ uid }) => uid));
    const missing = [...this.#state.entries()].filter(([uid, { gone }]) => !gone && !present.has(uid));
    for (const [uid, { ref }] of missing) {
      if (signal.aborted) return;
      try {
        const live = await api.get(ref).catch((error) => {
          if (isNotFound(error)) return undefined;
          throw error;
        });
        const isThere = live?.metadata.uid === uid && observe(live, vocabulary).request !== undefined;
        if (!isThere && sources.get(ref)?.uid !== uid) this.#depart(uid);
      } catch (err) {
        // It may be outside of what this process may see. The next start looks again.
        log.debug({ source: ref, err }, 'a source that is not watched any more cannot be read');
      }
      await sleep(clock, 0, signal);
    }
  }

  /** Compares a source as it is now with what is remembered of it. */
  #look(ref: ObjectKey, happening: Reconciled | undefined): void {
    const { sources, clock } = this.#deps;
    const state = this.#state;
    const source = sources.get(ref);
    const known = state.uidAt(ref);
    if (source?.request === undefined) {
      if (known !== undefined && happening !== undefined && isPlanned(happening)) this.#depart(known);
      return;
    }
    if (known !== undefined && known !== source.uid) this.#depart(known);
    if (happening !== undefined && !isPlanned(happening)) return;
    const observation = this.#observationOf(source, happening);
    if (observation === undefined) return;
    const { uid } = source;
    const before = state.get(uid);
    const { sinks, problems } = chosenSinks(observation, this.#deps.sinks);
    this.#reportChoice(uid, ref, problems);
    const receivers = receiversOf(before, sinks, (name) => this.#senders.get(name)?.sending(uid));
    const after = observed(before, observation, receivers, clock.wallTime());
    this.#changedKeys.forget(ref);
    if (after !== before) state.set(uid, after);
  }

  /** Undefined if the source is invalid, of which nobody is told. */
  #observationOf(source: ObservedConfigMap, happening: Reconciled | undefined): Observation | undefined {
    const { key: ref, digest: version, resourceVersion, request, annotations } = source;
    if (!request?.ok) return undefined;
    const { uid, digest } = happening?.object ?? {};
    const isSame = uid === source.uid && digest === version;
    return {
      ref,
      version,
      resourceVersion,
      notify: annotations[this.#deps.vocabulary.notify],
      changedKeys: this.#changedKeys.of(ref, request.value),
      companions: isSame ? happening?.companions : undefined,
      inSync: isSame && happening?.inSync === true,
      failure: this.#problems.get(ref)?.values().next().value,
    };
  }

  #depart(uid: string): void {
    const { sinks, clock } = this.#deps;
    const state = this.#state;
    const record = state.get(uid);
    if (record === undefined) return;
    this.#choiceProblems.delete(uid);
    const receivers = receiversOf(record, chosenSinks(record, sinks).sinks, (name) =>
      this.#senders.get(name)?.sending(uid),
    );
    state.set(uid, departed(record, receivers, clock.wallTime()));
  }

  #reportChoice(uid: string, ref: ObjectKey, problems: readonly string[]): void {
    const { report, vocabulary, log } = this.#deps;
    const text = problems.join('; ');
    if (text === (this.#choiceProblems.get(uid) ?? '')) return;
    if (text === '') {
      this.#choiceProblems.delete(uid);
      return;
    }
    this.#choiceProblems.set(uid, text);
    const note = `${vocabulary.notify}: ${text}`;
    log.warn({ source: ref, reason: note }, 'source names a sink in vain');
    report(uid, ref, 'SinkUnavailable', note);
  }

  #offer(uid: string): void {
    for (const name of Object.keys(this.#state.get(uid)?.sinks ?? {})) this.#senders.get(name)?.offer(uid);
  }

  async #content(uid: string, ref: ObjectKey, version: string): Promise<Content | undefined> {
    const { sources } = this.#deps;
    const source = sources.get(ref);
    if (source?.uid !== uid || !source.request?.ok) return undefined;
    if (source.digest !== version) throw new Error('it has changed again');
    return sources.content(source);
  }

  async #nameCluster(signal: AbortSignal): Promise<void> {
    const { cluster, clock, random, log } = this.#deps;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        this.#cluster = await cluster();
        return;
      } catch (err) {
        if (failures === 1) log.warn({ err }, NO_CLUSTER);
        await sleep(clock, backoffDelay(failures, BACKOFF, random), signal);
      }
    }
  }
}

const NO_CLUSTER =
  'the uid of Namespace kube-system cannot be read; nothing is sent meanwhile. Allow it, or set --cluster-name';

/** Whether the controller has come to a plan, so that it has confirmed what it says. */
function isPlanned({ result, companions }: Reconciled): boolean {
  return result === 'ok' || (result === 'failed' && Object.keys(companions).length > 0);
}
