import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { SourceRecord } from './record.ts';
import { StateShard, type StateShardDeps } from './state-shard.ts';
import { SHARDS, shardKey, shardOf } from './stored-record.ts';
import type { Stored } from './waiter.ts';

export interface NotifyStateDeps extends Omit<StateShardDeps, 'onReloaded' | 'onForgotten'> {
  /** How the keys of the ConfigMaps begin. */
  readonly prefix: ObjectKey;
  /** See `StateShardDeps`. `wasDeleted`: there is nothing of these sources any more. */
  readonly onReloaded: (isAffected: (uid: string) => boolean, wasDeleted: boolean) => void;
}

/** What is remembered of all sources, in memory and in the cluster (SPEC N4). */
export class NotifyState {
  readonly #shards: readonly StateShard[];
  /** The uid of the last source that has, or had, a name. */
  readonly #uids = new Map<ObjectKey, string>();

  constructor(deps: NotifyStateDeps) {
    this.#shards = Array.from({ length: SHARDS }, (_, at) => {
      const onReloaded = () => {
        this.#indexAll();
        deps.onReloaded((uid) => shardOf(uid) === at, !this.#shard(at).exists);
      };
      const onForgotten = (uid: string, { ref }: SourceRecord) => {
        if (this.#uids.get(ref) === uid) this.#uids.delete(ref);
      };
      return new StateShard(shardKey(deps.prefix, at), { ...deps, onReloaded, onForgotten });
    });
  }

  /**
   * Whether somebody has written it before. The first shard says so: it is written last on the very
   * first start.
   */
  get exists(): boolean {
    return this.#shard(0).exists;
  }

  /** Reads it. Rejects as the API does. */
  async load(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.load()));
    this.#indexAll();
  }

  /**
   * Tells of which sources the ConfigMap does not exist now: nobody has written it yet, or somebody
   * has deleted it. Undefined if all exist.
   */
  missing(): ((uid: string) => boolean) | undefined {
    if (!this.exists) return () => true;
    const missing = this.#shards.map((shard) => !shard.exists);
    return missing.includes(true) ? (uid) => missing[shardOf(uid)] === true : undefined;
  }

  /**
   * Stores everything known now, in ConfigMaps that all exist then: the first comes last. Resolves
   * to false if that cannot be.
   */
  async allStored(): Promise<boolean> {
    const others = await Promise.all(this.#shards.slice(1).map((shard) => shard.stored()));
    return others.every((each) => each === 'stored') && (await this.#shard(0).stored()) === 'stored';
  }

  get(uid: string): SourceRecord | undefined {
    return this.#of(uid).records.get(uid);
  }

  /** The uid under which a source is known that is not gone. */
  uidAt(ref: ObjectKey): string | undefined {
    return this.#lastAt(ref)?.gone ? undefined : this.#uids.get(ref);
  }

  /** The uid of the last source of this name, if it is gone. */
  goneAt(ref: ObjectKey): string | undefined {
    return this.#lastAt(ref)?.gone ? this.#uids.get(ref) : undefined;
  }

  *entries(): Iterable<readonly [uid: string, record: SourceRecord]> {
    for (const shard of this.#shards) yield* shard.records;
  }

  set(uid: string, record: SourceRecord): void {
    this.#of(uid).set(uid, record);
    this.#index(uid, record);
  }

  /** Since when (ms since the epoch) some changes cannot be stored; Infinity: all can. */
  get unwrittenSince(): number {
    return Math.min(...this.#shards.map((shard) => shard.unwrittenSince));
  }

  /** Whether the cluster knows the notifications up to `seq`. */
  isStored(uid: string, seq: number): boolean {
    return this.#of(uid).isStored(uid, seq);
  }

  /** Resolves when the record is in the cluster as it is now, or that cannot be. */
  stored(uid: string): Promise<Stored> {
    return this.#of(uid).stored(uid);
  }

  /** Writes changes until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.run(signal)));
  }

  /** To be called after the end of `run`: tries once to write what is left. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.flush()));
  }

  #indexAll(): void {
    this.#uids.clear();
    for (const [uid, record] of this.entries()) this.#index(uid, record);
  }

  #index(uid: string, { ref, gone, at }: SourceRecord): void {
    const last = this.#lastAt(ref);
    if (!gone || last === undefined || (last.gone && last.at < at)) this.#uids.set(ref, uid);
  }

  #lastAt(ref: ObjectKey): SourceRecord | undefined {
    const uid = this.#uids.get(ref);
    return uid === undefined ? undefined : this.get(uid);
  }

  #of(uid: string): StateShard {
    return this.#shard(shardOf(uid));
  }

  #shard(at: number): StateShard {
    const shard = this.#shards[at];
    if (shard === undefined) throw new Error(`there is no shard ${at}`);
    return shard;
  }
}
