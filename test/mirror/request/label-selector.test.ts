import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesSelector, parseLabelSelector } from '../../../src/mirror/request/label-selector.ts';

function selector(text: string) {
  const result = parseLabelSelector(text);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

const LONGEST = `${'a'.repeat(251)}.b`;

type Labels = Readonly<Record<string, string>>;

// What is right here is what k8s.io/apimachinery v0.36 `labels.Parse` makes of the same text.
describe('[M2] a label selector means the same as in Kubernetes', () => {
  const cases: Readonly<Record<string, readonly [text: string, inside: Labels[], outside: Labels[]]>> = {
    'an equality needs the value': ['x=a', [{ x: 'a' }, { x: 'a', y: 'b' }], [{}, { x: 'b' }, { X: 'a' }]],
    'two equals signs are one': ['x==a', [{ x: 'a' }], [{ x: 'b' }, {}]],
    'an inequality also holds where the key is absent': ['x!=a', [{ x: 'b' }, {}], [{ x: 'a' }]],
    'an equality with nothing needs the empty value': ['x=', [{ x: '' }], [{}, { x: 'a' }]],
    'an inequality with nothing': ['x!=', [{ x: 'a' }, {}], [{ x: '' }]],
    'a key alone needs the key, with any value': ['x', [{ x: '' }, { x: 'a' }], [{}, { y: 'x' }]],
    'a negated key needs its absence': ['!x', [{}, { y: 'a' }], [{ x: '' }, { x: 'a' }]],
    'in needs one of the values': ['x in (a,b)', [{ x: 'a' }, { x: 'b' }], [{}, { x: 'c' }, { x: '' }]],
    'notin also holds where the key is absent': ['x notin (a,b)', [{}, { x: 'c' }], [{ x: 'a' }, { x: 'b' }]],
    'in with nothing between the parentheses is the empty value': ['x in ()', [{ x: '' }], [{}, { x: 'a' }]],
    'notin with nothing between the parentheses': ['x notin ( )', [{}, { x: 'a' }], [{ x: '' }]],
    'a comma too many among values is the empty value': [
      'x in (a,)',
      [{ x: 'a' }, { x: '' }],
      [{ x: 'b' }, {}],
    ],
    'requirements add up': [
      'x=a,y notin (b),!z',
      [{ x: 'a' }],
      [
        { x: 'a', y: 'b' },
        { x: 'a', z: '' },
      ],
    ],
    'two keys alone need both': ['a,b', [{ a: '', b: '' }], [{ a: '' }, { b: '' }]],
    'the words in and notin may be keys and values': [
      'in in (notin,in), notin=in',
      [{ in: 'in', notin: 'in' }],
      [{ in: 'x', notin: 'in' }, { in: 'in' }],
    ],
    'greater and less compare numbers, not texts': [
      'x>9,y<10',
      [{ x: '10', y: '9' }],
      [{ x: '9', y: '9' }, { x: '10', y: '10' }, {}],
    ],
    'greater and less do not hold for what is not a number': [
      'x>1',
      [{ x: '2' }],
      [{ x: 'v2' }, { x: '' }, {}],
    ],
    'numbers beyond 2^53 are compared exactly': [
      'x>9007199254740992',
      [{ x: '9007199254740993' }],
      [{ x: '9007199254740992' }],
    ],
    'a number beyond 2^63 is not a number': [
      'x>1',
      [{ x: '9223372036854775807' }],
      [{ x: '9223372036854775808' }],
    ],
    'a prefixed key': ['a.example.com/b-c_d=e', [{ 'a.example.com/b-c_d': 'e' }], [{ 'b-c_d': 'e' }]],
    'a prefix of 253 characters': [`${LONGEST}/b`, [{ [`${LONGEST}/b`]: '' }], [{ b: '' }]],
    'a key that every JavaScript object has is absent until it is there': [
      '!constructor,toString',
      [{ toString: 'a' }],
      [{}, { constructor: 'a', toString: 'a' }],
    ],
    'an empty selector matches everything': ['', [{}, { x: 'a' }], []],
  };
  test.for(Object.entries(cases))('%s', ([, [text, inside, outside]]) => {
    const parsed = selector(text);
    expect(inside.filter((labels) => !matchesSelector(parsed, labels))).toEqual([]);
    expect(outside.filter((labels) => matchesSelector(parsed, labels))).toEqual([]);
  });

  test.for([
    [' x = a ', 'x=a'],
    ['\rx\t==\na', 'x=a'],
    ['x  in\t ( a , b )', 'x in (a,b)'],
    ['x in(a,b)', 'x in (a,b)'],
    ['x notin(a)', 'x notin (a)'],
    ['! x', '!x'],
    ['x > 1', 'x>1'],
    [' x , y ', 'x,y'],
    ['  ', ''],
  ])('blanks do not matter: %j is %j', ([spaced = '', plain = '']) => {
    expect(parseLabelSelector(spaced)).toEqual(parseLabelSelector(plain));
  });
});

describe('[R13] the problem of a bad label selector says how to fix it', () => {
  const forms = 'write "key=value", "key in (a,b)", "key notin (a,b)", "key" or "!key"';
  const tooManyCommas = 'there is an extra comma';
  const noInteger = '">" and "<" compare with a whole number below 2^63';
  const cases: Readonly<Record<string, readonly [text: string, problem: string]>> = {
    'a comma at the end': ['x=a,', tooManyCommas],
    'a comma at the beginning': [',x', tooManyCommas],
    'two commas': ['x,,y', tooManyCommas],
    'a comma alone': [',', tooManyCommas],
    'two equalities in one': ['x==a==b', `"x==a==b": ${forms}`],
    'a negated equality': ['!x=a', `"!x=a": ${forms}`],
    'an exclamation mark alone': ['!', `"!": ${forms}`],
    'two exclamation marks': ['!!x', `"!!x": ${forms}`],
    'an equality without a key': ['=a', `"=a": ${forms}`],
    'less or equal': ['x<=1', `"x<=1": ${forms}`],
    'a word that is not an operator': ['x within (a)', `"x within (a)": ${forms}`],
    'parentheses that are not closed': ['y, x in (a,b', `"x in (a,b": ${forms}`],
    'a parenthesis that is not opened': ['x in a)', `"x in a)": ${forms}`],
    'parentheses in parentheses': ['x in ((a))', `"x in ((a))": ${forms}`],
    'two requirements without a comma': ['x in (a)y notin ()', `"x in (a)y notin ()": ${forms}`],
    'a value after a blank': ['x=a b', `"x=a b": ${forms}`],
    'a parenthesis alone': ['(', `"(": ${forms}`],
    'values without a comma': ['x in (a b)', '"a b" is not a label value'],
    'a value with a slash': ['x=a/b', '"a/b" is not a label value'],
    'a value of 64 characters': [`x=${'a'.repeat(64)}`, `"${'a'.repeat(64)}" is not a label value`],
    'a value that begins with a hyphen': ['x=-a', '"-a" is not a label value'],
    alternatives: ['x=a||b', '"a||b" is not a label value'],
    'a key with two slashes': ['a/b/c', '"a/b/c" is not a label key'],
    'a key without a name': ['a/', '"a/" is not a label key'],
    'a key without a prefix before the slash': ['/a', '"/a" is not a label key'],
    'a prefix in upper case': ['A.b/c', '"A.b/c" is not a label key'],
    'a key of 64 characters': ['a'.repeat(64), `"${'a'.repeat(64)}" is not a label key`],
    'a prefix of 254 characters': [`${'a'.repeat(254)}/b`, `"${'a'.repeat(77)}…" is not a label key`],
    'a key with a star': ['team-*', '"team-*" is not a label key'],
    'a comparison with a word': ['x>a', `"x>a": ${noInteger}`],
    'a comparison with nothing': ['x<', `"x<": ${noInteger}`],
    'a comparison with a number beyond 2^63': [
      'x>9223372036854775808',
      `"x>9223372036854775808": ${noInteger}`,
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [text, problem]]) => {
    expect(parseLabelSelector(text)).toEqual({ ok: false, problem });
  });
});

