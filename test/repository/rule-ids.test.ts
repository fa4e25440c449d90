import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The rules that docs/SPEC.md states: `- **R6** …`. */
const stated = [...read('docs/SPEC.md').matchAll(/^- \*\*([A-Z]\d+)\b/gm)].map((match) => match[1] ?? '');

/** The rules at the beginning of each test's name, with the test's file. */
const proved = readdirSync(new URL('test', root), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => {
    const names = [...read(`test/${path}`).matchAll(/\(\s*['"`]((?:\[[A-Z]\d+\] )+)/g)];
    return names.flatMap(([name]) => [...name.matchAll(/[A-Z]\d+/g)]).map(([id]) => ({ id, path }));
  });

it('every rule of docs/SPEC.md has a test that names it', () => {
  expect(stated.filter((id) => !proved.some((test) => test.id === id))).toEqual([]);
});

it('every rule that a test names is in docs/SPEC.md, once', () => {
  const count = (id: string) => stated.filter((each) => each === id).length;
  const unknown = proved.filter(({ id }) => count(id) !== 1).map(({ id, path }) => `test/${path}: ${id}`);
  expect([...new Set(unknown)]).toEqual([]);
});
