import { expect, it } from 'vitest';
import { parseNotify } from '../../../src/mirror/request/notify.ts';

it.each([
  ['ops', ['ops']],
  [' ops, chat ,ops,', ['ops', 'chat']],
  ['none', []],
])('[N1] %j chooses %j', (text, names) => {
  expect(parseNotify(text)).toEqual({ ok: true, value: names });
});

it.each([
  ['', 'empty; name sinks'],
  [' , ', 'empty; name sinks'],
  ['none, ops', '"none" stands alone'],
  ['Ops', '"Ops" is not a name of a sink'],
  ['https://evil.example', '"https://evil.example" is not a name of a sink'],
  ['a'.repeat(41), 'is not a name of a sink'],
])('[N1] %j is malformed', (text, problem) => {
  const parsed = parseNotify(text);
  expect(parsed.ok ? '' : parsed.problem).toContain(problem);
});
