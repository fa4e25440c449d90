import { onTestFinished } from 'vitest';
import type { ProblemKind, Reconciled } from '../../src/controller/memory/happening.ts';
import { type ObjectKey, objectKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { type ObservedConfigMap, observe } from '../../src/mirror/observe/observed-config-map.ts';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import type { Outcome } from '../../src/notify/delivery/delivery.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { type Metrics, NO_METRICS } from '../../src/telemetry/metrics.ts';
import { MemoryApi } from '../controller/memory-api.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { vocabulary } from '../mirror/wire.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** How the keys of the state's ConfigMaps begin. */
export const PREFIX = objectKey('home', 'mirror-controller-notify');
/** The source that a room is about, unless it says otherwise. */
export const KEY = objectKey('shop', 'colors');

/** A cluster in memory and sinks that take everything, with one notifier after another. */
export class Room {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  readonly api: MemoryApi;
  /** `type key`, as sent. */
  readonly sent: string[] = [];
  readonly sequence: number[] = [];
  config = 'sinks: [{name: ops, type: webhook, url: "https://ops", default: true}]';
  readonly reported: string[] = [];
  writes = 0;
  /** Called before each request to the API. */
  before: () => Promise<void> = async () => undefined;
  cluster = async () => 'a-cluster';
  /** When the cache is complete. */
  whenSynced: () => Promise<void> = async () => undefined;
  /** How the receiver answers, and before that to the first attempts. */
  outcome: Outcome = { kind: 'accepted' };
  readonly outcomes: Outcome[] = [];
  /** Whether companions are being written. */
  isBusy = false;
  metrics: Metrics = NO_METRICS;
  #notifier: Notifier | undefined;
  /** The same observation each time, as from an informer's store. */
  readonly #seen = new Map<ConfigMap, ObservedConfigMap>();
  #stop = new AbortController();

  constructor(api = new MemoryApi()) {
    this.api = api;
  }

  start(): Promise<void> {
    const { api, clock, log } = this;
    const sinks = parseNotifyConfig(this.config, '/');
    const write = async <T>(send: () => Promise<T>) => {
      await this.before();
      this.writes += 1;
      return send();
    };
    this.#notifier = new Notifier({
      ...{ sinks: sinks.ok ? sinks.value : [], vocabulary, prefix: PREFIX, clock, log },
      metrics: this.metrics,
      random: () => 0,
      isBusy: () => this.isBusy,
      api: {
        get: async (key) => {
          await this.before();
          return api.get(key);
        },
        create: (body) => write(() => api.create(body)),
        patch: (key, patch) => write(() => api.patch(key, patch)),
      },
      cluster: () => this.cluster(),
      report: (uid, _, reason, note) => void this.reported.push(`${uid} ${reason} ${note}`),
      deliver: async (_, { items: [{ ref, notification }] }) => {
        this.sent.push(`${notification.type} ${ref}`);
        this.sequence.push(notification.seq);
        return this.outcomes.shift() ?? this.outcome;
      },
    });
    return this.lead();
  }

  /** As when the same process has got the Lease, for the first time or again. */
  lead(): Promise<void> {
    const { api } = this;
    if (this.#notifier === undefined) throw new Error('there is no process');
    this.#stop = new AbortController();
    const ended = this.#notifier.lead(
      {
        whenSynced: () => this.whenSynced(),
        get: (key) => this.#observed(key),
        all: () => [...api.objects.keys()].flatMap((key) => this.#observed(key) ?? []),
        queue: (key) => void this.clock.setTimer(0, () => this.look({}, key)),
        content: () => Promise.reject(new Error('nobody asks for content')),
      },
      this.#stop.signal,
    );
    onTestFinished(() => this.#stop.abort());
    return ended;
  }

  /** Stops it, and lets so much time (ms) pass. */
  stop(ms = 5_000): Promise<void> {
    this.#stop.abort();
    return this.clock.advance(ms);
  }

  /** Writes a source, and looks at it as after a pass. */
  async put(object: ConfigMap, pass: Partial<Reconciled> = {}): Promise<void> {
    this.api.objects.set(KEY, object);
    this.look(pass);
    await this.clock.advance(2_000);
  }

  /** Deletes the source, or removes its label, and looks. */
  async remove(pass: Partial<Reconciled> = {}): Promise<void> {
    this.api.objects.delete(KEY);
    this.look(pass);
    await this.clock.advance(2_000);
  }

  look(pass: Partial<Reconciled> = {}, key = KEY): void {
    this.#notifier?.hear({
      ...{ type: 'reconciled', source: key, object: this.#observed(key), result: 'ok', durationMs: 1 },
      ...{ companions: { 'in sync': 1 }, inSync: true, ...pass },
    });
  }

  problem(state: 'began' | 'resolved', kind: ProblemKind, reason = 'why', topic?: string): void {
    this.#notifier?.hear({
      ...{ type: 'problem', state, kind, source: KEY, object: this.#observed(KEY), subject: KEY, reason },
      ...{ namespaceUid: undefined, topic, editedBy: undefined },
    });
  }

  #observed(key: ObjectKey) {
    const object = this.api.objects.get(key);
    if (object === undefined || !key.startsWith('shop/')) return undefined;
    const seen = this.#seen.get(object) ?? observe(object, vocabulary);
    this.#seen.set(object, seen);
    return seen;
  }
}
