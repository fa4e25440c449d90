import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Difference } from '../companion/drift.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';

/**
 * What to do about one companion, and why. A plan has a step for each companion that exists or
 * should exist, also for those left alone, so that the reason can be reported.
 */
export type Step = { readonly companion: ObjectKey; readonly reason: string } & (
  | {
      readonly action: 'none';
      /**
       * - `conflict`: a different object has the name.
       * - `retained`: no longer desired, but kept as the source asked.
       * - `no namespace`: the source names a namespace that does not exist.
       * - `unresolved`: its content cannot be rendered, so it stays as it is (SPEC V4).
       */
      readonly state: 'in sync' | 'conflict' | 'retained' | 'no namespace' | 'unresolved';
    }
  | {
      /**
       * It is left as it is for now. `delayed`: no longer desired, and to be deleted if that is so
       * for a while (SPEC D3).
       */
      readonly action: 'none';
      readonly state: 'waiting' | 'delayed';
      /**
       * When to plan again (ms since the epoch). Absent: a watch event will follow, such as the end
       * of the companion or its namespace, which is being deleted; or only the controller knows.
       */
      readonly until?: number;
    }
  | {
      /** The administrator or the namespace's owner refuses it. */
      readonly action: 'none';
      readonly state: 'refused';
      /** Whether the source names the namespace exactly. */
      readonly named: boolean;
      /** Whether the namespace says nothing about consent and `--require-consent` is set. */
      readonly unsaid: boolean;
    }
  | {
      readonly action: 'create';
      readonly state: 'missing';
    }
  | {
      /**
       * The name looks free, but another source comes first (SPEC R7). The writer checks whether
       * our own companion is there without its label: then this source keeps the name.
       */
      readonly action: 'defer';
      readonly state: 'conflict';
    }
  | {
      /** `replace`: delete and create, because immutable content must change (SPEC R12). */
      readonly action: 'update' | 'replace';
      /** `retained`: one last write marks a companion that is no longer desired (SPEC R4). */
      readonly state: 'drifted' | 'retained';
      readonly actual: ObservedConfigMap;
      readonly differences: readonly Difference[];
      /** When to plan again (ms since the epoch), because its content waits (SPEC D7). */
      readonly until?: number;
    }
  | {
      readonly action: 'delete';
      readonly state: 'unwanted';
      readonly actual: ObservedConfigMap;
      /** Whether the brake counts and may hold it. False if a user asked for just this. */
      readonly counts: boolean;
    }
  | {
      /** No longer desired, and its deletion is held until a user releases it (SPEC D1). */
      readonly action: 'none';
      readonly state: 'held';
      readonly wave: string;
    }
  | {
      /** Likewise, and the companion must be marked with the wave first. */
      readonly action: 'update';
      readonly state: 'held';
      readonly wave: string;
      readonly actual: ObservedConfigMap;
      readonly differences: readonly Difference[];
    }
);

/** `until` undefined: until a watch event. */
export function waiting(companion: ObjectKey, reason: string, until?: number): Step {
  const step = { action: 'none', companion, state: 'waiting', reason } as const;
  return until === undefined ? step : { ...step, until };
}

/**
 * Whether a companion is in the state that was asked for. A pattern such as `*` normally matches
 * namespaces that refuse, too.
 */
export function isAsAsked({ state, named }: { readonly state: string; readonly named?: boolean }): boolean {
  return state === 'in sync' || state === 'retained' || (state === 'refused' && named === false);
}
