import { setMaxListeners } from 'node:events';
import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import { aborted, sleep } from '../clock/clock.ts';
import { TurnBudget } from '../clock/turn-budget.ts';
import { Wakeup } from '../clock/wakeup.ts';
import { StaleSourceError } from '../controller/memory/failure.ts';
import type { Reconciled } from '../controller/memory/happening.ts';
import type { Sources } from '../controller/sources.ts';
import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import { isForbidden, isNotFound } from '../kube/errors.ts';
import type { Content } from '../mirror/observe/content.ts';
import { observe } from '../mirror/observe/observed-config-map.ts';
import type { Vocabulary } from '../mirror/vocabulary.ts';
import type { Sink } from './delivery/config.ts';
import type { Problems } from './problems.ts';
import type { Report } from './report.ts';
import { type Result, Sender, type SenderDeps } from './sender.ts';
import { NotifyState, type NotifyStateDeps } from './state/notify-state.ts';
import { withoutFormerSinks } from './state/pending.ts';
import { type Reading, Tracker } from './tracker.ts';

export interface TermDeps
  extends Pick<SenderDeps, 'deliver' | 'clock' | 'random' | 'log'>,
    Pick<NotifyStateDeps, 'isBusy'> {
  readonly sinks: readonly Sink[];
  readonly vocabulary: Vocabulary;
  readonly sources: Sources;
  /** Has the fence of leadership. */
  readonly api: Pick<ConfigMapApi, 'get' | 'create' | 'patch'>;
  /** How the keys of the ConfigMaps with the state begin. */
  readonly prefix: ObjectKey;
  /** What the notifications call this cluster. */
  readonly cluster: () => Promise<string>;
  readonly problems: Pick<Problems, 'of'>;
  readonly report: Report;
  readonly count: (sink: string, result: Result) => void;
}

/** Longest time (ms) that a stop waits for the API server to take what is known. */
const STOP_MS = 3_000;
/** Longest time (ms) after a takeover in which the cache counts as behind. */
const BEHIND_MS = 10_000;
const BACKOFF: BackoffOptions = { baseMs: 500, capMs: 30_000, jitter: 0.5 };

/** Notifies for as long as this process may write. */
export class Term {
  readonly #deps: TermDeps;
  readonly #state: NotifyState;
  readonly #senders: ReadonlyMap<string, Sender>;
  readonly #tracker: Tracker;
  /** What the controller has told before the state was known: the last of each source. */
  readonly #heard = new Map<ObjectKey, Reconciled>();
  /** Sources may have gone without anybody knowing that it is not recorded. */
  readonly #mayHaveDeparted = new Wakeup();
  #isReady = false;
  /** When it has begun (ms since the epoch), until it is ready; else Infinity. */
  #startingSince = Number.POSITIVE_INFINITY;
  /** On the monotonic clock. */
  #behindUntil = 0;
  #cluster = '';
  /** Aborts at the end of the term. */
  #signal = AbortSignal.abort();

