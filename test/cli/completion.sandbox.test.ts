import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { openApiClient } from '../support/api-client.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { memoryIo } from './memory-io.ts';

/** What completes the last word. */
async function completed(
  words: readonly string[],
  calledAs?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const io = memoryIo(env);
  expect(await runProgram(['__complete', ...words], io, calledAs)).toBe(0);
  return io.out().split('\n').slice(0, -1);
}

test('[C9] commands, flags and their values are completed', async () => {
  expect(await completed(['s'])).toEqual(['sandbox', 'status']);
  expect(await completed([''], 'kubectl-mirror')).toEqual([
    'status',
    'plan',
    'explain',
    'release',
    'history',
    'undo',
  ]);
  expect(await completed(['run', '--log-l'])).toEqual(['--log-level']);
  expect(await completed(['run', '--log-level', 'w'])).toEqual(['warn']);
  expect(await completed(['plan', '-o', ''])).toEqual(['table', 'json', 'yaml']);
  expect(await completed(['status', '--state', 'in'])).toEqual(['in-sync', 'invalid']);
  expect(await completed(['completion', ''])).toEqual(['bash', 'zsh', 'fish', 'kubectl']);
  expect(await completed(['nosuch', ''])).toEqual([]);
});

test('[C9] namespaces and sources are completed from the cluster that the words before choose', async () => {
  await using place = await sandboxServer.open();
  await using client = openApiClient(place.access);
  const labels = { 'workshop.io/managed': 'true' };
  const path = '/api/v1/namespaces';
  await client.request('POST', path, { body: { metadata: { name: 'shop' } } });
  await client.request('POST', `${path}/shop/configmaps`, { body: { metadata: { name: 'colors', labels } } });
  await client.request('POST', `${path}/shop/configmaps`, { body: { metadata: { name: 'other' } } });
  const here = ['--kubeconfig', place.kubeconfigPath];
  expect(await completed(['status', ...here, '-n', 'sh'])).toEqual(['shop']);
  expect(await completed(['explain', ...here, ''])).toEqual(['shop/colors']);
  expect(await completed(['explain', '--domain=other.io', ...here, ''])).toEqual([]);
  expect(await completed(['explain', '--kubeconfig', '/nonexistent', ''])).toEqual([]);
  const env = { MIRROR_KUBECONFIG: place.kubeconfigPath };
  expect(await completed(['explain', ''], undefined, env)).toEqual(['shop/colors']);
  for (const other of [{ MIRROR_CONTEXT: 'nosuch' }, { MIRROR_DOMAIN: 'other.io' }]) {
    expect(await completed(['explain', ''], undefined, { ...env, ...other })).toEqual([]);
  }
});

test('[C9] the script for bash hands over the words up to the cursor', async () => {
  const io = memoryIo();
  expect(await runProgram(['completion', 'bash'], io)).toBe(0);
  const script = `mirror-controller() { printf '%s\\n' "$@"; }
    ${io.out()}
    COMP_WORDS=(mirror-controller status --namespace 'a b' later) COMP_CWORD=3
    _mirror_controller
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const lines = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n');
  expect(lines).toEqual(['__complete', 'status', '--namespace', 'a b', '']);
});

test.each(['zsh', 'fish', 'kubectl'])('[C9] there is a script for %s', async (shell) => {
  const io = memoryIo();
  expect(await runProgram(['completion', shell], io)).toBe(0);
  expect(io.out()).toContain(
    shell === 'kubectl' ? 'kubectl-mirror __complete' : 'mirror-controller __complete',
  );
});

test('[C9] an unknown shell is named', async () => {
  const io = memoryIo();
  expect(await runProgram(['completion', 'tcsh'], io)).toBe(2);
  expect(io.err()).toContain('"tcsh" is not among these; name one of bash, zsh, fish, kubectl');
});