test('[W2] an annotation of 256 KiB of commas is refused in linear time', () => {
  expect(parseLabelSelector('x,'.repeat(130_000).concat('x'))).toEqual({
    ok: false,
    problem: 'more than 100 requirements; say it in fewer, such as "key in (a,b)"',
  });
  expect(selector('x,'.repeat(99).concat('x')).requirements).toHaveLength(100);
});

test('a selector matches labels when all its parts do', () => {
  const key = fc.constantFrom('a', 'b', 'in', 'x.y/z');
  const value = fc.constantFrom('', 'a', 'b', 'notin');
  const blank = fc.constantFrom('', ' ', '\t');
  const requirement = fc.record({
    key,
    operator: fc.constantFrom('=', '==', '!=', 'in', 'notin', 'exists', 'absent'),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
    blank,
  });
  fc.assert(
    fc.property(
      fc.array(requirement, { minLength: 1, maxLength: 3 }),
      fc.dictionary(key, value, { noNullPrototype: true }),
      (requirements, labels) => {
        const text = requirements.map(({ key: name, operator, values, blank: b }) => {
          if (operator === 'exists') return `${b}${name}${b}`;
          if (operator === 'absent') return `!${b}${name}`;
          if (operator === 'in' || operator === 'notin')
            return `${name} ${operator}${b}(${b}${values.join(`${b},`)})`;
          return `${name}${b}${operator}${b}${values[0]}`;
        });
        const expected = requirements.every(({ key: name, operator, values }) => {
          const has = labels[name];
          if (operator === 'exists') return has !== undefined;
          if (operator === 'absent') return has === undefined;
          if (operator === 'in') return has !== undefined && values.includes(has);
          if (operator === 'notin') return has === undefined || !values.includes(has);
          return (has === values[0]) === (operator !== '!=');
        });
        expect(matchesSelector(selector(text.join(',')), labels)).toBe(expected);
      },
    ),
    { numRuns: 1_000 },
  );
});
