import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { Person } from '../controller/person.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import type { Place } from '../support/servers/server.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The rows "question → command → answer". */
const ROWS = [...readme.matchAll(/^\| ([^|`]+\?[^|]*) \| `kubectl mirror ([^`]+)` \| `(.+)` \|$/gm)].map(
  ([, question = '', command = '', answer = '']) => ({ question: question.trim(), command, answer }),
);

const folder = mkdtempSync(join(tmpdir(), 'readme-'));
const file = join(folder, 'colors.yaml');
let place: Place;

const ours = (entries: StringMap) =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [`workshop.io/${key}`, value]));

/** `shop/<name>` with these annotations of ours. */
const source = (name: string, asks: StringMap) => ({
  metadata: { name, namespace: 'shop', labels: ours({ managed: 'true' }), annotations: ours(asks) },
  data: { sky: 'blue' },
});

const run = async (args: readonly string[]) => {
  const io = memoryIo();
  const [command = '', ...others] = args;
  const code = await runProgram([command, `--kubeconfig=${place.kubeconfigPath}`, ...others], io);
  return { code, out: io.out(), err: io.err() };
};

beforeAll(async () => {
  place = await sandboxServer.open();
  await using person = new Person(place.cluster);
  const refusing = { annotations: ours({ 'accept-mirrors-from': 'platform-*' }) };
  for (const name of ['shop', 'team-a', 'team-b', 'team-c', 'team-d', 'team-e']) {
    await person.createNamespace(name, name === 'team-b' ? refusing : {});
  }
  await person.create(source('colors', { 'target-namespaces': 'team-a, team-b, team-c, team-e' }));
  await person.create(source('gone', { 'target-namespaces': 'team-a' }));
  await person.create(source('fonts', { 'target-namespaces': 'team-a' }));
  await person.create({ ...source('prices', { 'keep-revisions': '5' }), data: { tea: '3' } });
  await run(['run', '--once']);
  await person.patch('shop/prices', { data: { tea: '30' } });
  await run(['run', '--once']);
  await person.delete('shop/gone');
  await person.patch('shop/colors', {
    metadata: { annotations: ours({ 'target-namespaces': 'team-a, team-b, team-c' }) },
  });
  await person.patch('team-e/colors-synced', { metadata: { annotations: ours({ held: '1a2b3c4d' }) } });
  await person.patch('team-c/colors-synced', { data: { sky: 'red' } });
  await person.create(source('bad', { 'deletion-policy': 'keep' }));
  const applied = source('colors', { 'target-namespaces': 'team-a, team-b, team-c, team-d' });
  writeFileSync(file, dump({ apiVersion: 'v1', kind: 'ConfigMap', ...applied }));
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await place[Symbol.asyncDispose]();
});

test('the README has the table of questions', () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(10);
});

test.each(ROWS)('[C9] README: $question', async ({ command, answer }) => {
  const { out, err } = await run(command.replace('colors.yaml', file).split(' '));
  expect(out.replace(/\s+/g, ' '), err).toContain(answer);
});

test('[C3] README: the exit code for scripts', async () => {
  expect((await run(['status', '-n', 'team-a', '--check'])).code).toBe(1);
  expect((await run(['status', '-n', 'team-d', '--check'])).code).toBe(0);
});
