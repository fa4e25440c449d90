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
  expect(await completed(['plan', '--output='])).toEqual([
    '--output=table',
    '--output=json',
    '--output=yaml',
  ]);
  expect(await completed(['plan', '-o=j'])).toEqual(['-o=json']);
  expect(await completed(['status', '--watch=t'])).toEqual(['--watch=true']);
  expect(await completed(['status', '--state', 'missing,in'])).toEqual([
    'missing,in-sync',
    'missing,invalid',
  ]);
  expect(await completed(['status', '--state=in-sync,in'])).toEqual(['--state=in-sync,invalid']);
  expect(await completed(['plan', '--output', 'json,'])).toEqual([]);
  expect(await completed(['plan', '--nosuch='])).toEqual([]);
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
  expect(await completed(['status', ...here, '--namespace=sh'])).toEqual(['--namespace=shop']);
  expect(await completed(['run', ...here, '--namespaces', 'other,sh'])).toEqual(['other,shop']);
  expect(await completed(['status', ...here, '--context', ''])).toEqual(['sandbox']);
  expect(await completed(['demo', ...here, '--context=s'])).toEqual(['--context=sandbox']);
  expect(await completed(['demo', '--kubeconfig', '/nonexistent', '--context', ''])).toEqual([]);
  expect(await completed(['explain', ...here, ''])).toEqual(['shop/colors']);
  expect(await completed(['explain', '--domain=other.io', ...here, ''])).toEqual([]);
  expect(await completed(['explain', '--kubeconfig', '/nonexistent', ''])).toEqual([]);
  const env = { MIRROR_KUBECONFIG: place.kubeconfigPath };
  expect(await completed(['explain', ''], undefined, env)).toEqual(['shop/colors']);
  for (const other of [{ MIRROR_CONTEXT: 'nosuch' }, { MIRROR_DOMAIN: 'other.io' }]) {
    expect(await completed(['explain', ''], undefined, { ...env, ...other })).toEqual([]);
  }
});

/** What the script for bash hands over for the words that bash makes of a line, and its replies. */
async function inBash(line: string, words: readonly string[]): Promise<readonly string[]> {
  const io = memoryIo();
  expect(await runProgram(['completion', 'bash'], io)).toBe(0);
  const script = `mirror-controller() { printf '%s|' "$@" >&3; printf '%s\n' "\${@: -1}a" "\${@: -1}b"; }
    ${io.out()}
    exec 3>&1
    COMP_LINE=$1 COMP_WORDS=("\${@:2}") COMP_CWORD=$(($# - 2))
    _mirror_controller
    printf '\n%s' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script, 'bash', line, ...words], { encoding: 'utf8' }).split('\n');
}

test('[C9] the script for bash hands over the words of the line, and replies what readline replaces', async () => {
  const program = 'mirror-controller';
  const given = ["__complete|status|--namespace|'a b'||", 'a', 'b'];
  expect(
    await inBash(`${program} status  --namespace 'a b' `, [program, 'status', '--namespace', "'a b'", '']),
  ).toEqual(given);
  // Bash makes words of = and :, and readline replaces what follows the last of them.
  expect(await inBash(`${program} plan --output=`, [program, 'plan', '--output', '='])).toEqual([
    '__complete|plan|--output=|',
    'a',
    'b',
  ]);
  expect(await inBash(`${program} plan --output=j`, [program, 'plan', '--output', '=', 'j'])).toEqual([
    '__complete|plan|--output=j|',
    'ja',
    'jb',
  ]);
  const context = [program, 'plan', '--context', 'arn', ':', 'aws', ':', 'e'];
  expect(await inBash(`${program} plan --context arn:aws:e`, context)).toEqual([
    '__complete|plan|--context|arn:aws:e|',
    'ea',
    'eb',
  ]);
  const address = [program, 'run', '--http-address', ':', '80', '--log-level', 'w'];
  expect(await inBash(`${program} run --http-address :80 --log-level w`, address)).toEqual([
    '__complete|run|--http-address|:80|--log-level|w|',
    'wa',
    'wb',
  ]);
});

test('[C9] the file for kubectl replies values without their flag, as cobra expects', async () => {
  const io = memoryIo();
  expect(await runProgram(['completion', 'kubectl'], io)).toBe(0);
  const program = "kubectl-mirror() { printf '%s\n' --output=table --log-level=a=b shop/colors; }";
  const lines = execFileSync('bash', ['-c', `${program}\n${io.out()}`], { encoding: 'utf8' }).split('\n');
  expect(lines).toEqual(['table', 'a=b', 'shop/colors', ':4', '']);
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
