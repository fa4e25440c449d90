import { type Parsed, parsed, problem, quoted } from '../parsed.ts';

/** The items of a comma list, trimmed, without empty ones. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Which namespaces are meant. The prefix `''` matches every name. Exclusions win. */
export interface NamespacePatterns {
  readonly names: ReadonlySet<string>;
  readonly prefixes: readonly string[];
  readonly excludedNames: ReadonlySet<string>;
  readonly excludedPrefixes: readonly string[];
}

/**
 * Most stars in one list. Each is tried on every name, so one tenant's list of 256 KiB could delay
 * all others by seconds.
 */
const MOST_STARS = 100;

/**
 * Most exact namespaces in one list. Each that a source names is a key in an index and a lookup in
 * every pass, whether or not it exists.
 */
const MOST_NAMES = 10_000;

const TOO_MANY_NAMES = problem(
  `more than ${MOST_NAMES} names; name fewer, or write prefixes that end in "*", such as "team-*"`,
);
const TOO_MANY_STARS = problem(`more than ${MOST_STARS} "*"; name things exactly, or in fewer patterns`);

// A DNS-1123 label, and the beginning of one.
const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const NAMESPACE_PREFIX = /^([a-z0-9][-a-z0-9]{0,62})?\*$/;

/**
 * Parses `team-a, team-*, *` and, if `exclusions` is true, `!team-secret`. An empty list matches
 * nothing; the caller decides whether that is allowed.
 */
export function parseNamespacePatterns(
  text: string,
  options: { readonly exclusions: boolean },
): Parsed<NamespacePatterns> {
  const included = { names: new Set<string>(), prefixes: [] as string[] };
  const excluded = { names: new Set<string>(), prefixes: [] as string[] };
  for (const item of commaList(text)) {
    const exclusion = item.startsWith('!');
    if (exclusion && !options.exclusions)
      return problem(`${quoted(item)}: exclusions ("!") are not allowed here`);
    const pattern = exclusion ? item.slice(1).trim() : item;
    const { names, prefixes } = exclusion ? excluded : included;
    if (NAMESPACE_NAME.test(pattern)) names.add(pattern);
    else if (NAMESPACE_PREFIX.test(pattern)) prefixes.push(pattern.slice(0, -1));
    else return problem(`${quoted(item)}: ${namespacePatternAdvice(pattern)}`);
  }
  if (included.names.size + excluded.names.size > MOST_NAMES) return TOO_MANY_NAMES;
  if (included.prefixes.length + excluded.prefixes.length > MOST_STARS) return TOO_MANY_STARS;
  return parsed({
    names: sharedIfEmpty(included.names),
    prefixes: included.prefixes,
    excludedNames: sharedIfEmpty(excluded.names),
    excludedPrefixes: excluded.prefixes,
  });
}

/**
 * Nearly every list has no exclusions. With a Set of its own for each, plans over 10,000 sources
 * take a quarter more time.
 */
export const NO_NAMES: ReadonlySet<string> = new Set();

function sharedIfEmpty(names: ReadonlySet<string>): ReadonlySet<string> {
  return names.size === 0 ? NO_NAMES : names;
}

/** An empty list, or exclusions alone. */
export function includesNothing({ names, prefixes }: NamespacePatterns): boolean {
  return names.size + prefixes.length === 0;
}

function namespacePatternAdvice(pattern: string): string {
  if (/\s/.test(pattern)) return 'separate the names by commas';
  if (/[\^$.()[\]|+?\\]/.test(pattern) && !/^\*./.test(pattern)) {
    return 'regular expressions are not supported; write an exact name, or a prefix that ends in one "*", such as "team-*"';
  }
  if (pattern.slice(0, -1).includes('*')) {
    return '"*" may stand only once, at the end, such as "team-*"; for anything finer use a label selector over namespaces';
  }
  if (/[A-Z]/.test(pattern)) return 'namespace names are lower case';
  return 'not a namespace name (a-z, 0-9 and "-", at most 63 characters), nor a prefix of one that ends in "*"';
}

export function matchesPatterns(patterns: NamespacePatterns, namespace: string): boolean {
  return !isExcluded(patterns, namespace) && includingItem(patterns, namespace) !== undefined;
}

export function isExcluded(patterns: NamespacePatterns, namespace: string): boolean {
  return excludingItem(patterns, namespace) !== undefined;
}

/** The item that includes a namespace, as written: `team-*`; undefined: none does. */
export function includingItem({ names, prefixes }: NamespacePatterns, namespace: string): string | undefined {
  return itemFor(names, prefixes, namespace);
}

/** The item that excludes it, without its `!`. */
export function excludingItem(
  { excludedNames, excludedPrefixes }: NamespacePatterns,
  namespace: string,
): string | undefined {
  return itemFor(excludedNames, excludedPrefixes, namespace);
}

function itemFor(
  names: ReadonlySet<string>,
  prefixes: readonly string[],
  namespace: string,
): string | undefined {
  if (names.has(namespace)) return namespace;
  const prefix = prefixes.find((each) => namespace.startsWith(each));
  return prefix === undefined ? undefined : `${prefix}*`;
}

/** Which keys of data, labels or annotations are meant. In a glob `*` stands for any characters. */
export interface KeyGlobs {
  readonly exact: ReadonlySet<string>;
  readonly globs: readonly Glob[];
}

/** The texts around its stars: `a*b*c` is `a`, `['b']`, `c`. */
interface Glob {
  readonly first: string;
  readonly middle: readonly string[];
  readonly last: string;
}

/** Parses `app.yaml, *.json`. `alphabet`: keys of metadata may have a slash, those of data not. */
export function parseKeyGlobs(text: string, alphabet: 'data' | 'metadata'): Parsed<KeyGlobs> {
  const possible = alphabet === 'data' ? /^[-._a-zA-Z0-9*]+$/ : /^[-._/a-zA-Z0-9*]+$/;
  const exact = new Set<string>();
  const globs: Glob[] = [];
  let stars = 0;
  for (const item of commaList(text)) {
    if (!possible.test(item)) {
      return problem(
        `${quoted(item)}: not a possible key; write key names, in which "*" stands for any characters, such as "*.json"`,
      );
    }
    const [first = '', ...middle] = item.split('*');
    const last = middle.pop();
    if (last === undefined) exact.add(first);
    else globs.push({ first, middle, last });
    stars += last === undefined ? 0 : middle.length + 1;
  }
  return stars > MOST_STARS ? TOO_MANY_STARS : parsed({ exact, globs });
}

export function matchesNothing({ exact, globs }: KeyGlobs): boolean {
  return exact.size === 0 && globs.length === 0;
}

export function matchesGlobs(globs: KeyGlobs, key: string): boolean {
  return globs.exact.has(key) || globs.globs.some((glob) => matchesGlob(glob, key));
}

/** Never goes back to an earlier star, as a regular expression can be made to. */
function matchesGlob({ first, middle, last }: Glob, key: string): boolean {
  if (key.length < first.length + last.length || !key.startsWith(first) || !key.endsWith(last)) return false;
  const end = key.length - last.length;
  let from = first.length;
  for (const part of middle) {
    const at = key.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
