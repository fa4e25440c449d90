/** What a person writes in the workshop, with an unmodified kubectl and no extra flags. */
import { describe, expect, test } from 'vitest';
import { hasKubectl } from '../support/kubectl.ts';
import { useWorkshop } from './workshop.ts';

describe.skipIf(!hasKubectl())('[B1] kubectl writes to the sandbox', () => {
  const workshop = useWorkshop();
  const { kubectl, run, file: write, dataOf } = workshop;

  const manifest = (data: Readonly<Record<string, string>>): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'colors', labels: { app: 'demo' } },
      data,
    });

  test('create configmap takes --from-literal and --from-file, text and binary', async () => {
    const text = write('app.yaml', 'a: 1\n');
    const binary = write('logo.png', Buffer.from([0x89, 0x00, 0xff, 0xfe]));
    expect(await kubectl('create', 'configmap', 'colors', '--from-literal=primary=blue')).toBe(
      'configmap/colors created\n',
    );
    await kubectl('create', 'configmap', 'files', `--from-file=${text}`, `--from-file=logo=${binary}`);
    expect(await dataOf('colors')).toEqual({ primary: 'blue' });
    expect(await dataOf('files')).toEqual({ 'app.yaml': 'a: 1\n' });
    expect(await kubectl('get', 'cm', 'files', '-o', 'jsonpath={.binaryData.logo}')).toBe('iQD//g==');
  });

  test('label and annotate set, overwrite only if asked to, and remove', async () => {
    await kubectl('create', 'configmap', 'colors');
    expect(await kubectl('label', 'cm', 'colors', 'workshop.io/managed=true')).toBe(
      'configmap/colors labeled\n',
    );
    expect((await run(['label', 'cm', 'colors', 'workshop.io/managed=no'])).exitCode).toBe(1);
    await kubectl('label', 'cm', 'colors', 'workshop.io/managed=no', '--overwrite');
    await kubectl('annotate', 'cm', 'colors', 'note=hello world');
    const { metadata } = JSON.parse(await kubectl('get', 'cm', 'colors', '-o', 'json'));
    expect(metadata).toMatchObject({
      labels: { 'workshop.io/managed': 'no' },
      annotations: { note: 'hello world' },
    });
    await kubectl('label', 'cm', 'colors', 'workshop.io/managed-');
    expect(await kubectl('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.labels}')).toBe('');
    const bad = await run(['label', 'cm', 'colors', 'x=not valid']);
    expect(bad.exitCode).toBe(1);
  });

  test('patch takes merge, strategic and JSON patches', async () => {
    await kubectl('create', 'configmap', 'colors', '--from-literal=a=1', '--from-literal=b=1');
    await kubectl('patch', 'cm', 'colors', '--type', 'merge', '-p', '{"data":{"a":"2","b":null}}');
    expect(await dataOf('colors')).toEqual({ a: '2' });
    await kubectl('patch', 'cm', 'colors', '-p', '{"data":{"c":"3"}}');
    expect(await dataOf('colors')).toEqual({ a: '2', c: '3' });
    await kubectl(
      'patch',
      'cm',
      'colors',
      '--type',
      'json',
      '-p',
      '[{"op":"replace","path":"/data","value":{"d":"4"}}]',
    );
    expect(await dataOf('colors')).toEqual({ d: '4' });
    expect(await kubectl('patch', 'cm', 'colors', '-p', '{"data":{"d":"4"}}')).toBe(
      'configmap/colors patched (no change)\n',
    );
    const failingTest = '[{"op":"test","path":"/data/d","value":"5"}]';
    const failed = await run(['patch', 'cm', 'colors', '--type', 'json', '-p', failingTest]);
    expect(failed).toMatchObject({
      exitCode: 1,
      stderr: 'The request is invalid: the server rejected our request due to an error in our request\n',
    });
  });

  test('edit writes what the editor changed, and nothing if it changed nothing', async () => {
    await kubectl('create', 'configmap', 'colors', '--from-literal=primary=blue');
    const edit = (command: string) => run(['edit', 'configmap', 'colors'], { editor: command });
    expect(await edit('sed -i s/blue/green/')).toMatchObject({
      exitCode: 0,
      stdout: 'configmap/colors edited\n',
    });
    expect(await dataOf('colors')).toEqual({ primary: 'green' });
    expect((await edit('true')).stderr + (await edit('true')).stdout).toContain(
      'Edit cancelled, no changes made.',
    );
  });

  test('apply reports created, configured and unchanged, and removes keys that left the file', async () => {
    const file = write('colors.json', manifest({ a: '1', b: '1' }));
    expect(await kubectl('apply', '-f', file)).toBe('configmap/colors created\n');
    expect(await kubectl('apply', '-f', file)).toBe('configmap/colors unchanged\n');
    await kubectl('patch', 'cm', 'colors', '-p', '{"data":{"theirs":"x"}}');
    write('colors.json', manifest({ a: '2' }));
    expect(await kubectl('apply', '-f', file)).toBe('configmap/colors configured\n');
    expect(await dataOf('colors')).toEqual({ a: '2', theirs: 'x' });
  });

  test.each(['apply', 'apply --server-side', 'create', 'replace'])(
    '%s reports "no matches for kind" for kinds that are not served',
    async (command) => {
      for (const [apiVersion, kind] of [
        ['v1', 'Pod'],
        ['apps/v1', 'Deployment'],
        ['example.com/v1', 'Widget'],
      ]) {
        const file = write('unserved.json', JSON.stringify({ apiVersion, kind, metadata: { name: 'x' } }));
        const refused = await run([...command.split(' '), '-f', file]);
        expect(refused.stderr).toContain(`no matches for kind "${kind}" in version "${apiVersion}"`);
        expect(refused.stderr).not.toContain('proto');
        expect(refused.exitCode).toBe(1);
      }
    },
  );

  test('apply --server-side reports conflicts, forces them, and takes over from a client-side apply', async () => {
    const file = write('ssa.json', manifest({ a: '1' }));
    await kubectl('apply', '-f', file);
    expect(await kubectl('apply', '--server-side', '-f', file)).toBe('configmap/colors serverside-applied\n');
    write('ssa.json', manifest({ a: '2' }));
    const apply = ['apply', '--server-side', '-f', file, '--field-manager=other'];
    const refused = await run(apply);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "kubectl": .data.a');
    await kubectl(...apply, '--force-conflicts');
    expect(await dataOf('colors')).toEqual({ a: '2' });
    const managers = await kubectl(
      ...['get', 'cm', 'colors', '--show-managed-fields'],
      ...['-o', 'jsonpath={range .metadata.managedFields[*]}{.manager}/{.operation} {end}'],
    );
    expect(managers).toContain('other/Apply');
    expect(managers).not.toContain('kubectl-client-side-apply');
  });

  test('diff exits with 1 if something differs and 0 if nothing does, and writes nothing', async () => {
    const file = write('diff.json', manifest({ a: '1' }));
    await kubectl('apply', '-f', file);
    expect((await run(['diff', '-f', file])).exitCode).toBe(0);
    write('diff.json', manifest({ a: '2' }));
    const different = await run(['diff', '-f', file]);
    expect(different.exitCode).toBe(1);
    expect(different.stdout).toMatch(/^- {2}a: "1"\n\+ {2}a: "2"$/m);
    expect(await dataOf('colors')).toEqual({ a: '1' });
  });

  test('replace overwrites, replace --force recreates, and create fails where something exists', async () => {
    const file = write('replace.json', manifest({ a: '1' }));
    await kubectl('create', '-f', file);
    expect((await run(['create', '-f', file])).stderr).toContain('configmaps "colors" already exists');
    write('replace.json', manifest({ b: '2' }));
    expect(await kubectl('replace', '-f', file)).toBe('configmap/colors replaced\n');
    expect(await dataOf('colors')).toEqual({ b: '2' });
    const uid = await kubectl('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.uid}');
    await kubectl('replace', '--force', '-f', file);
    expect(await kubectl('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.uid}')).not.toBe(uid);
  });

  test("apply and create show the server's message about an unknown field", async () => {
    const wrong = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"dta":{"a":"b"}}';
    const refused = await run(['apply', '-f', '-'], { input: wrong });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"',
    );
    const warned = await run(['create', '--validate=warn', '-f', '-'], { input: wrong });
    expect(warned).toMatchObject({ exitCode: 0, stderr: 'Warning: unknown field "dta"\n' });
  });

  test('a replace of an old version is a conflict', async () => {
    await kubectl('create', 'configmap', 'colors', '--from-literal=a=1');
    const stale = await kubectl('get', 'cm', 'colors', '-o', 'json');
    await kubectl('patch', 'cm', 'colors', '-p', '{"data":{"a":"2"}}');
    const refused = await run(['replace', '-f', '-'], { input: stale });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      'Operation cannot be fulfilled on configmaps "colors": the object has been modified; please apply your changes to the latest version and try again',
    );
  });
});
