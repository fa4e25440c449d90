import type { StringMap, Vocabulary } from '../vocabulary.ts';

/** Most edits (characters added, removed or changed) that count as a typo. */
const MOST_EDITS = 2;

/**
 * A sentence for each unknown annotation of our domain, with what was probably meant (SPEC R13).
 * Annotations of other objects, such as `accept-mirrors-from`, count as known.
 */
export function unknownAnnotations(
  source: { readonly annotations: StringMap },
  vocabulary: Vocabulary,
): readonly string[] {
  const known = new Set(Object.values(vocabulary));
  return Object.keys(source.annotations)
    .filter((key) => key.startsWith(`${vocabulary.domain}/`) && !known.has(key))
    .map((key) => {
      const meant = nearest(key, vocabulary);
      const question = meant === undefined ? '' : `; did you mean ${meant}?`;
      return `${key} is not an annotation of mirror-controller${question}`;
    });
}

/** Suggests only what a source may carry: a hint must not turn it into a companion (SPEC M6). */
function nearest(key: string, vocabulary: Vocabulary): string | undefined {
  const candidates = [
    vocabulary.targetNamespaces,
    vocabulary.targetNamespaceSelector,
    vocabulary.companionName,
    vocabulary.includeKeys,
    vocabulary.excludeKeys,
    vocabulary.copyLabels,
    vocabulary.copyAnnotations,
    vocabulary.deletionPolicy,
  ].map((name) => ({ name, edits: editDistance(key.toLowerCase(), name) }));
  return candidates.filter(({ edits }) => edits <= MOST_EDITS).sort((a, b) => a.edits - b.edits)[0]?.name;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, character] of [...a].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const above = row[column] ?? 0;
      const diagonal = (row[column - 1] ?? 0) + (character === b[column - 1] ? 0 : 1);
      next.push(Math.min(above + 1, (next[column - 1] ?? 0) + 1, diagonal));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
