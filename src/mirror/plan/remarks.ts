import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { unknownAnnotations } from '../request/unknown-annotations.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { type Step, unconsentedMatches } from './step.ts';

/** What the author of a valid source probably did not mean, one sentence each (SPEC R13, P3). */
export function remarksOn(
  source: ObservedConfigMap,
  steps: readonly Step[],
  vocabulary: Vocabulary,
): readonly string[] {
  const remarks = [...unknownAnnotations(source, vocabulary)];
  const unconsented = unconsentedMatches(steps);
  if (unconsented > 0) {
    remarks.push(
      `${unconsented} matching ${unconsented === 1 ? 'namespace has' : 'namespaces have'} no accept-mirrors-from, and --require-consent is set`,
    );
  }
  return remarks;
}
