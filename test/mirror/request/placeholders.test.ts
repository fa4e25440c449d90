import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate, placeholderOf } from '../../../src/mirror/request/placeholders.ts';

const reassembled = (text: string) => {
  const { literals, placeholders } = parseTemplate(text);
  return literals.map(
    (literal, at) => literal + (at < placeholders.length ? `$(mirror.${placeholders[at]})` : ''),
  );
};

/** Texts in which placeholders, whole and broken, are likely. */
const text = fc
  .array(
    fc.constantFrom(
      '$(mirror.',
      '$(mirror',
      '$(',
      '$',
      ')',
      '\n',
      '.',
      'namespace',
      'a',
      '${',
      '{{',
      '}}',
      '\\',
      'ü',
    ),
  )
  .map((parts) => parts.join(''));

describe('[V2] placeholders', () => {
  test('are found as a plain regular expression finds them', () => {
    fc.assert(
      fc.property(text, (any) => {
        const naive = [...any.matchAll(/\$\(mirror\.([^)\n]*)\)/g)].map((match) => match[1]);
        expect(parseTemplate(any).placeholders).toEqual(naive);
      }),
      { numRuns: 2000 },
    );
  });

  test('leave every other character where it is', () => {
    fc.assert(fc.property(fc.oneof(text, fc.string()), (any) => reassembled(any).join('') === any));
  });

  test.for([
    ['no end', '$(mirror.namespace', []],
    ['no end on its line', '$(mirror.namespace\n)', []],
    ['an end after one without', '$(mirror.a\n$(mirror.namespace)', ['namespace']],
    ['one within another is part of its name', '$(mirror.$(mirror.namespace)', ['$(mirror.namespace']],
    ['no escape', '$$(mirror.namespace) \\$(mirror.namespace)', ['namespace', 'namespace']],
    ['an empty name', '$(mirror.)', ['']],
    ['blanks count', '$(mirror. namespace) $( mirror.namespace)', [' namespace']],
  ] as const)('%s', ([, any, names]) => {
    expect(parseTemplate(any).placeholders).toEqual(names);
  });

  // A quadratic search would take hours for these; a linear one takes milliseconds.
  test.for([
    ['a million beginnings of others', '$('.repeat(1_000_000), 0],
    ['beginnings without an end', '$(mirror.'.repeat(1_000_000), 0],
    ['beginnings with an end that is too far away', `${'$(mirror.\n'.repeat(1_000_000)})`, 0],
    ['beginnings with a single end', `${'$(mirror.'.repeat(1_000_000)})`, 1],
    ['whole ones', '$(mirror.a)'.repeat(1_000_000), 1_000_000],
  ] as const)('take linear time: %s', ([, any, count]) => {
    expect(parseTemplate(any).placeholders).toHaveLength(count);
  });

  test.for([
    ['namespace', { kind: 'namespace' }],
    ['source-namespace', { kind: 'source namespace' }],
    ['label.example.com/zone', { kind: 'label', key: 'example.com/zone' }],
    ['value.a.b', { kind: 'value', key: 'a.b' }],
    ['value.', { kind: 'unknown' }],
    ['label', { kind: 'unknown' }],
    ['Namespace', { kind: 'unknown' }],
    ['namespace ', { kind: 'unknown' }],
    ['constructor', { kind: 'unknown' }],
    ['values.a', { kind: 'unknown' }],
  ] as const)('"%s" is of the right kind', ([name, placeholder]) => {
    expect(placeholderOf(name)).toEqual(placeholder);
  });
});
