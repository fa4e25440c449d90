import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import type { ObservedNamespace } from '../../mirror/observe/observed-namespace.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { Logger } from '../../telemetry/logger.ts';

/**
 * What the controller reports to its listeners, such as Events and metrics. `source` is the key of
 * a source; `object` the source as it is in the cache, undefined when it is gone or unlabelled.
 */
export type Happening = Noticed | Written | Reconciled | ProblemChanged | ConsentChanged;

/**
 * Called synchronously, so it must return at once. What it throws is logged.
 */
export type Listener = (happening: Happening) => void;

/** A change that concerns a source was seen, after the first list. The source is queued. */
export interface Noticed {
  readonly type: 'noticed';
  readonly source: ObjectKey;
  /** `heal`: another client changed or deleted a companion. */
  readonly cause: 'edit' | 'heal' | 'namespace';
}

/** A write of a companion has ended. */
export interface Written {
  readonly type: 'written';
  readonly source: ObjectKey;
  readonly object: ObservedConfigMap | undefined;
  readonly companion: ObjectKey;
  /** What was done, or attempted; `none` if the companion was already in sync. */
  readonly action: Step['action'];
  readonly reason: string;
  /** `stale`: the cache was behind, which is normal; the source is planned again. */
  readonly result: 'ok' | 'stale' | 'failed';
  /** Time (ms) from the write's beginning to its answer. */
  readonly durationMs: number;
  /** Set if it undid what another client did to the companion. */
  readonly heal: Heal | undefined;
}

export interface Heal {
  /** The field manager of the edit; undefined if unknown, as after a deletion. */
  readonly editedBy: string | undefined;
}

/** Numbers of companions, by state; a state without any is absent. */
export type CompanionCounts = Readonly<Partial<Record<Step['state'], number>>>;

/** A pass over a source has ended, and its writes with it. */
export interface Reconciled {
  readonly type: 'reconciled';
  readonly source: ObjectKey;
  readonly object: ObservedConfigMap | undefined;
  /**
   * - `invalid`: an annotation is invalid.
   * - `failed`: the source could not be read, or a write failed.
   * - `stale`: the cache was behind, which is normal; the source is planned again.
   */
  readonly result: 'ok' | 'invalid' | 'failed' | 'stale';
  /** Time (ms) from the pass's beginning to the answer to its last write. */
  readonly durationMs: number;
  /** Companions after the pass; empty if there was no plan. */
  readonly companions: CompanionCounts;
  /** Whether every companion that the source asks for is in sync, and no other is left. */
  readonly inSync: boolean;
  /** Set if companions hold earlier content because of a pin or a canary (SPEC D5, D6). */
  readonly isHeldBack?: true;
}

/**
 * - `invalid`: nothing is written for the source, because one of its annotations is invalid.
 * - `unresolved`, `annotation` (unknown, or without effect), `no consent`: about a valid source.
 * - `flapping`: the source has had more than ten versions within a minute.
 * - `deletes held`: the brake holds deletions of its companions. The source may be gone.
 * - `canary waiting`, `canary failed`, `missing revision`: of the source's new or pinned content.
 * - `revision not kept`: of one revision. Companions stay as they are.
 * - `conflict`, `refused`, `target missing`, `write failed`, `fighting`: of one companion.
 */
export type ProblemKind =
  | 'invalid'
  | 'unresolved'
  | 'annotation'
  | 'no consent'
  | 'deletes held'
  | 'flapping'
  | 'canary waiting'
  | 'canary failed'
  | 'missing revision'
  | 'revision not kept'
  | 'conflict'
  | 'refused'
  | 'target missing'
  | 'write failed'
  | 'fighting';

/** A problem began or was resolved. One of a companion may replace another. */
export interface ProblemChanged {
  readonly type: 'problem';
  readonly state: 'began' | 'resolved';
  readonly kind: ProblemKind;
  readonly source: ObjectKey;
  readonly object: ObservedConfigMap | undefined;
  /** Uid of the source's Namespace; undefined if that is not known, or gone. */
  readonly namespaceUid: string | undefined;
  /** The key of the companion or the revision, or the source's own. */
  readonly subject: ObjectKey;
  readonly reason: string;
  /** What makes it news, where that is not the reason: a number in the reason may change. */
  readonly topic?: string | undefined;
  /** In a fight, the other client's field manager, if known. */
  readonly editedBy: string | undefined;
}

/** A Namespace's consent annotation became malformed, or is no longer. */
export interface ConsentChanged {
  readonly type: 'consent';
  readonly state: 'began' | 'resolved';
  readonly namespace: ObjectKey;
  /** Undefined when it is gone. */
  readonly object: ObservedNamespace | undefined;
  readonly reason: string;
}

/** One listener that calls all of them. */
export function emitToAll(listeners: readonly Listener[], log: Logger): Listener {
  return (happening) => {
    for (const listener of listeners) {
      try {
        listener(happening);
      } catch (err) {
        log.error({ happening: happening.type, err }, 'a listener failed');
      }
    }
  };
}
