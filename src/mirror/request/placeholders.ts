/** What a placeholder stands for, by what is written between `$(mirror.` and `)`. */
export type Placeholder =
  | { readonly kind: 'namespace' | 'source namespace' | 'unknown' }
  | { readonly kind: 'label' | 'value'; readonly key: string };

const BEGIN = '$(mirror.';

/** For messages. */
export const PLACEHOLDERS = 'namespace, source-namespace, label.<key> and value.<key>';

export function placeholderOf(name: string): Placeholder {
  if (name === 'namespace') return { kind: 'namespace' };
  if (name === 'source-namespace') return { kind: 'source namespace' };
  const [, kind, key = ''] = /^(label|value)\.(.+)$/.exec(name) ?? [];
  return kind === undefined ? { kind: 'unknown' } : { kind: kind as 'label' | 'value', key };
}

/** A placeholder as in the text. */
export function asWritten(name: string): string {
  return `${BEGIN}${name})`;
}

/** A text in which literals and placeholders take turns. */
export interface Template {
  /** One more than there are placeholders. Each may be empty. */
  readonly literals: readonly string[];
  /** Names, see {@link placeholderOf}. */
  readonly placeholders: readonly string[];
}

/**
 * Finds `$(mirror.` up to the next `)` on its line (SPEC V2). All else is literal, also a
 * placeholder without an end, and there is no way to escape one. Takes linear time: each end is
 * searched only from where the last search ended.
 */
export function parseTemplate(text: string): Template {
  const literals: string[] = [];
  const placeholders: string[] = [];
  const nextEnd = searcher(text, ')');
  const nextLine = searcher(text, '\n');
  let literal = 0;
  let begin = text.indexOf(BEGIN);
  while (begin >= 0) {
    const name = begin + BEGIN.length;
    const end = nextEnd(name);
    if (end === text.length) break;
    if (end < nextLine(name)) {
      literals.push(text.slice(literal, begin));
      placeholders.push(text.slice(name, end));
      literal = end + 1;
    }
    begin = text.indexOf(BEGIN, Math.max(name, literal));
  }
  literals.push(text.slice(literal));
  return { literals, placeholders };
}

/** The next position of `wanted` from ever greater positions on; the text's length: none. */
function searcher(text: string, wanted: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found >= from) return found;
    const at = text.indexOf(wanted, from);
    found = at < 0 ? text.length : at;
    return found;
  };
}
