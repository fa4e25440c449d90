import { type BackoffOptions, backoffDelay } from '../../clock/backoff.ts';
import { aborted, type Clock, sleep } from '../../clock/clock.ts';
import { Wakeup } from '../../clock/wakeup.ts';
import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { ifFound, isAlreadyExists, isConflict, isNotFound, NetworkError } from '../../kube/errors.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type Change, changeOf, textOf } from './change.ts';
import type { SourceRecord } from './record.ts';
import { bytesOf, fitting, totalBytes } from './room.ts';
import { recordsIn, STATE_LABELS } from './stored-record.ts';
import { type Stored, type Waiter, withUnanswered } from './waiter.ts';

export interface StateShardDeps {
  /** Has the fence of leadership: only the holder writes. */
  readonly api: Pick<ConfigMapApi, 'get' | 'create' | 'patch'>;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  /** Whether something more urgent is being written: then changes wait, and are gathered. */
  readonly isBusy: () => boolean;
  /** These records are in the cluster as they were when the write began. */
  readonly onStored: (uids: readonly string[]) => void;
  /**
   * Somebody else has written, so the records were read again. What was not stored before is lost,
   * and must be found out anew.
   */
  readonly onReloaded: () => void;
  /** So many others have gone since that this record was dropped. */
  readonly onForgotten: (uid: string, record: SourceRecord) => void;
}

/** Least time (ms) between two writes, so that a burst of changes becomes few of them. */
const WRITE_INTERVAL_MS = 1_000;
/** Longest time (ms) that a write waits for what is more urgent, and how often it looks. */
const MOST_YIELDED_MS = 5_000;
const YIELD_MS = 100;
/**
 * Most that the writes of one ConfigMap cost (bytes per second). For each, etcd keeps the whole
 * object until it compacts its history, five minutes later by default: 300 MiB for all of them.
 */
const BYTES_PER_SECOND = 64 * 1024;
const BACKOFF: BackoffOptions = { baseMs: 500, capMs: 30_000, jitter: 0.5 };
/**
 * Sources that are gone and still remembered. A label may be set again, a deletion of companions
 * held later, and a notification that was recorded as sent can be refused.
 */
const MOST_GONE = 500;

const NOT_WRITTEN = 'notification state not written; what is not stored is not sent';

/**
 * Some of the records, in memory and in a ConfigMap. A write carries the resourceVersion of what
 * this process knows, so it fails if anybody else has written.
 */
export class StateShard {
  readonly records = new Map<string, SourceRecord>();
  readonly #key: ObjectKey;
  readonly #deps: StateShardDeps;
  /** Undefined: the ConfigMap does not exist. */
  #resourceVersion: string | undefined;
  /** The sequence number and the size of each record in the cluster, malformed ones included. */
  readonly #stored = new Map<string, { readonly seq: number; readonly bytes: number }>();
  /** Of records that the cluster does not know as they are, the oldest change first. */
  #changed = new Set<string>();
  /** Those for whom the next write is. */
  #waiters: readonly Waiter[] = [];
  /** Somebody else has written: it must be read again before the next write. */
  #isStale = false;
  #isStopped = false;
  #failures = 0;
  #unwrittenSince = Number.POSITIVE_INFINITY;
  readonly #wakeup = new Wakeup();

  constructor(key: ObjectKey, deps: StateShardDeps) {
    this.#key = key;
    this.#deps = deps;
  }

  get exists(): boolean {
    return this.#resourceVersion !== undefined;
  }

  /** Since when (ms since the epoch) changes cannot be stored; Infinity: they can. */
  get unwrittenSince(): number {
    return this.#unwrittenSince;
  }

  /** Changes a record. It is written soon. */
  set(uid: string, record: SourceRecord): void {
    this.records.set(uid, record);
    this.#changed.add(uid);
    this.#wakeup.wake();
  }

