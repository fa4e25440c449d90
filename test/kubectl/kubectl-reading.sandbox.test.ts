/** What a person looks at and throws away in the workshop, with an unmodified kubectl and no extra flags. */
import { describe, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { kubectlIsMissing, useWorkshop } from './kubectl.ts';

describe.skipIf(kubectlIsMissing())('[B1] kubectl reads from the sandbox and clears it', () => {
  const session = useWorkshop();
  const { kubectl, here, run, runWith, start, succeeded } = session;

  test('get as a table, wide, name, json, yaml, jsonpath', async () => {
    await here('create', 'configmap', 'colors', '--from-literal=a=b', '--from-literal=c=d');
    expect(await here('get', 'configmaps')).toMatch(/^NAME +DATA +AGE\ncolors +2 +\d+s\n$/);
    expect(await here('get', 'cm', '-o', 'wide')).toMatch(/^NAME +DATA +AGE\ncolors +2 +\d+s\n$/);
    expect(await here('get', 'cm', '-o', 'name')).toBe('configmap/colors\n');
    expect(JSON.parse(await here('get', 'cm', 'colors', '-o', 'json')).data).toEqual({ a: 'b', c: 'd' });
    expect(await here('get', 'cm', 'colors', '-o', 'yaml')).toContain('data:\n  a: b\n  c: d\n');
    expect(await here('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.name}')).toBe('colors');
    expect(await here('get', 'cm', 'colors', '-o', 'custom-columns=N:.metadata.name')).toBe('N\ncolors\n');
  });

  test('get -A, -l, --field-selector, --chunk-size, and what is not there', async () => {
    for (const name of ['a', 'b', 'c']) await here('create', 'configmap', name);
    await here('label', 'configmap', 'b', 'pick=me');
    expect(await kubectl('get', 'cm', '-A')).toMatch(new RegExp(`^${session.namespace} +a +0`, 'm'));
    expect(await here('get', 'cm', '-l', 'pick in (me,you)', '-o', 'name')).toBe('configmap/b\n');
    expect(await here('get', 'cm', '-l', '!pick', '-o', 'name')).toBe('configmap/a\nconfigmap/c\n');
    expect(await here('get', 'cm', '--field-selector', 'metadata.name=c', '-o', 'name')).toBe(
      'configmap/c\n',
    );
    expect(await here('get', 'cm', '--chunk-size=1', '-o', 'name')).toBe(
      'configmap/a\nconfigmap/b\nconfigmap/c\n',
    );
    const missing = await run('-n', session.namespace, 'get', 'cm', 'nope');
    expect(missing).toMatchObject({
      code: 1,
      stderr: 'Error from server (NotFound): configmaps "nope" not found\n',
    });
  });

  test('get --watch prints each change as it comes', async () => {
    await here('create', 'configmap', 'first');
    const watch = start('-n', session.namespace, 'get', 'configmaps', '--watch');
    try {
      await waitFor(() => watch.stdout().includes('first'));
      await here('create', 'configmap', 'second', '--from-literal=a=b');
      await waitFor(() => /^second +1 /m.test(watch.stdout()));
      await here('patch', 'cm', 'second', '-p', '{"data":{"c":"d"}}');
      await waitFor(() => /^second +2 /m.test(watch.stdout()));
      await here('delete', 'cm', 'second');
      await waitFor(() => (watch.stdout().match(/^second /gm) ?? []).length === 3);
    } finally {
      await watch.stop();
    }
  });

  test('delete: by name, -l, --all; wait --for=delete', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await here('create', 'configmap', name);
    await here('label', 'cm', 'b', 'pick=me');
    expect(await here('delete', 'cm', 'a')).toContain('configmap "a" deleted');
    await here('delete', 'cm', '-l', 'pick=me');
    expect(await here('get', 'cm', '-o', 'name')).toBe('configmap/c\nconfigmap/d\n');
    await here('delete', 'cm', '--all');
    expect(await here('get', 'cm', '-o', 'name')).toBe('');
    await here('create', 'configmap', 'held');
    await here('patch', 'cm', 'held', '-p', '{"metadata":{"finalizers":["workshop.io/hold"]}}');
    await here('delete', 'cm', 'held', '--wait=false');
    const waiting = run('-n', session.namespace, 'wait', '--for=delete', 'cm/held', '--timeout=20s');
    await here('patch', 'cm', 'held', '--type', 'merge', '-p', '{"metadata":{"finalizers":null}}');
    expect((await waiting).code).toBe(0);
  });

  test('delete --cascade: dependents go, or stay as orphans', async () => {
    const dependentOf = async (owner: string, name: string) => {
      const uid = await here('get', 'cm', owner, '-o', 'jsonpath={.metadata.uid}');
      const ownerReferences = [
        { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, blockOwnerDeletion: true },
      ];
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences } };
      succeeded(
        ['create'],
        await runWith(JSON.stringify(object), '-n', session.namespace, 'create', '-f', '-'),
      );
    };
    for (const cascade of ['background', 'foreground', 'orphan']) {
      await here('create', 'configmap', cascade);
      await dependentOf(cascade, `${cascade}-dependent`);
      await here('delete', 'cm', cascade, `--cascade=${cascade}`);
    }
    await waitFor(async () => (await here('get', 'cm', '-o', 'name')) === 'configmap/orphan-dependent\n');
    expect(await here('get', 'cm', 'orphan-dependent', '-o', 'jsonpath={.metadata.ownerReferences}')).toBe(
      '',
    );
  });

  test('describe configmap and namespace', async () => {
    await here('create', 'configmap', 'colors', '--from-literal=primary=blue');
    const described = await here('describe', 'configmap', 'colors');
    expect(described).toMatch(/Name: +colors/);
    expect(described).toContain('primary:\n----\nblue\n');
    expect(described).toContain('Events:  <none>');
    expect(await kubectl('describe', 'namespace', session.namespace)).toMatch(/Status: +Active/);
  });

  test('create and delete namespace: everything in it goes', async () => {
    await here('create', 'configmap', 'colors');
    expect(await kubectl('get', 'namespace', session.namespace)).toMatch(/Active/);
    expect(await kubectl('delete', 'namespace', session.namespace)).toContain(
      `namespace "${session.namespace}" deleted`,
    );
    expect((await run('get', 'namespace', session.namespace)).stderr).toContain('NotFound');
    expect(
      await kubectl(
        'get',
        'cm',
        '-A',
        '-o',
        'name',
        '--field-selector',
        `metadata.namespace=${session.namespace}`,
      ),
    ).toBe('');
    expect((await run('-n', session.namespace, 'create', 'configmap', 'late')).stderr).toContain(
      `namespaces "${session.namespace}" not found`,
    );
  });

  test('get events, sorted by time, and describe with them', async () => {
    await here('create', 'configmap', 'colors');
    const uid = await here('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.uid}');
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'colors.1' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'colors',
        namespace: session.namespace,
        uid,
      },
      reason: 'Mirrored',
      message: 'has its companion',
      type: 'Normal',
      source: { component: 'mirror-controller' },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    succeeded(['create'], await runWith(JSON.stringify(event), '-n', session.namespace, 'create', '-f', '-'));
    const row = /Normal +Mirrored +configmap\/colors +has its companion/;
    expect(await here('get', 'events')).toMatch(row);
    expect(await here('get', 'events.events.k8s.io')).toMatch(row);
    expect(await here('get', 'events', '--sort-by=.lastTimestamp')).toMatch(row);
    expect(await here('events', '--for', 'configmap/colors')).toMatch(/Mirrored/);
    expect(await here('describe', 'cm', 'colors')).toMatch(
      /Normal +Mirrored .* mirror-controller +has its companion/,
    );
  });

  test('leases, generated names, dry runs', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'mirror-controller' },
      spec: { holderIdentity: 'me', renewTime: '2026-01-01T00:00:00.000000Z' },
    };
    succeeded(['create'], await runWith(JSON.stringify(lease), '-n', session.namespace, 'create', '-f', '-'));
    expect(await here('get', 'leases')).toMatch(/mirror-controller +me /);
    const generated = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"made-"}}';
    const made = await runWith(generated, '-n', session.namespace, 'create', '-f', '-');
    expect(made.stdout).toMatch(/^configmap\/made-[a-z0-9]{5} created\n$/);
    await here('create', 'configmap', 'never', '--dry-run=server');
    expect((await run('-n', session.namespace, 'get', 'cm', 'never')).code).toBe(1);
  });

  test('api-resources, api-versions, version, explain, auth can-i, auth whoami', async () => {
    expect(await kubectl('api-resources')).toMatch(/^configmaps +cm +v1 +true +ConfigMap$/m);
    expect(await kubectl('api-versions')).toBe(
      'authentication.k8s.io/v1\nauthorization.k8s.io/v1\ncoordination.k8s.io/v1\nevents.k8s.io/v1\nv1\n',
    );
    expect(await kubectl('version')).toMatch(/^Server Version: v1\.\d+/m);
    expect(await kubectl('explain', 'configmap.data')).toContain('FIELD: data <map[string]string>');
    expect(await kubectl('auth', 'can-i', 'delete', 'configmaps')).toBe('yes\n');
    expect(await kubectl('auth', 'can-i', '--list')).toContain('*.*');
    expect(await kubectl('auth', 'whoami')).toMatch(/Username +sandbox/);
  });
});
