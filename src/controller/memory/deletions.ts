import type { Clock } from '../../clock/clock.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';

/** How long (ms) the brake counts a deletion (SPEC D1). */
const WINDOW_MS = 60_000;

interface Deletion {
  /** Of the source. */
  readonly namespace: string;
  readonly at: number;
}

/**
 * The deletions of the last 60 s that the brake counts. They count from when they are planned,
 * until the next plan of their source, and again from when they are sent: if the reply is lost, the
 * companion may be gone. One that fails still counts, as it would if it were due.
 */
export class Deletions {
  readonly #clock: Clock;
  /** By the source, oldest first. */
  readonly #planned = new Map<ObjectKey, Deletion & { readonly uids: readonly string[] }>();
  /** By the companion's uid, oldest first. */
  readonly #sent = new Map<string, Deletion>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The deletions in the latest plan of the source. */
  plans(source: ObjectKey, companions: readonly ObservedConfigMap[]): void {
    this.#planned.delete(source);
    if (companions.length === 0) return;
    this.#forgetOld(this.#planned);
    const { namespace } = splitKey(source);
    this.#planned.set(source, { namespace, at: this.#clock.now(), uids: companions.map(({ uid }) => uid) });
  }

  /** The deletion of a companion of the source is sent. */
  begins(source: ObjectKey, { uid }: ObservedConfigMap): void {
    this.#forgetOld(this.#sent);
    this.#sent.delete(uid);
    this.#sent.set(uid, { namespace: splitKey(source).namespace, at: this.#clock.now() });
  }

  /** Uids of the companions. `namespace`: that of their sources. */
  recent(namespace: string): ReadonlySet<string> {
    this.#forgetOld(this.#planned);
    this.#forgetOld(this.#sent);
    const found = new Set<string>();
    for (const planned of this.#planned.values()) {
      if (planned.namespace === namespace) for (const uid of planned.uids) found.add(uid);
    }
    for (const [uid, sent] of this.#sent) if (sent.namespace === namespace) found.add(uid);
    return found;
  }

  #forgetOld<K>(deletions: Map<K, Deletion>): void {
    const oldest = this.#clock.now() - WINDOW_MS;
    for (const [key, { at }] of deletions) {
      if (at > oldest) break;
      deletions.delete(key);
    }
  }
}
