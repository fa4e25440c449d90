import { type Parsed, parsed, problem } from '../mirror/parsed.ts';
import { type NamespacePatterns, parseNamespacePatterns } from '../mirror/request/patterns.ts';

/** Parsers of flag values. Their problems complete the sentence "--flag: …". */

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const UNITS_BYTES = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, K: 1e3, M: 1e6, G: 1e9 } as const;

/** `500ms`, `30s`, `10m`, `1h`, or a bare number of seconds; the result is milliseconds. */
export function parseDuration(text: string): Parsed<number> {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  if (!match) return problem(`"${text}" is no duration; write for example 500ms, 30s, 10m or 1h`);
  const unit = (match[2] ?? 's') as keyof typeof UNITS_MS;
  return parsed(Number(match[1]) * UNITS_MS[unit]);
}

/** `64Mi`, `1Gi`, `500K`, or a bare number of bytes. */
export function parseSize(text: string): Parsed<number> {
  const match = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|K|M|G)?B?$/.exec(text.trim());
  if (!match) return problem(`"${text}" is no size; write for example 64Mi or 1Gi`);
  const unit = (match[2] ?? '') as keyof typeof UNITS_BYTES;
  return parsed(Math.floor(Number(match[1]) * UNITS_BYTES[unit]));
}

export function parseWholeNumber(minimum: number, maximum: number): (text: string) => Parsed<number> {
  return (text) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum
      ? parsed(value)
      : problem(`"${text}" is not a whole number from ${minimum} to ${maximum}`);
  };
}

export function parseBoolean(text: string): Parsed<boolean> {
  if (text === 'true') return parsed(true);
  if (text === 'false') return parsed(false);
  return problem(`"${text}" is neither true nor false`);
}

export function parseChoice<const C extends string>(choices: readonly C[]): (text: string) => Parsed<C> {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    return choice === undefined ? problem(`"${text}" is not one of ${choices.join(', ')}`) : parsed(choice);
  };
}

export function parseText(text: string): Parsed<string> {
  return text === '' ? problem('it is empty') : parsed(text);
}

export function parsePatterns(text: string): Parsed<NamespacePatterns> {
  return parseNamespacePatterns(text, { exclusions: false });
}

/** Exact names only; empty: all namespaces. A list without a name, such as that of two variables that are not set, is a mistake. */
export function parseNamespaceNames(text: string): Parsed<ReadonlySet<string> | undefined> {
  const patterns = parsePatterns(text);
  if (!patterns.ok) return patterns;
  if (patterns.value.prefixes.length > 0) {
    return problem(`"${text}": each namespace is watched by itself, so only exact names will do`);
  }
  if (text.trim() === '') return parsed(undefined);
  if (patterns.value.names.size === 0) {
    return problem(`"${text}" names no namespace; leave it out to watch all of them`);
  }
  return parsed(patterns.value.names);
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set */
export function parseDomain(text: string): Parsed<string> {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
    ? parsed(text)
    : problem(`"${text}" cannot be the prefix of a label; write a domain in lower case, such as workshop.io`);
}
