/** Most edits (characters added, removed or changed) that count as a typo. */
const MOST_EDITS = 2;

/**
 * The end of a sentence about an unknown word: a similar candidate; empty if there is none.
 * `prefix`: what all begin with, so that it makes none of them similar.
 */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const most = Math.min(MOST_EDITS, (word.length - prefix.length) / 2);
  const near = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits);
  return near[0] === undefined ? '' : `; did you mean ${near[0].candidate}?`;
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
