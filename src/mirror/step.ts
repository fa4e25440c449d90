import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Difference } from './drift.ts';
import type { ObservedConfigMap } from './observed.ts';

/**
 * What is to be done about one companion, and why. A plan is a list of these, one for each companion that there is
 * or should be: what is left alone is in it too, so that a person can be told.
 */
export type Step =
  | {
      readonly action: 'none';
      readonly companion: ObjectKey;
      /**
       * - `conflict`: something that is not ours is at the name.
       * - `refused`: the administrator's bounds or the namespace's owner do not want it there.
       * - `retained`: no longer wanted, and kept as the source asked.
       * - `waiting`: it, or its namespace, is being deleted: what comes next comes with an event.
       */
      readonly state: 'in sync' | 'conflict' | 'refused' | 'retained' | 'waiting';
      readonly reason: string;
    }
  | {
      readonly action: 'create';
      readonly companion: ObjectKey;
      readonly state: 'missing';
      readonly reason: string;
    }
  | {
      /**
       * The name looks free, and another source comes first (SPEC R7). It is left to that one, but for this: our companion
       * may be there unseen, its label stripped; then we are the holder. Looked at again, since nobody tells when the
       * other one gives up.
       */
      readonly action: 'defer';
      readonly companion: ObjectKey;
      readonly state: 'conflict';
      readonly reason: string;
    }
  | {
      /** `replace`: delete and create anew, because its content must change and it is immutable (SPEC R12). */
      readonly action: 'update' | 'replace';
      readonly companion: ObjectKey;
      readonly state: 'drifted';
      readonly reason: string;
      readonly actual: ObservedConfigMap;
      readonly differences: readonly Difference[];
    }
  | {
      readonly action: 'delete';
      readonly companion: ObjectKey;
      readonly state: 'unwanted';
      readonly reason: string;
      readonly actual: ObservedConfigMap;
    };
