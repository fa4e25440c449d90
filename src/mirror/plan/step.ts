import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Difference } from '../companion/drift.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';

/**
 * What to do about one companion, and why. A plan has one step for each companion that exists or
 * should, those left alone included, so that a person can learn why.
 */
export type Step =
  | {
      readonly action: 'none';
      readonly companion: ObjectKey;
      /**
       * - `conflict`: a different object has the name.
       * - `retained`: no longer desired, and kept as the source asked.
       * - `waiting`: it or its namespace is being deleted. An event will follow.
       * - `no namespace`: the source names a namespace that does not exist.
       */
      readonly state: 'in sync' | 'conflict' | 'retained' | 'waiting' | 'no namespace';
      readonly reason: string;
    }
  | {
      /** The administrator's bounds or the namespace's owner do not want it there. */
      readonly action: 'none';
      readonly companion: ObjectKey;
      readonly state: 'refused';
      readonly reason: string;
      /**
       * Whether the source names the namespace. That a pattern or selector matches it is not news.
       */
      readonly named: boolean;
      /**
       * Whether the namespace says nothing about consent, which `--require-consent` takes as a no.
       */
      readonly unsaid: boolean;
    }
  | {
      readonly action: 'create';
      readonly companion: ObjectKey;
      readonly state: 'missing';
      readonly reason: string;
    }
  | {
      /**
       * The name looks free, but another source comes first (SPEC R7) and gets it. Unless our own
       * companion is there unseen, its label stripped: then this source holds the name. To be
       * looked at again, since no event says when the other source gives up.
       */
      readonly action: 'defer';
      readonly companion: ObjectKey;
      readonly state: 'conflict';
      readonly reason: string;
    }
  | {
      /** `replace`: delete and create, because immutable content must change (SPEC R12). */
      readonly action: 'update' | 'replace';
      readonly companion: ObjectKey;
      /** `retained`: one last write marks a companion that is no longer desired (SPEC R4). */
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

/**
 * In how many namespaces a source gets no companion, though a pattern or selector of it matches,
 * only because they say nothing and `--require-consent` is set (SPEC P3).
 */
export function unconsentedMatches(steps: readonly Step[]): number {
  return steps.filter((step) => step.state === 'refused' && step.unsaid && !step.named).length;
}
