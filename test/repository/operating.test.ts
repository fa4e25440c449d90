import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REASONS } from '../../src/controller/event-listener.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const manual = read('docs/operating.md');
const [, troubleshooting = ''] = /^## Troubleshooting\n([\s\S]*?)^## /m.exec(manual) ?? [];

/** The messages of problems in `src/controller/memory/reports.ts`. */
function problems(): readonly string[] {
  const literals = read('src/controller/memory/reports.ts').matchAll(
    /(?:message(?::| =)|const [A-Z_]+ =|#warn\('[a-z ]+',)\s*'([^']+)'/g,
  );
  return Array.from(literals, ([, message = '']) => message);
}

test('[O4] docs/operating.md explains each problem that the log reports', () => {
  const missing = problems().filter((message) => !troubleshooting.includes(`\`${message}\``));
  expect(problems().length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});

test('[O3] docs/operating.md explains each Event of a problem', () => {
  const reasons = Object.values(REASONS);
  expect(reasons.filter((reason) => !troubleshooting.includes(`\`${reason}\``))).toEqual([]);
});
