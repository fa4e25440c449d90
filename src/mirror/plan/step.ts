import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Difference } from '../companion/drift.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';

/**
 * What is to be done about one companion, and why. A plan has one for each companion that exists or should exist: what is
 * left alone is in it too, so that a person can be told why.
 */
export type Step =
  | {
      readonly action: 'none';
      readonly companion: ObjectKey;
      /**
       * - `conflict`: an unrelated object has the name.
       * - `no namespace`: the source names a namespace that does not exist.
       * - `retained`: no longer needed, and kept as the source asked.
       * - `waiting`: it, or its namespace, is being deleted. A watch event will follow.
       */
      readonly state: 'in sync' | 'conflict' | 'no namespace' | 'retained' | 'waiting';
      readonly reason: string;
    }
  | {
      readonly action: 'none';
      readonly companion: ObjectKey;
      /** The administrator's bounds or the namespace's owner do not want it there. */
      readonly state: 'refused';
      readonly reason: string;
      /** Whether the source names the namespace; else only a pattern or selector matches it. */
      readonly named: boolean;
    }
  | {
      readonly action: 'create';
      readonly companion: ObjectKey;
      readonly state: 'missing';
      readonly reason: string;
    }
  | {
      /**
       * The name looks free, and another source comes first (SPEC R7). It is left to that one, unless our companion is there
       * unseen, its label stripped. Checked again from time to time, since nothing shows when the other source gives up.
       */
      readonly action: 'defer';
      readonly companion: ObjectKey;
      readonly state: 'conflict';
      readonly reason: string;
    }
  | {
      /**
       * `replace`: delete and create, because its content must change and it is immutable (SPEC R12). State `retained`: one
       * last update, which marks it as what is to be kept (SPEC R4).
       */
      readonly action: 'update' | 'replace';
      readonly companion: ObjectKey;
      readonly state: 'drifted' | 'retained';
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