  /** Whether the cluster knows the notifications up to `seq`. */
  isStored(uid: string, seq: number): boolean {
    return (this.#stored.get(uid)?.seq ?? 0) >= seq;
  }

  /**
   * Resolves when the record is in the cluster as it is now, or that cannot be. Without a uid: the
   * same for all records; it creates the ConfigMap even if there are none.
   */
  stored(uid?: string): Promise<Stored> {
    if (this.#isStopped) return Promise.resolve('stopped');
    if (uid !== undefined) this.#changed.add(uid);
    return new Promise((resolve) => {
      this.#waiters = [...this.#waiters, { uid, unanswered: [], resolve }];
      this.#wakeup.wake();
    });
  }

  /** Reads the records from the cluster. Rejects as the API does. */
  async load(): Promise<void> {
    const { api, log } = this.#deps;
    const object = await ifFound(api.get(this.#key));
    this.#resourceVersion = object?.metadata.resourceVersion;
    this.#isStale = false;
    this.#changed.clear();
    this.records.clear();
    this.#stored.clear();
    const records = recordsIn(object ?? {}, (uid) => {
      log.warn({ configMap: this.#key, uid }, 'notification state malformed; the source counts as new');
    });
    for (const [uid, record] of records) this.records.set(uid, record);
    for (const [uid, text] of Object.entries(object?.data ?? {})) {
      this.#stored.set(uid, { seq: records.get(uid)?.seq ?? 0, bytes: bytesOf({ uid, text }) });
    }
  }

  /** Writes changes until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps;
    void aborted(signal).then(() => this.#wakeup.wake());
    while (!signal.aborted) {
      if (this.#isDirty) {
        await this.#yield(signal);
        const isWritten = await this.#attempt();
        const delayMs = isWritten ? this.#intervalMs : backoffDelay(this.#failures, BACKOFF, random);
        await sleep(clock, delayMs, signal);
      } else await this.#wakeup.wait(clock);
    }
    this.#isStopped = true;
    this.#answerWaiters(() => 'stopped');
  }

  /** To be called after the end of `run`: tries once to write what is left. Never rejects. */
  async flush(): Promise<void> {
    if (!this.#isDirty || this.#isStale) return;
    // Without leadership it is refused, and whoever leads now finds out the same.
    await this.#write().catch((err) => {
      this.#deps.log.debug({ configMap: this.#key, err }, 'the last of the notification state not written');
    });
  }

  get #isDirty(): boolean {
    return this.#isStale || this.#changed.size > 0 || this.#waiters.length > 0;
  }

  get #intervalMs(): number {
    return Math.max(WRITE_INTERVAL_MS, (1_000 * totalBytes(this.#stored)) / BYTES_PER_SECOND);
  }

  async #yield(signal: AbortSignal): Promise<void> {
    const { clock, isBusy } = this.#deps;
    const until = clock.now() + MOST_YIELDED_MS;
    while (isBusy() && clock.now() < until && !signal.aborted) await sleep(clock, YIELD_MS, signal);
  }

  /** Whether the API server took it. */
  async #attempt(): Promise<boolean> {
    try {
      const left = this.#isStale ? await this.#reload() : await this.#write();
      this.#failures = 0;
      this.#noteUnwritten(left === 0 ? undefined : new Error(`it is full, and ${left} sources wait`));
      return true;
    } catch (err) {
      this.#failures += 1;
      this.#noteUnwritten(err);
      return false;
    }
  }

  /** `err`: why the cluster does not know everything; undefined: it does. */
  #noteUnwritten(err: unknown): void {
    const { clock, log } = this.#deps;
    const hasBegun = Number.isFinite(this.#unwrittenSince);
    if (err === undefined) {
      if (hasBegun) log.info({ configMap: this.#key, was: NOT_WRITTEN }, 'resolved');
      this.#unwrittenSince = Number.POSITIVE_INFINITY;
    } else if (!hasBegun) {
      log.warn({ configMap: this.#key, err }, NOT_WRITTEN);
      this.#unwrittenSince = clock.wallTime().getTime();
    }
  }

  /** Returns how many changes are left to be written: none. */
  async #reload(): Promise<number> {
    await this.load();
    this.#answerWaiters(({ uid, unanswered }) => {
      const isThere = uid !== undefined && unanswered.includes(textOf(this.records.get(uid)));
      return isThere ? 'stored' : 'reloaded';
    });
    this.#deps.onReloaded();
    return 0;
  }

  /**
   * Writes the changes for which there is room. The others follow when what is stored was sent, and
   * so takes less. Returns how many they are.
   */
  async #write(): Promise<number> {
    this.#forgetOldest();
    const all = Array.from(this.#changed, (uid) => changeOf(uid, this.records.get(uid)));
    const changes = fitting(all, this.#stored);
    if (all.length > 0 && changes.length === 0) return all.length;
    const uids = changes.map(({ uid }) => uid);
    const left = new Set(this.#changed);
    for (const uid of uids) left.delete(uid);
    const waiters = this.#waiters;
    this.#changed = new Set(left);
    this.#waiters = [];
    try {
      await this.#send(changes);
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) this.#isStale = true;
      // It may have been applied all the same. If so, the next attempt meets a conflict, and the
      // reading that follows shows what is there.
      this.#changed = new Set([...uids, ...this.#changed]);
      const again =
        error instanceof NetworkError ? waiters.map((each) => withUnanswered(each, changes)) : waiters;
      this.#waiters = [...again, ...this.#waiters];
      throw error;
    }
    this.#noteStored(changes);
    const mustWait = ({ uid }: Waiter) => (uid === undefined ? left.size > 0 : left.has(uid));
    this.#waiters = [...waiters.filter(mustWait), ...this.#waiters];
    for (const waiter of waiters) if (!mustWait(waiter)) waiter.resolve('stored');
    this.#deps.onStored(uids);
    return left.size;
  }

  #noteStored(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.text === undefined) this.#stored.delete(change.uid);
      else this.#stored.set(change.uid, { seq: change.seq, bytes: bytesOf(change) });
    }
  }

  /** Only records that have changed are sent. */
  async #send(changes: readonly Change[]): Promise<void> {
    const { api } = this.#deps;
    const { namespace, name } = splitKey(this.#key);
    const resourceVersion = this.#resourceVersion;
    const present = changes.flatMap(({ uid, text }) => (text === undefined ? [] : [[uid, text] as const]));
    const metadata =
      resourceVersion === undefined
        ? await api.create({
            metadata: { namespace, name, labels: STATE_LABELS },
            data: Object.fromEntries(present),
          })
        : await api.patch(this.#key, {
            metadata: { resourceVersion },
            data: Object.fromEntries(changes.map(({ uid, text }) => [uid, text ?? null])),
          });
    this.#resourceVersion = metadata.resourceVersion;
  }

  #answerWaiters(stored: (waiter: Waiter) => Stored): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.resolve(stored(waiter));
  }

  #forgetOldest(): void {
    const gone = [...this.records].filter(([, record]) => record.gone && !hasPending(record));
    gone.sort(([, a], [, b]) => (a.at < b.at ? -1 : 1));
    for (const [uid, record] of gone.slice(0, -MOST_GONE)) {
      this.records.delete(uid);
      this.#changed.add(uid);
      this.#deps.onForgotten(uid, record);
    }
  }
}

function hasPending({ sinks = {} }: SourceRecord): boolean {
  return Object.values(sinks).some(({ pending }) => pending !== undefined);
}
