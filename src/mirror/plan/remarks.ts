import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { unknownAnnotations } from '../request/unknown-annotations.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { type Step, unconsentedMatches } from './step.ts';

export interface Remark {
  readonly kind: 'unknown annotation' | 'no consent';
  /** One sentence. */
  readonly text: string;
}

/** What the author of a valid source probably did not mean (SPEC R13, P3). */
export function remarksOn(
  source: ObservedConfigMap,
  steps: readonly Step[],
  vocabulary: Vocabulary,
): readonly Remark[] {
  const unknown = unknownAnnotations(source, vocabulary).map(
    (text): Remark => ({ kind: 'unknown annotation', text }),
  );
  const unconsented = unconsentedMatches(steps);
  if (unconsented === 0) return unknown;
  const text = `${unconsented} matching ${unconsented === 1 ? 'namespace has' : 'namespaces have'} no accept-mirrors-from, and --require-consent is set`;
  return [...unknown, { kind: 'no consent', text }];
}
