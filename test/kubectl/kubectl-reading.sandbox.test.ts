/**
 * What a person reads and deletes in the workshop, with an unmodified kubectl and no extra flags.
 */
import { describe, expect, test } from 'vitest';
import { hasKubectl } from '../support/kubectl.ts';
import { waitFor } from '../support/wait-for.ts';
import { useWorkshop } from './workshop.ts';

describe.skipIf(!hasKubectl())('[B1] kubectl reads from the sandbox and deletes from it', () => {
  const workshop = useWorkshop();
  const { kubectl, run, start, create } = workshop;

  test('get prints a table, wide, names, JSON, YAML and a jsonpath', async () => {
    await kubectl('create', 'configmap', 'colors', '--from-literal=a=b', '--from-literal=c=d');
    expect(await kubectl('get', 'configmaps')).toMatch(/^NAME +DATA +AGE\ncolors +2 +\d+s\n$/);
    expect(await kubectl('get', 'cm', '-o', 'wide')).toMatch(/^NAME +DATA +AGE\ncolors +2 +\d+s\n$/);
    expect(await kubectl('get', 'cm', '-o', 'name')).toBe('configmap/colors\n');
    expect(JSON.parse(await kubectl('get', 'cm', 'colors', '-o', 'json')).data).toEqual({ a: 'b', c: 'd' });
    expect(await kubectl('get', 'cm', 'colors', '-o', 'yaml')).toContain('data:\n  a: b\n  c: d\n');
    expect(await kubectl('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.name}')).toBe('colors');
    expect(await kubectl('get', 'cm', 'colors', '-o', 'custom-columns=N:.metadata.name')).toBe('N\ncolors\n');
  });

  test('get takes -A, -l, --field-selector and --chunk-size, and reports what does not exist', async () => {
    for (const name of ['a', 'b', 'c']) await kubectl('create', 'configmap', name);
    await kubectl('label', 'configmap', 'b', 'pick=me');
    expect(await kubectl('get', 'cm', '-A')).toMatch(new RegExp(`^${workshop.namespace} +a +0`, 'm'));
    expect(await kubectl('get', 'cm', '-l', 'pick in (me,you)', '-o', 'name')).toBe('configmap/b\n');
    expect(await kubectl('get', 'cm', '-l', '!pick', '-o', 'name')).toBe('configmap/a\nconfigmap/c\n');
    expect(await kubectl('get', 'cm', '--field-selector', 'metadata.name=c', '-o', 'name')).toBe(
      'configmap/c\n',
    );
    expect(await kubectl('get', 'cm', '--chunk-size=1', '-o', 'name')).toBe(
      'configmap/a\nconfigmap/b\nconfigmap/c\n',
    );
    const absent = await run(['get', 'cm', 'nope']);
    expect(absent).toMatchObject({
      exitCode: 1,
      stderr: 'Error from server (NotFound): configmaps "nope" not found\n',
    });
  });

  test('get --watch prints each change', async () => {
    await kubectl('create', 'configmap', 'first');
    const watch = start(['get', 'configmaps', '--watch']);
    try {
      await waitFor(() => watch.stdout().includes('first'));
      await kubectl('create', 'configmap', 'second', '--from-literal=a=b');
      await waitFor(() => /^second +1 /m.test(watch.stdout()));
      await kubectl('patch', 'cm', 'second', '-p', '{"data":{"c":"d"}}');
      await waitFor(() => /^second +2 /m.test(watch.stdout()));
      await kubectl('delete', 'cm', 'second');
      await waitFor(() => (watch.stdout().match(/^second /gm) ?? []).length === 3);
    } finally {
      await watch.stop();
    }
  });

  test('delete takes a name, -l and --all, and wait --for=delete waits', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await kubectl('create', 'configmap', name);
    await kubectl('label', 'cm', 'b', 'pick=me');
    expect(await kubectl('delete', 'cm', 'a')).toContain('configmap "a" deleted');
    await kubectl('delete', 'cm', '-l', 'pick=me');
    expect(await kubectl('get', 'cm', '-o', 'name')).toBe('configmap/c\nconfigmap/d\n');
    await kubectl('delete', 'cm', '--all');
    expect(await kubectl('get', 'cm', '-o', 'name')).toBe('');
    await kubectl('create', 'configmap', 'held');
    await kubectl('patch', 'cm', 'held', '-p', '{"metadata":{"finalizers":["workshop.io/hold"]}}');
    await kubectl('delete', 'cm', 'held', '--wait=false');
    const waiting = run(['wait', '--for=delete', 'cm/held', '--timeout=20s']);
    await kubectl('patch', 'cm', 'held', '--type', 'merge', '-p', '{"metadata":{"finalizers":null}}');
    expect((await waiting).exitCode).toBe(0);
  });

  test('delete --cascade deletes dependents or orphans them', async () => {
    const dependentOf = async (owner: string, name: string) => {
      const uid = await kubectl('get', 'cm', owner, '-o', 'jsonpath={.metadata.uid}');
      const ownerReferences = [
        { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, blockOwnerDeletion: true },
      ];
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences } };
      await create(object);
    };
    for (const cascade of ['background', 'foreground', 'orphan']) {
      await kubectl('create', 'configmap', cascade);
      await dependentOf(cascade, `${cascade}-dependent`);
      await kubectl('delete', 'cm', cascade, `--cascade=${cascade}`);
    }
    await waitFor(async () => (await kubectl('get', 'cm', '-o', 'name')) === 'configmap/orphan-dependent\n');
    expect(await kubectl('get', 'cm', 'orphan-dependent', '-o', 'jsonpath={.metadata.ownerReferences}')).toBe(
      '',
    );
  });

  test('describe shows a ConfigMap and a Namespace', async () => {
    await kubectl('create', 'configmap', 'colors', '--from-literal=primary=blue');
    const described = await kubectl('describe', 'configmap', 'colors');
    expect(described).toMatch(/Name: +colors/);
    expect(described).toContain('primary:\n----\nblue\n');
    expect(described).toContain('Events:  <none>');
    expect(await kubectl('describe', 'namespace', workshop.namespace)).toMatch(/Status: +Active/);
  });

  test('delete namespace deletes everything in it', async () => {
    await kubectl('create', 'configmap', 'colors');
    expect(await kubectl('get', 'namespace', workshop.namespace)).toMatch(/Active/);
    expect(await kubectl('delete', 'namespace', workshop.namespace)).toContain(
      `namespace "${workshop.namespace}" deleted`,
    );
    expect((await run(['get', 'namespace', workshop.namespace])).stderr).toContain('NotFound');
    expect(
      await kubectl(
        'get',
        'cm',
        '-A',
        '-o',
        'name',
        '--field-selector',
        `metadata.namespace=${workshop.namespace}`,
      ),
    ).toBe('');
    expect((await run(['create', 'configmap', 'late'])).stderr).toContain(
      `namespaces "${workshop.namespace}" not found`,
    );
  });

  test('get events and describe show Events', async () => {
    await kubectl('create', 'configmap', 'colors');
    const uid = await kubectl('get', 'cm', 'colors', '-o', 'jsonpath={.metadata.uid}');
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'colors.1' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'colors',
        namespace: workshop.namespace,
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
    await create(event);
    const row = /Normal +Mirrored +configmap\/colors +has its companion/;
    expect(await kubectl('get', 'events')).toMatch(row);
    expect(await kubectl('get', 'events.events.k8s.io')).toMatch(row);
    expect(await kubectl('get', 'events', '--sort-by=.lastTimestamp')).toMatch(row);
    expect(await kubectl('events', '--for', 'configmap/colors')).toMatch(/Mirrored/);
    expect(await kubectl('describe', 'cm', 'colors')).toMatch(
      /Normal +Mirrored .* mirror-controller +has its companion/,
    );
  });

  test('create takes Leases, generated names and dry runs', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'mirror-controller' },
      spec: { holderIdentity: 'me', renewTime: '2026-01-01T00:00:00.000000Z' },
    };
    await create(lease);
    expect(await kubectl('get', 'leases')).toMatch(/mirror-controller +me /);
    const generated = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"made-"}}';
    const made = await run(['create', '-f', '-'], { input: generated });
    expect(made.stdout).toMatch(/^configmap\/made-[a-z0-9]{5} created\n$/);
    await kubectl('create', 'configmap', 'never', '--dry-run=server');
    expect((await run(['get', 'cm', 'never'])).exitCode).toBe(1);
  });

  test('discovery commands work: api-resources, api-versions, version, explain, auth can-i, auth whoami', async () => {
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
