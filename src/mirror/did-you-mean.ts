/** Most edits (characters added, removed or changed) by which a typo differs from what was meant. */
const MOST_EDITS = 2;

/** Ends a sentence about an unknown word with what was probably meant; empty: nothing comes near. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate) }))
    .filter(({ edits }) => edits <= MOST_EDITS)
    .sort((a, b) => a.edits - b.edits);
  return near[0] === undefined ? '' : `; did you mean ${near[0].candidate}?`;
}

/** Levenshtein's distance, row by row. */
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