  constructor(deps: TermDeps) {
    this.#deps = deps;
    const { sinks, count, sources } = deps;
    this.#state = new NotifyState({
      ...deps,
      onStored: (uids) => {
        for (const uid of uids) this.#offer(uid);
      },
      onReloaded: (isAffected, wasDeleted) => {
        if (!this.#isReady) return;
        for (const source of sources.all()) {
          if (!isAffected(source.uid)) continue;
          if (wasDeleted) this.#tracker.takeAsBaseline(source);
          // What a pass knows of its companions is lost, too.
          else sources.queue(source.key);
        }
        // Another process may have left something to send.
        this.#resume();
        this.#mayHaveDeparted.wake();
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
    const sending = (sink: string, uid: string) => this.#senders.get(sink)?.sending(uid);
    // Without the right to read it any more, as when a namespace goes, what the watch says counts.
    const read = (ref: ObjectKey) => this.#read(ref, () => ({ source: sources.get(ref) }));
    const mayBeBehind = () => deps.clock.now() < this.#behindUntil;
    this.#tracker = new Tracker({ ...deps, state: this.#state, sending, read, mayBeBehind });
  }

  /**
   * When the oldest notification that waits for a sink was made (ms since the epoch); Infinity:
   * none waits. What cannot be stored, or found out yet, waits for any of them.
   */
  oldest(sink: string): number {
    const oldest = this.#senders.get(sink)?.oldest ?? Number.POSITIVE_INFINITY;
    return Math.min(oldest, this.#state.unwrittenSince, this.#startingSince);
  }

  hear(pass: Reconciled): void {
    if (this.#isReady) this.#tracker.look(pass);
    else this.#heard.set(pass.source, pass);
  }

  /** The data of a source has changed. `before` undefined: it is not known what it was. */
  contentChanged(source: ObjectKey, before: Content | undefined, after: Content): void {
    this.#tracker.changedKeys.add(source, before, after);
  }

  /**
   * Until `signal` aborts. Then it writes what is known and resolves, at the latest after 3 s.
   * Never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { sources, clock } = this.#deps;
    // All that waits listens to it, and Node would report more than ten listeners as a leak.
    setMaxListeners(0, signal);
    this.#signal = signal;
    this.#startingSince = clock.wallTime().getTime();
    const [cluster = ''] = await Promise.all([
      this.#until(this.#deps.cluster, NO_CLUSTER),
      this.#until(() => this.#state.load(), NO_STATE),
      sources.whenSynced(signal),
    ]);
    if (signal.aborted) return;
    this.#cluster = cluster;
    const done = new AbortController();
    const work = this.#work(signal).finally(() => done.abort());
    await Promise.race([work, aborted(signal).then(() => sleep(clock, STOP_MS, done.signal))]);
  }

  async #work(signal: AbortSignal): Promise<void> {
    const state = this.#state;
    const senders = Array.from(this.#senders.values(), (sender) => sender.run(signal));
    await Promise.all([state.run(signal), this.#begin(signal), ...senders]);
    await state.flush();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const isFirst = !this.#state.exists;
    const isMissing = this.#state.missing();
    if (isMissing !== undefined) await this.#takeBaseline(isMissing, signal);
    if (signal.aborted) return;
    this.#dropFormerSinks();
    this.#isReady = true;
    this.#startingSince = Number.POSITIVE_INFINITY;
    this.#behindUntil = clock.now() + BEHIND_MS;
    const heard = [...this.#heard.values()];
    this.#heard.clear();
    await new TurnBudget(clock).each(heard, (pass) => this.#tracker.look(pass));
    this.#resume();
    log.info({ sinks: this.#senders.size, firstStart: isFirst }, 'notifying');
    void aborted(signal).then(() => this.#mayHaveDeparted.wake());
    while (!signal.aborted) {
      await this.#findDeparted(signal);
      await this.#mayHaveDeparted.wait(clock);
    }
  }

  /** Nobody would ever send what waits for them. */
  #dropFormerSinks(): void {
    const names = new Set(this.#senders.keys());
    for (const [uid, record] of [...this.#state.entries()]) {
      const after = withoutFormerSinks(record, names);
      if (after !== record) this.#state.set(uid, after);
    }
  }

  /**
   * No sink is notified of what is there on the very first start, or of what was deleted from the
   * state.
   */
  async #takeBaseline(isMissing: (uid: string) => boolean, signal: AbortSignal): Promise<void> {
    const { sources, clock } = this.#deps;
    let isStored = false;
    while (!isStored && !signal.aborted) {
      await new TurnBudget(clock).each(sources.all(), (source) => {
        if (isMissing(source.uid)) this.#tracker.takeAsBaseline(source);
      });
      isStored = await this.#state.allStored();
    }
  }

  /** What was pending when another process ended, in the order in which it happened. */
  #resume(): void {
    const waiting = [...this.#state.entries()].flatMap(([uid, { sinks = {} }]) =>
      Object.values(sinks).flatMap(({ pending = [] }) => pending.slice(0, 1).map(({ at }) => ({ uid, at }))),
    );
    for (const { uid } of waiting.sort((a, b) => (a.at < b.at ? -1 : 1))) this.#offer(uid);
  }

  /** Sources that have gone while nobody looked. A live read confirms each. */
  async #findDeparted(signal: AbortSignal): Promise<void> {
    const { sources, clock, log } = this.#deps;
    const present = new Set(sources.all().map(({ uid }) => uid));
    const missing = [...this.#state.entries()].filter(([uid, { gone }]) => !gone && !present.has(uid));
    for (const [uid, { ref }] of missing) {
      if (signal.aborted) return;
      const live = await this.#read(ref, (err) => {
        // It is outside of what this process may see. The next start looks again.
        log.debug({ source: ref, err }, 'a source that is not watched any more cannot be read');
        return undefined;
      });
      const isThere = live?.source?.uid === uid && live.source.request !== undefined;
      if (live && !isThere && sources.get(ref)?.uid !== uid) this.#tracker.depart(uid);
      await sleep(clock, 0, signal);
    }
  }

  /** What the cluster itself says of a source. Undefined if this term ends before. */
  #read(ref: ObjectKey, ifForbidden: (error: unknown) => Reading | undefined): Promise<Reading | undefined> {
    const { api, vocabulary } = this.#deps;
    return this.#until(async () => {
      try {
        return { source: observe(await api.get(ref), vocabulary) };
      } catch (error) {
        if (isNotFound(error)) return { source: undefined };
        if (isForbidden(error)) return ifForbidden(error);
        throw error;
      }
    }, NO_SOURCE);
  }

  /** Repeats `work` until it succeeds. Undefined if this term ends before. */
  async #until<T>(work: () => Promise<T>, problem: string): Promise<T | undefined> {
    const { clock, random, log } = this.#deps;
    for (let failures = 1; !this.#signal.aborted; failures++) {
      try {
        const result = await work();
        if (failures > 1) log.info({ was: problem }, 'resolved');
        return result;
      } catch (err) {
        if (failures === 1) log.warn({ err }, problem);
        await sleep(clock, backoffDelay(failures, BACKOFF, random), this.#signal);
      }
    }
    return undefined;
  }

  #offer(uid: string): void {
    for (const name of Object.keys(this.#state.get(uid)?.sinks ?? {})) this.#senders.get(name)?.offer(uid);
  }

  async #content(uid: string, ref: ObjectKey, version: string): Promise<Content | 'outdated' | undefined> {
    const { sources } = this.#deps;
    const source = sources.get(ref);
    if (source?.uid !== uid || !source.request?.ok) return undefined;
    if (source.digest !== version) return 'outdated';
    try {
      return await sources.content(source);
    } catch (error) {
      if (error instanceof StaleSourceError) return 'outdated';
      throw error;
    }
  }
}

const NO_STATE = 'notification state not read; nothing is sent meanwhile';
const NO_SOURCE = 'a source cannot be read; retrying';
const NO_CLUSTER =
  'the uid of Namespace kube-system cannot be read; nothing is sent meanwhile. Allow it, or set --cluster-name';
