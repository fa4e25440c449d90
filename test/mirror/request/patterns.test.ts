import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  matchesGlobs,
  matchesPatterns,
  parseKeyGlobs,
  parseNamespacePatterns,
} from '../../../src/mirror/request/patterns.ts';

function patterns(text: string) {
  const result = parseNamespacePatterns(text, { exclusions: true });
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

function globs(text: string, alphabet: 'data' | 'metadata' = 'metadata') {
  const result = parseKeyGlobs(text, alphabet);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

describe('[M2] a list of namespaces', () => {
  const longest = 'a'.repeat(63);
  const cases: Readonly<Record<string, readonly [list: string, inside: string[], outside: string[]]>> = {
    'a name matches itself and nothing longer': ['team-a', ['team-a'], ['team-ab', 'team-', 'xteam-a']],
    'a prefix matches all that begins with it, itself included': [
      'team-*',
      ['team-', 'team-a', 'team-a-b'],
      ['team', 'a-team-b'],
    ],
    'a star alone matches everything': ['*', ['a', 'kube-system'], []],
    'items add up': ['a, b*', ['a', 'b', 'bc'], ['c', 'ab']],
    'blanks, line ends and empty items do not count': [' ,a ,\n\tb*,, ', ['a', 'bx'], ['', 'c']],
    'an exclusion takes a name out': ['team-*,!team-secret', ['team-a', 'team-secrets'], ['team-secret']],
    'an exclusion takes a prefix out': ['*, !kube-*', ['kube', 'a'], ['kube-', 'kube-system']],
    'an exclusion wins wherever it stands': ['!team-secret, team-secret, *', ['a'], ['team-secret']],
    'a blank may follow the exclamation mark': ['*, ! b', ['a'], ['b']],
    'exclusions of everything leave nothing': ['a,!*', [], ['a', 'b']],
    'a name of 63 characters is a name': [longest, [longest], ['a']],
    'a prefix of 63 characters is a prefix': [`${longest}*`, [longest], [longest.slice(1)]],
    'a name may begin with a digit': ['1a', ['1a'], ['a']],
    'an empty list matches nothing': ['', [], ['a', '']],
  };
  test.for(Object.entries(cases))('%s', ([, [list, inside, outside]]) => {
    const parsed = patterns(list);
    expect(inside.filter((name) => !matchesPatterns(parsed, name))).toEqual([]);
    expect(outside.filter((name) => matchesPatterns(parsed, name))).toEqual([]);
  });
});

describe('[R13] the problem of a bad list of namespaces says how to fix it', () => {
  const regularExpression =
    'regular expressions are not supported; write an exact name, or a prefix that ends in one "*", such as "team-*"';
  const oneStar =
    '"*" may stand only once, at the end, such as "team-*"; for anything finer use a label selector over namespaces';
  const noName =
    'not a namespace name (a-z, 0-9 and "-", at most 63 characters), nor a prefix of one that ends in "*"';
  const cases: Readonly<Record<string, readonly [list: string, item: string, advice: string]>> = {
    'a regular expression with a dot': ['a, team-.*', 'team-.*', regularExpression],
    'an anchored regular expression': ['^team-a$', '^team-a$', regularExpression],
    'a character class': ['team-[ab]', 'team-[ab]', regularExpression],
    'alternatives in parentheses': ['(a|b)', '(a|b)', regularExpression],
    'a question mark': ['team-?', 'team-?', regularExpression],
    'a backslash': ['team\\d', 'team\\d', regularExpression],
    'a regular expression in an exclusion': ['*, !team-.+', '!team-.+', regularExpression],
    'a star in front': ['*-team', '*-team', oneStar],
    'a star in the middle': ['te*am', 'te*am', oneStar],
    'two stars': ['team-**', 'team-**', oneStar],
    'upper case': ['Team-a', 'Team-a', 'namespace names are lower case'],
    'names separated by blanks': ['team-a team-b', 'team-a team-b', 'separate the names by commas'],
    'a prefix, a blank and a name': ['team-* qa', 'team-* qa', 'separate the names by commas'],
    'a hyphen in front': ['-a', '-a', noName],
    'a hyphen at the end': ['a-', 'a-', noName],
    'an underscore': ['team_a', 'team_a', noName],
    'a slash': ['team-a/colors', 'team-a/colors', noName],
    'a name of 64 characters': ['a'.repeat(64), 'a'.repeat(64), noName],
    'a prefix of 64 characters': [`${'a'.repeat(64)}*`, `${'a'.repeat(64)}*`, noName],
    'an exclamation mark alone': ['a,!', '!', noName],
    'two exclamation marks': ['!!a', '!!a', noName],
    'a letter that is not ASCII': ['tëam', 'tëam', noName],
  };
  test.for(Object.entries(cases))('%s', ([, [list, item, advice]]) => {
    expect(parseNamespacePatterns(list, { exclusions: true })).toEqual({
      ok: false,
      problem: `"${item}": ${advice}`,
    });
  });

  test('an exclusion where none is allowed', () => {
    expect(parseNamespacePatterns('a, !b', { exclusions: false })).toEqual({
      ok: false,
      problem: '"!b": exclusions ("!") are not allowed here',
    });
  });
});

describe('[M3] a list of keys', () => {
  const cases: Readonly<Record<string, readonly [list: string, inside: string[], outside: string[]]>> = {
    'a name matches itself only': ['app.yaml', ['app.yaml'], ['app-yaml', 'app.yaml.bak', 'my-app.yaml']],
    'a star in front matches any beginning, none included': [
      '*.json',
      ['a.json', '.json'],
      ['a.jsonx', 'json'],
    ],
    'a star at the end matches any end, none included': ['app*', ['app', 'app.yaml'], ['ap', 'my-app']],
    'a star in the middle matches any middle': ['a*z', ['az', 'abz', 'azz'], ['a', 'z', 'za', 'azb']],
    'beginning and end may not overlap': ['aba*aba', ['abaaba', 'abaxaba'], ['aba', 'ababa']],
    'texts between stars come in their order': ['a*b*c', ['abc', 'axbxc', 'abbc'], ['acb', 'ac', 'abcd']],
    'the last text may not be used twice': ['*ab*b', ['abb', 'xabxb'], ['ab', 'xab']],
    'nor may one between stars': ['*ab*ab*', ['abab', 'xabxabx'], ['ab', 'xaby']],
    'two stars are one': ['a**b', ['ab', 'axb'], ['a', 'b']],
    'a star alone matches everything': ['*', ['a', ''], []],
    'a dot is a dot': ['a.b', ['a.b'], ['axb']],
    'a slash is a character like any other': [
      'app.example.com/*',
      ['app.example.com/team'],
      ['app.example.com'],
    ],
    'an empty list matches nothing': [' , ', [], ['a', '']],
    'items add up, blanks do not count': [' a , *.b ', ['a', 'x.b'], ['c']],
  };
  test.for(Object.entries(cases))('%s', ([, [list, inside, outside]]) => {
    const parsed = globs(list);
    expect(inside.filter((key) => !matchesGlobs(parsed, key))).toEqual([]);
    expect(outside.filter((key) => matchesGlobs(parsed, key))).toEqual([]);
  });

  test('a glob matches what the equivalent regular expression matches', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    const glob = fc.array(text, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('*'));
    fc.assert(
      fc.property(glob, text, (pattern, key) => {
        fc.pre(pattern !== '');
        const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
        expect(matchesGlobs(globs(pattern), key)).toBe(expression.test(key));
      }),
      { numRuns: 2_000 },
    );
  });

  test('[R13] the problem of an impossible key shows the item', () => {
    const problem = (item: string) =>
      `"${item}": not a possible key; write key names, in which "*" stands for any characters, such as "*.json"`;
    expect(parseKeyGlobs('a, b c', 'data')).toEqual({ ok: false, problem: problem('b c') });
    expect(parseKeyGlobs('a.(yaml|yml)', 'data')).toEqual({ ok: false, problem: problem('a.(yaml|yml)') });
    expect(parseKeyGlobs('!a', 'data')).toEqual({ ok: false, problem: problem('!a') });
    expect(parseKeyGlobs('dir/a', 'data')).toEqual({ ok: false, problem: problem('dir/a') });
    expect(parseKeyGlobs('dir/a', 'metadata').ok).toBe(true);
  });
});

describe('[R13] stars are limited, since each costs time for every name', () => {
  const items = (count: number) => Array.from({ length: count }, (_, number) => `p${number}-*`).join(',');
  const problem = 'more than 100 "*"; name things exactly, or in fewer patterns';

  test('in a list of namespaces, exclusions included', () => {
    expect(parseNamespacePatterns(items(100), { exclusions: true }).ok).toBe(true);
    expect(parseNamespacePatterns(items(101), { exclusions: true })).toEqual({ ok: false, problem });
    const excluded = items(60).replaceAll(',', ',!');
    expect(parseNamespacePatterns(`${items(60)},!${excluded}`, { exclusions: true }).ok).toBe(false);
  });

  test('in a list of keys, however many items they are in', () => {
    for (const list of ['*'.repeat(100), `${'a*'.repeat(50)},${'b*'.repeat(50)}`, items(100)]) {
      expect(parseKeyGlobs(list, 'data').ok).toBe(true);
      expect(parseKeyGlobs(`${list},*`, 'data')).toEqual({ ok: false, problem });
    }
    expect(parseKeyGlobs(`a${'*'.repeat(200_000)}z*`, 'data')).toEqual({ ok: false, problem });
    expect(parseKeyGlobs(items(101).replaceAll('*', ''), 'data').ok).toBe(true);
  });
});

test('[R13] exact names of namespaces are limited, exclusions included', () => {
  const names = (count: number) => Array.from({ length: count }, (_, number) => `n${number}`).join(',');
  const problem = 'more than 10000 names; name fewer, or write prefixes that end in "*", such as "team-*"';
  expect(parseNamespacePatterns(names(10_000), { exclusions: true }).ok).toBe(true);
  expect(parseNamespacePatterns(names(10_001), { exclusions: true })).toEqual({ ok: false, problem });
  expect(parseNamespacePatterns(`${names(10_000)},*,!x`, { exclusions: true }).ok).toBe(false);
});
