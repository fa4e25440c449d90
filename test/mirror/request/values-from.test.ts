import { expect, test } from 'vitest';
import { parseValuesFrom } from '../../../src/mirror/request/values-from.ts';

test('[V3] values-from lists ConfigMaps in their order', () => {
  expect(parseValuesFrom(' defaults ,, team.options,')).toEqual({
    ok: true,
    value: ['defaults', 'team.options'],
  });
});

test('[V3] values-from lists up to 20 ConfigMaps', () => {
  const value = Array.from({ length: 20 }, (_, at) => `a${at}`);
  expect(parseValuesFrom(value.join())).toEqual({ ok: true, value });
});

test.for([
  ['', /^empty; name ConfigMaps/],
  [' , ', /^empty/],
  ['a b', /^"a b" is not the name of a ConfigMap/],
  ['shop/options', /^"shop\/options" is not the name/],
  ['Options', /^"Options" is not the name/],
  ['../x', /is not the name/],
  ['a'.repeat(254), /is not the name/],
  [Array.from({ length: 21 }, (_, at) => `a${at}`).join(), /^more than 20 ConfigMaps/],
] as const)('[V3] values-from "%s" is refused', ([text, problem]) => {
  const result = parseValuesFrom(text);
  expect(result.ok ? 'none' : result.problem).toMatch(problem);
});
