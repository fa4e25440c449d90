import { didYouMean } from '../did-you-mean.ts';
import { type StringMap, sourceAnnotations, type Vocabulary } from '../vocabulary.ts';

/** Most that are reported at once: 256 KiB of annotations may hold 15,000. */
const MOST_REPORTED = 10;

/**
 * A sentence for each unknown annotation of our domain, with what was probably meant, and for each
 * that has no effect without another one (SPEC R13). Annotations of other objects, such as
 * `accept-mirrors-from`, count as known.
 */
export function unknownAnnotations(
  source: { readonly annotations: StringMap },
  vocabulary: Vocabulary,
): readonly string[] {
  const ours = Object.keys(source.annotations).filter((key) => key.startsWith(`${vocabulary.domain}/`));
  if (ours.length === 0) return [];
  const known = new Set(Object.values(vocabulary));
  // Only what a source may say: following a hint must not make it a companion (SPEC M6).
  const meant = sourceAnnotations(vocabulary);
  const unknown = ours
    .filter((key) => !known.has(key))
    .slice(0, MOST_REPORTED)
    .map((key) => `${key} is not an annotation of mirror-controller${didYouMean(key.toLowerCase(), meant)}`);
  return [...unknown, ...idleAnnotations(source.annotations, vocabulary)];
}

function idleAnnotations(annotations: StringMap, vocabulary: Vocabulary): readonly string[] {
  const { canary, canaryBake, canaryApprove, renderKeys, valuesFrom } = vocabulary;
  const needs = { [canaryBake]: canary, [canaryApprove]: canary, [valuesFrom]: renderKeys };
  return Object.entries(needs)
    .filter(([key, other]) => annotations[key] !== undefined && annotations[other] === undefined)
    .map(([key, other]) => `${key} has no effect without ${other}`);
}
