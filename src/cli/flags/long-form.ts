import type { Flags } from './flag.ts';
import { flagAt } from './flag-values.ts';
import { SWITCH } from './values.ts';

/**
 * The words of a command line, each flag in the one form that yargs, which does not know their
 * types, cannot take for another: `-Aowide` becomes `--all-namespaces=true --output=wide`, and
 * `--no-headers` becomes `--headers=false`.
 */
export function inLongForm(args: readonly string[], flags: Flags): string[] {
  const before = beforeEnd(args);
  const words = before.flatMap((word) => withoutLetters(word, flags));
  const isSwitch = (word: string) => flagAt(word, flags)?.[1].kind === SWITCH;
  const spelled = words.map((word, at) => {
    const negated = word.replace(/^--no-/, '--');
    if (negated !== word && isSwitch(negated)) return `${negated}=false`;
    const hasValue = /^(true|false|[01])$/.test(words[at + 1] ?? '');
    return isSwitch(word) && !hasValue ? `${word}=true` : word;
  });
  return [...spelled, ...args.slice(before.length)];
}

/** The words before `--`, which ends the flags. */
export function beforeEnd(words: readonly string[]): readonly string[] {
  return words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
}

/** `-Aowide` as `--all-namespaces`, `--output=wide`. */
function withoutLetters(word: string, flags: Flags): readonly string[] {
  const [, letter, rest = ''] = /^(-\w)(.*)$/s.exec(word) ?? [];
  const found = flagAt(letter, flags);
  if (found === undefined) return [word];
  const [name, { kind }] = found;
  if (rest === '' || rest.startsWith('=')) return [`--${name}${rest}`];
  return kind === SWITCH ? [`--${name}`, ...withoutLetters(`-${rest}`, flags)] : [`--${name}=${rest}`];
}
