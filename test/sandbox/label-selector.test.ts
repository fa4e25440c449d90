import { describe, expect, test } from 'vitest';
import { parseLabelSelector, SelectorError } from '../../src/sandbox/selectors/label-selector.ts';

describe('[B1] label selectors', () => {
  const labels = { app: 'web', tier: '', n: '5' };

  test.each([
    ['', true],
    ['app', true],
    ['nope', false],
    ['!nope', true],
    ['!app', false],
    ['app=web', true],
    ['app==web', true],
    ['app = web', true],
    ['app=db', false],
    ['app!=db', true],
    ['nope!=db', true],
    ['tier=', true],
    ['app=', false],
    ['app in (web,db)', true],
    ['app in ( db )', false],
    ['nope in (web)', false],
    ['tier in ()', true],
    ['tier in (a,,b)', true],
    ['app notin (db)', true],
    ['nope notin (db)', true],
    ['app notin (web)', false],
    ['n>4', true],
    ['n<5', false],
    ['app>4', false],
    ['app=web,n=5', true],
    ['app=web,n=6', false],
    ['app in (web), !nope', true],
    ['in', false],
    ['app=in', false],
  ])('%s is %s', (selector, matches) => {
    expect(parseLabelSelector(selector)(labels)).toBe(matches);
  });

  test('a key that every object inherits is not a label', () => {
    expect(parseLabelSelector('constructor')({})).toBe(false);
    expect(parseLabelSelector('!toString')({})).toBe(true);
  });

  test.each([
    ['=web', "found '=', expected: !, identifier, or 'end of string'"],
    ['app,', "found '', expected: identifier after ','"],
    ['app web', "unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt"],
    ['app in web', "unable to parse requirement: found 'web' expected: '('"],
    ['app in (web', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['app=)', "unable to parse requirement: found ')', expected: identifier"],
    [
      'n>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('%s is refused', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(new SelectorError(message));
  });
});
