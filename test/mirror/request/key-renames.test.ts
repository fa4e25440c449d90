import { describe, expect, test } from 'vitest';
import { parseRenameKeys } from '../../../src/mirror/request/key-renames.ts';

describe('[V1] rename-keys', () => {
  const valid: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'ca.crt=ca-bundle.crt': { 'ca.crt': 'ca-bundle.crt' },
    ' a = b ,, b=a, ': { a: 'b', b: 'a' },
    'same=same': { same: 'same' },
    '__proto__=constructor': { ['__proto__']: 'constructor' },
  };
  for (const [text, renames] of Object.entries(valid)) {
    test(`"${text}" is read`, () => {
      expect(parseRenameKeys(text)).toEqual({ ok: true, value: new Map(Object.entries(renames)) });
    });
  }

  const invalid: Readonly<Record<string, RegExp>> = {
    '': /^empty; write "key=new-key"/,
    ' , ': /^empty/,
    a: /^"a": write "key=new-key"/,
    'a=': /^"a=": write/,
    '=a': /^"=a": write/,
    'a=b=c': /^"a=b=c": write/,
    'a=b c': /^"b c" is not a possible key/,
    '*.crt=x': /^"\*.crt" is not a possible key/,
    'a=..': /^".." is not a possible key/,
    'a=.': /^"." is not a possible key/,
    'a=..b': /^"..b" is not a possible key/,
    [`a=${'b'.repeat(254)}`]: /is not a possible key/,
    'a=b,a=c': /^"a" is renamed twice/,
    'a=c,b=c': /^two keys would be named "c"/,
  };
  for (const [text, problem] of Object.entries(invalid)) {
    test(`"${text.slice(0, 20)}" is refused`, () => {
      const result = parseRenameKeys(text);
      expect(result.ok ? 'none' : result.problem).toMatch(problem);
    });
  }
});
