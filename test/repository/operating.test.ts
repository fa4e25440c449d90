import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REASONS } from '../../src/controller/event-listener.ts';
import { MESSAGES } from '../../src/controller/memory/reports.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const manual = read('docs/operating.md');
const [, troubleshooting = ''] = /^## Troubleshooting\n([\s\S]*?)^## /m.exec(manual) ?? [];

test('[O4] docs/operating.md explains each problem that the log reports', () => {
  const messages = Object.values(MESSAGES);
  expect(messages.filter((message) => !troubleshooting.includes(`\`${message}\``))).toEqual([]);
});

test('[O3] docs/operating.md explains each Event of a problem', () => {
  const reasons = Object.values(REASONS);
  expect(reasons.filter((reason) => !troubleshooting.includes(`\`${reason}\``))).toEqual([]);
});
