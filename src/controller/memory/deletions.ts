import type { Clock } from '../../clock/clock.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';

/** How long (ms) the brake counts a deletion (SPEC D1). */
const WINDOW_MS = 60_000;

interface Deletion {
  /** Of the source. */
  readonly namespace: string;
  readonly begunAt: number;
}

/**
 * The deletions of the last 60 s that the brake counts. They count from when they are planned, and
 * again from when they are sent: if the reply is lost, the companion may be gone. One that fails
 * still counts, as it would if it were due.
 */
export class Deletions {
  readonly #clock: Clock;
  /** By uid, oldest first. */
  readonly #begun = new Map<string, Deletion>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The deletion of a companion is planned or sent. `namespace`: that of its source. */
  begins(namespace: string, { uid }: ObservedConfigMap): void {
    this.#forgetOld();
    this.#begun.delete(uid);
    this.#begun.set(uid, { namespace, begunAt: this.#clock.now() });
  }

  /** Uids of the companions. `namespace`: that of their sources. */
  recent(namespace: string): ReadonlySet<string> {
    this.#forgetOld();
    const found = new Set<string>();
    for (const [uid, deletion] of this.#begun) if (deletion.namespace === namespace) found.add(uid);
    return found;
  }

  #forgetOld(): void {
    const oldest = this.#clock.now() - WINDOW_MS;
    for (const [uid, { begunAt }] of this.#begun) {
      if (begunAt > oldest) break;
      this.#begun.delete(uid);
    }
  }
}
