/** What a person writes in the workshop, with an unmodified kubectl and no extra flags. */
import { describe, expect, test } from 'vitest';
import { kubectlIsMissing, useWorkshop } from './kubectl.ts';

describe.skipIf(kubectlIsMissing())('[B1] kubectl writes to the sandbox', () => {
  const session = useWorkshop();
  const { kubectl, here, run, runWith, runIn, file: write, dataOf } = session;

  const manifest = (data: Readonly<Record<string, string>>): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'colors', labels: { app: 'demo' } },
      data,
    });

  test('create configmap --from-literal and --from-file, text and binary', async () => {
    const text = await write('app.yaml', 'a: 1\n');
    const binary = await write('logo.png', Buffer.from([0x89, 0x00, 0xff, 0xfe]));
    expect(await here('create', 'configmap', 'colors', '--from-literal=primary=blue')).toBe(
      'configmap/colors created\n',
    );
    await here('create', 'configmap', 'files', `--from-file=${text}`, `--from-file=logo=${binary}`);
    expect(await dataOf('colors')).toEqual({ primary: 'blue' });
    expect(await dataOf('files')).toEqual({ 'app.yaml': 'a: 1\n' });
    expect(await here('get', 'cm', 'files', '-o', 'jsonpath={.binaryData.logo}')).toBe('iQD//g==');
  });

  test('label and annotate: set, refuse to overwrite, overwrite, remove', async () => {
    await here('create', 'configmap', 'colors');
    expect(await here('label', 'cm', 'colors', 'workshop.io/managed=true')).toBe(
      'configmap/colors labeled\n',
    );
    expect((await run('-n', session.namespace, 'label', 'cm', 'colors', 'workshop.io/managed=no')).code).toBe(
      1,
    );
    await here('label', 'cm', 'colors', 'workshop.io/managed=no', '--overwrite');
    await here('annotate', 'cm', 'colors', 'note=hello world');
    const { metadata } = JSON.parse(await here('get', 'cm', 'colors', '-o', 'json'));
    expect(metadata).toMatchObject({
      labels: { 'workshop.io/managed': 'no' },
      annotations: { note: 'hello world' },
    });
    await here('label', 'cm', 'colors', 'workshop.io/managed-');
    expect(await here('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.labels}')).toBe('');
    const bad = await run('-n', session.namespace, 'label', 'cm', 'colors', 'x=not valid');
    expect(bad.code).toBe(1);
  });

  test('patch: merge, strategic and json', async () => {
    await here('create', 'configmap', 'colors', '--from-literal=a=1', '--from-literal=b=1');
    await here('patch', 'cm', 'colors', '--type', 'merge', '-p', '{"data":{"a":"2","b":null}}');
    expect(await dataOf('colors')).toEqual({ a: '2' });
    await here('patch', 'cm', 'colors', '-p', '{"data":{"c":"3"}}');
    expect(await dataOf('colors')).toEqual({ a: '2', c: '3' });
    await here(
      'patch',
      'cm',
      'colors',
      '--type',
      'json',
      '-p',
      '[{"op":"replace","path":"/data","value":{"d":"4"}}]',
    );
    expect(await dataOf('colors')).toEqual({ d: '4' });
    expect(await here('patch', 'cm', 'colors', '-p', '{"data":{"d":"4"}}')).toBe(
      'configmap/colors patched (no change)\n',
    );
    const failed = await run(
      ...['-n', session.namespace, 'patch', 'cm', 'colors', '--type', 'json'],
      ...['-p', '[{"op":"test","path":"/data/d","value":"5"}]'],
    );
    expect(failed).toMatchObject({
      code: 1,
      stderr: 'The request is invalid: the server rejected our request due to an error in our request\n',
    });
  });

  test('edit, and an edit that is cancelled', async () => {
    await here('create', 'configmap', 'colors', '--from-literal=primary=blue');
    const edit = (command: string) =>
      runIn({ KUBE_EDITOR: command }, '-n', session.namespace, 'edit', 'configmap', 'colors');
    expect(await edit('sed -i s/blue/green/')).toMatchObject({
      code: 0,
      stdout: 'configmap/colors edited\n',
    });
    expect(await dataOf('colors')).toEqual({ primary: 'green' });
    expect((await edit('true')).stderr + (await edit('true')).stdout).toContain(
      'Edit cancelled, no changes made.',
    );
  });

  test('apply: created, configured, unchanged, pruned of keys that left the file', async () => {
    const file = await write('colors.json', manifest({ a: '1', b: '1' }));
    expect(await here('apply', '-f', file)).toBe('configmap/colors created\n');
    expect(await here('apply', '-f', file)).toBe('configmap/colors unchanged\n');
    await here('patch', 'cm', 'colors', '-p', '{"data":{"theirs":"x"}}');
    await write('colors.json', manifest({ a: '2' }));
    expect(await here('apply', '-f', file)).toBe('configmap/colors configured\n');
    expect(await dataOf('colors')).toEqual({ a: '2', theirs: 'x' });
  });

  test.each(['apply', 'apply --server-side', 'create', 'replace'])(
    '%s of kinds that are not served: no matches for kind',
    async (command) => {
      for (const [apiVersion, kind] of [
        ['v1', 'Pod'],
        ['apps/v1', 'Deployment'],
        ['example.com/v1', 'Widget'],
      ]) {
        const file = await write(
          'unserved.json',
          JSON.stringify({ apiVersion, kind, metadata: { name: 'x' } }),
        );
        const refused = await run('-n', session.namespace, ...command.split(' '), '-f', file);
        expect(refused.stderr).toContain(`no matches for kind "${kind}" in version "${apiVersion}"`);
        expect(refused.stderr).not.toContain('proto');
        expect(refused.code).toBe(1);
      }
    },
  );

  test('apply --server-side: conflicts, --force-conflicts, and taking over from a client-side apply', async () => {
    const file = await write('ssa.json', manifest({ a: '1' }));
    await here('apply', '-f', file);
    expect(await here('apply', '--server-side', '-f', file)).toBe('configmap/colors serverside-applied\n');
    await write('ssa.json', manifest({ a: '2' }));
    const apply = ['-n', session.namespace, 'apply', '--server-side', '-f', file, '--field-manager=other'];
    const refused = await run(...apply);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "kubectl": .data.a');
    await kubectl(...apply, '--force-conflicts');
    expect(await dataOf('colors')).toEqual({ a: '2' });
    const managers = await here(
      ...['get', 'cm', 'colors', '--show-managed-fields'],
      ...['-o', 'jsonpath={range .metadata.managedFields[*]}{.manager}/{.operation} {end}'],
    );
    expect(managers).toContain('other/Apply');
    expect(managers).not.toContain('kubectl-client-side-apply');
  });

  test('diff: 1 when there is one, 0 when there is none, and nothing is written', async () => {
    const file = await write('diff.json', manifest({ a: '1' }));
    await here('apply', '-f', file);
    expect((await run('-n', session.namespace, 'diff', '-f', file)).code).toBe(0);
    await write('diff.json', manifest({ a: '2' }));
    const different = await run('-n', session.namespace, 'diff', '-f', file);
    expect(different.code).toBe(1);
    expect(different.stdout).toMatch(/^- {2}a: "1"\n\+ {2}a: "2"$/m);
    expect(await dataOf('colors')).toEqual({ a: '1' });
  });

  test('replace, replace --force, create of what exists', async () => {
    const file = await write('replace.json', manifest({ a: '1' }));
    await here('create', '-f', file);
    expect((await run('-n', session.namespace, 'create', '-f', file)).stderr).toContain(
      'configmaps "colors" already exists',
    );
    await write('replace.json', manifest({ b: '2' }));
    expect(await here('replace', '-f', file)).toBe('configmap/colors replaced\n');
    expect(await dataOf('colors')).toEqual({ b: '2' });
    const uid = await here('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.uid}');
    await here('replace', '--force', '-f', file);
    expect(await here('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.uid}')).not.toBe(uid);
  });

  test('a manifest with an unknown field is refused, as the server words it', async () => {
    const wrong = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"dta":{"a":"b"}}';
    const refused = await runWith(wrong, '-n', session.namespace, 'apply', '-f', '-');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"',
    );
    const warned = await runWith(wrong, '-n', session.namespace, 'create', '--validate=warn', '-f', '-');
    expect(warned).toMatchObject({ code: 0, stderr: 'Warning: unknown field "dta"\n' });
  });

  test('a stale replace is a conflict', async () => {
    await here('create', 'configmap', 'colors', '--from-literal=a=1');
    const stale = await here('get', 'cm', 'colors', '-o', 'json');
    await here('patch', 'cm', 'colors', '-p', '{"data":{"a":"2"}}');
    const refused = await runWith(stale, '-n', session.namespace, 'replace', '-f', '-');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'Operation cannot be fulfilled on configmaps "colors": the object has been modified; please apply your changes to the latest version and try again',
    );
  });
});
