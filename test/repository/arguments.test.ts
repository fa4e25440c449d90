import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test.each([
  ['scripts/soak.ts', '--minutes', 'abc'],
  ['scripts/soak.ts', '--minutes', '0'],
  ['bench/main.ts', '--runs', 'x'],
  ['bench/main.ts', '--quiet', '-1'],
])('%s refuses %s %s, with which it would measure nothing', (script, flag, value) => {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  // If it went on all the same, it would find no servers.
  const env = { ...process.env, KUBEBUILDER_ASSETS: '/nonexistent' };
  const args = ['--import', 'tsx', path, `${flag}=${value}`];
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, `${flag}: "${value}" is not a number above 0\n`]);
});
