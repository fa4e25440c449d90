import { describe, expect, test } from 'vitest';
import {
  configMapKeyProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from '../../src/sandbox/kinds/formats.ts';

describe('[B1] the forms of names, keys and values', () => {
  test.each([
    [
      dnsSubdomainProblems,
      ['a', 'a.b-c.9', 'x'.repeat(253)],
      ['', 'A', 'a_b', '-a', 'a-', 'a..b', 'a/b', 'ä'],
    ],
    [dnsLabelProblems, ['a', 'a-9', 'x'.repeat(63)], ['', 'a.b', 'A', 'x'.repeat(64)]],
    [pathSegmentProblems, ['', 'A b', '...'], ['.', '..', 'a/b', 'a%b']],
    [
      labelKeyProblems,
      ['a', 'A_b.c-9', 'example.com/a', `${'x'.repeat(253)}/${'y'.repeat(63)}`],
      ['', '-a', 'a b', '/a', 'a/', 'a/b/c', 'A.com/a', 'x'.repeat(64), `${'x'.repeat(254)}/a`],
    ],
    [labelValueProblems, ['', 'a', 'A_b.c-9', 'x'.repeat(63)], ['-a', 'a b', 'a/b', 'x'.repeat(64)]],
    [
      configMapKeyProblems,
      ['a', '.a', 'a..b', '__proto__', 'A_b.c-9', 'x'.repeat(253)],
      ['', '.', '..', '..a', 'a/b', 'ä', 'x'.repeat(254)],
    ],
  ])('%o', (problemsOf, good, bad) => {
    for (const value of good) expect(problemsOf(value), value).toEqual([]);
    for (const value of bad) expect(problemsOf(value), value).not.toEqual([]);
  });

  test('lengths are counted in bytes', () => {
    expect(labelValueProblems('é'.repeat(32))).toContain('must be no more than 63 bytes');
  });

  test('messages are those of the real server', () => {
    expect(configMapKeyProblems('a b')).toEqual([
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ]);
  });
});
