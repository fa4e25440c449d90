import { setMaxListeners } from 'node:events';
import { aborted } from '../../src/clock/clock.ts';
import type { Reconciled } from '../../src/controller/memory/happening.ts';
import type { ConfigMapApi } from '../../src/kube/api/config-maps.ts';
import { type ObjectKey, objectKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { NetworkError } from '../../src/kube/errors.ts';
import { type ObservedConfigMap, observe } from '../../src/mirror/observe/observed-config-map.ts';
import { notificationId } from '../../src/notify/delivery/cloud-event.ts';
import { parseNotifyConfig, type Sink } from '../../src/notify/delivery/config.ts';
import type { Message, Outcome } from '../../src/notify/delivery/delivery.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import type { SourceRecord } from '../../src/notify/state/record.ts';
import { recordsIn, shardKey, shardOf } from '../../src/notify/state/stored-record.ts';
import { NO_METRICS } from '../../src/telemetry/metrics.ts';
import { MemoryApi } from '../controller/memory-api.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { source, vocabulary } from '../mirror/wire.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** What the receiver of a webhook got. */
export interface Received {
  readonly id: string;
  readonly uid: string;
  readonly type: string;
  readonly version: string;
  readonly seq: number;
}

const PREFIX = objectKey('home', 'mirror-controller-notify');
const CONFIG = `sinks:
- {name: ops, type: webhook, url: "https://ops", default: true, types: [source.created, source.changed, source.deleted]}
- {name: chat, type: slack, url: "https://chat", default: true}`;

/** Of a request that was ended on our side. */
const CUT_OFF: Outcome = {
  ...{ kind: 'failed', reason: 'it was cut off', mayHaveArrived: true, retryAfterMs: undefined },
};

/** How a process ends. */
export type End =
  /** It answers nothing and nobody from now on. What it has sent may still arrive. */
  | 'crash'
  /** It loses its Lease, and must write nothing more. What it has sent may still arrive. */
  | 'lost lease'
  /** The same, and for a moment it has not noticed: it still sends what it may send. */
  | 'overlap'
  | 'stop';

/** A cluster in memory, two receivers, and one process after the other that notifies them. */
export class CrashWorld {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  readonly webhook: Received[] = [];
  /** The uids of which the chat was told. */
  readonly chat: string[] = [];
  /** Every uid that there ever was after the first start. */
  readonly uids = new Set<string>();
  /**
   * Of which the chat may never hear: a claim or a message was on its way when its process ended.
   */
  readonly maybeLost = new Set<string>();
  /** With how many attempts something goes wrong: a probability. */
  faults = 0;
  /** Longest time (ms) of one way of a request or an answer. */
  pauseMs = 400;
  /** For how long (ms) the cache of a new process is behind, at most. */
  lagMs = 0;
  chatMessages = 0;
  /** How many notifications were where when a process crashed. */
  readonly gaps = {
    'stored, not sent': 0,
    'sent, not recorded': 0,
    'claimed, not sent': 0,
    'on its way to a chat': 0,
  };
  readonly #random: () => number;
  readonly #sources = new Map<ObjectKey, ConfigMap>();
  /** As the last few changes found them. */
  readonly #former: ReadonlyMap<ObjectKey, ConfigMap>[] = [];
  readonly #state = new MemoryApi();
  readonly #sinks: readonly Sink[];
  #process: Process | undefined;
  #versions = 0;

  constructor(random: () => number) {
    this.#random = random;
    const sinks = parseNotifyConfig(CONFIG, '/');
    if (!sinks.ok) throw new Error(sinks.problem);
    this.#sinks = sinks.value;
  }

  get sources(): readonly ConfigMap[] {
    return [...this.#sources.values()];
  }

  /** Creates or changes a source, each time in a version that there never was. */
  write(name: string): void {
    this.#remember();
    this.#versions += 1;
    const key = objectKey('shop', name);
    const before = this.#sources.get(key);
    const uid = before?.metadata.uid ?? `uid-${this.#versions}`;
    const data = { version: String(this.#versions) };
    this.#sources.set(key, source(key, {}, { uid, data, resourceVersion: String(this.#versions) }));
    this.uids.add(uid);
    this.#process?.look(key);
  }

  delete(name: string): void {
    const key = objectKey('shop', name);
    this.#remember();
    if (this.#sources.delete(key)) this.#process?.look(key);
  }

  start(): void {
    const process = new Process(this, this.#sinks);
    this.#process = process;
    for (const key of process.cache.keys()) process.look(key);
    this.clock.setTimer(this.#random() * this.lagMs, () => {
      const before = process.cache;
      process.cache = this.#sources;
      for (const key of new Set([...before.keys(), ...this.#sources.keys()])) process.look(key);
    });
  }

  /** What the cache of a process holds at first: it may be a few changes behind. */
  get cacheAtStart(): ReadonlyMap<ObjectKey, ConfigMap> {
    const behind = this.lagMs === 0 ? 0 : Math.floor(this.#random() * 4);
    return (behind > 0 && this.#former.at(-behind)) || this.#sources;
  }

  #remember(): void {
    this.#former.push(new Map(this.#sources));
    if (this.#former.length > 3) this.#former.shift();
  }

  /** What is on its way may arrive, or not, or late. */
  async end(how: End): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined) return;
    for (const uid of [...process.claiming, ...process.telling]) this.maybeLost.add(uid);
    if (how === 'crash') this.#countGaps(process);
    process.isFenced = how !== 'stop';
    process.isCut = how === 'crash' || how === 'lost lease';
    process.isDead = how === 'crash';
    if (how === 'overlap') {
      this.clock.setTimer(this.#random() * 2_000, () => {
        process.isCut = true;
        process.stop.abort();
      });
    } else if (how !== 'crash') process.stop.abort();
    if (how !== 'stop') return;
    let hasEnded = false;
    void process.ended.then(() => {
      hasEnded = true;
    });
    for (let rounds = 0; !hasEnded; rounds++) {
      if (rounds > 1_000) throw new Error('it does not stop');
      await this.clock.advance(100);
    }
  }

  #countGaps({ claiming, telling }: Process): void {
    const arrived = new Set(this.webhook.map(({ id }) => id));
    for (const uid of this.uids) {
      for (const notification of this.record(uid)?.sinks?.['ops']?.pending ?? []) {
        const isSent = arrived.has(notificationId('ops', uid, notification));
        this.gaps[isSent ? 'sent, not recorded' : 'stored, not sent'] += 1;
      }
    }
    this.gaps['on its way to a chat'] += telling.size;
    this.gaps['claimed, not sent'] += [...claiming].filter(
      (uid) => !telling.has(uid) && !this.chat.includes(uid),
    ).length;
  }

  /** The API as a process sees it: slow, with answers that get lost. */
  api(process: Process): Pick<ConfigMapApi, 'get' | 'create' | 'patch'> {
    const get = async (key: ObjectKey) => {
      await this.#back(process);
      const object = this.#sources.get(key);
      return object ?? this.#state.get(key);
    };
    const write = async <T>(data: object, send: () => Promise<T>): Promise<T> => {
      if (process.isFenced && !process.isDead) throw new NetworkError('not the leader', { code: 'ABORTED' });
      this.#noteClaims(process, data);
      await this.#thither(process);
      const fate = this.#random();
      if (fate < this.faults / 4) throw new NetworkError('it did not answer', { code: 'TIMEOUT' });
      const result = await send();
      await this.#back(process);
      if (fate < this.faults / 2) throw new NetworkError('it did not answer', { code: 'TIMEOUT' });
      return result;
    };
    return {
      get,
      create: (body) => write(body.data ?? {}, () => this.#state.create(body)),
      patch: (key, patch) => write(patch.data ?? {}, () => this.#state.patch(key, patch)),
    };
  }

  async deliver(process: Process, { name }: Sink, { items }: Message): Promise<Outcome> {
    const uids = name === 'chat' ? items.map(({ uid }) => uid) : [];
    if (process.isCut) return forever();
    for (const uid of uids) process.telling.add(uid);
    await this.#thither(process);
    const fate = this.#random();
    const mayHaveArrived = fate > this.faults / 2;
    const isFault = fate < this.faults;
    if (isFault && mayHaveArrived) for (const uid of uids) this.maybeLost.add(uid);
    if (!isFault || (mayHaveArrived && this.#random() < 0.5)) this.#arrive(name, items);
    await this.#back(process);
    for (const uid of uids) process.telling.delete(uid);
    const failed = { kind: 'failed', reason: 'a fault', retryAfterMs: undefined } as const;
    return isFault ? { ...failed, mayHaveArrived } : { kind: 'accepted' };
  }

  #arrive(sink: string, items: Message['items']): void {
    if (sink === 'chat') this.chatMessages += 1;
    for (const { uid, notification } of items) {
      const { type, version, seq } = notification;
      if (sink === 'chat') this.chat.push(uid);
      else this.webhook.push({ id: notificationId(sink, uid, notification), uid, type, version, seq });
    }
  }

  /** As a person who wants to start anew. */
  deleteState(): void {
    this.#state.objects.clear();
  }

  /** What the cluster remembers of a source. */
  record(uid: string): SourceRecord | undefined {
    const text = this.#state.objects.get(shardKey(PREFIX, shardOf(uid)))?.data?.[uid];
    return text === undefined ? undefined : recordsIn({ data: { [uid]: text } }, () => undefined).get(uid);
  }

  #noteClaims(process: Process, data: object): void {
    for (const [uid, text] of Object.entries(data)) {
      if (isClaim(text) && !this.chat.includes(uid)) process.claiming.add(uid);
    }
  }

  /** The way to a server. Of a process that has ended, a request is on its way, or was not sent. */
  async #thither(process: Process): Promise<void> {
    if (process.isDead) return forever();
    await this.#pause();
    if (process.isCut && this.#random() < 0.5) return forever();
  }

  /** The way back. Nobody hears an answer to a process that has crashed. */
  async #back(process: Process): Promise<void> {
    await this.#pause();
    if (process.isDead) return forever();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(this.#random() * this.pauseMs, resolve));
  }
}

/** One process, from its start to its end. */
export class Process {
  readonly stop = new AbortController();
  readonly ended: Promise<void>;
  /** It may write nothing more. */
  isFenced = false;
  /** It begins nothing more. */
  isCut = false;
  /** It does not even hear answers. */
  isDead = false;
  /** Of which it has asked the cluster to store that the chat was told, and not told it yet. */
  readonly claiming = new Set<string>();
  /** Of which it is telling the chat. */
  readonly telling = new Set<string>();
  cache: ReadonlyMap<ObjectKey, ConfigMap>;
  readonly #seen = new Map<ConfigMap, ObservedConfigMap>();
  readonly #notifier: Notifier;

  constructor(world: CrashWorld, sinks: readonly Sink[]) {
    const { clock, log } = world;
    this.#notifier = new Notifier({
      ...{ sinks, vocabulary, prefix: PREFIX, metrics: NO_METRICS, clock, log, random: () => 0.5 },
      api: world.api(this),
      isBusy: () => false,
      cluster: async () => 'a-cluster',
      report: () => undefined,
      deliver: (sink, message, signal) => {
        // Requests of a process that has crashed never end, and listen to it.
        setMaxListeners(0, signal);
        return Promise.race([world.deliver(this, sink, message), aborted(signal).then(() => CUT_OFF)]);
      },
    });
    this.cache = world.cacheAtStart;
    const sources = {
      whenSynced: async () => undefined,
      get: (key: ObjectKey) => this.#observed(key),
      all: () => [...this.cache.keys()].flatMap((key) => this.#observed(key) ?? []),
      queue: (key: ObjectKey) => void clock.setTimer(0, () => this.look(key)),
      content: () => Promise.reject(new Error('nobody asks for content')),
    };
    this.ended = this.#notifier.lead(sources, this.stop.signal);
  }

  /** The same object each time, as from an informer's store. */
  #observed(key: ObjectKey): ObservedConfigMap | undefined {
    const object = this.cache.get(key);
    if (object === undefined) return undefined;
    const seen = this.#seen.get(object) ?? observe(object, vocabulary);
    this.#seen.set(object, seen);
    return seen;
  }

  /** As after a pass of the controller. */
  look(key: ObjectKey): void {
    const object = this.#observed(key);
    const happening: Reconciled = {
      ...{ type: 'reconciled', source: key, object, result: 'ok', durationMs: 1 },
      ...{ companions: { 'in sync': 1 }, inSync: true },
    };
    this.#notifier.hear(happening);
  }
}

/** Whether a stored record says that the chat was told, or is about to be. */
function isClaim(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const { chat } = JSON.parse(text).sinks ?? {};
  return chat?.created === true && chat.pending === undefined;
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
