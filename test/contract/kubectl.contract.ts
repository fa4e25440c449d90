import { describe, expect, test } from 'vitest';
import { hasKubectl, type KubectlOptions, useKubectl } from '../support/kubectl.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { useRoom } from './room.ts';

/** For what kubectl prints while it runs; a busy machine needs seconds to start it. */
const DEADLINE = { deadlineMs: 60_000 };

/** What an age, a version or kubectl's own temper makes of a text. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b\d+(ms|s|m)\b/g, '<age>'],
  [/ +/g, ' '],
  // kubectl 1.34 and later.
  [/ from \S+ namespace$/gm, ''],
  [/^Warning: .*\n/gm, ''],
  [/^WARNING: version difference.*\n/gm, ''],
  [/resourceVersion: "\d+"/g, 'resourceVersion: <…>'],
  [/"resourceVersion": "\d+"/g, '"resourceVersion": <…>'],
];
const plain = (text: string) =>
  VARYING.reduce((result, [pattern, replacement]) => result.replaceAll(pattern, replacement), text);

interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
}

export function kubectlContract(server: TestServer): void {
  describe.skipIf(!hasKubectl())('kubectl', () => {
    const room = useRoom(server, 'kubectl');
    const kubectl = useKubectl(room.kubeconfigPath, () => room.namespace);
    /**
     * Runs `line`, split at blanks, and records what it prints and how it ends. `view`: what to
     * record of the output.
     */
    const run = async (line: string, options: KubectlOptions = {}, view = (text: string) => text) => {
      const result = await kubectl.run(line.split(' '), options);
      const { exitCode, stdout, stderr } = result;
      const output = { stdout: view(plain(stdout)), stderr: plain(stderr) };
      room.record({ request: `kubectl ${line}`, ...options, exitCode, ...output });
      return result;
    };
    const manifest = (name: string, data: object) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

    test('create takes literals and files', async () => {
      kubectl.file('colors.txt', 'red\n');
      await run('create configmap colors --from-literal=sky=blue --from-file=colors.txt');
      await run('create configmap colors --from-literal=sky=blue');
      await run('create configmap Colors');
      await run('create configmap dry --dry-run=server -o name');
      await run('create -f -', { input: manifest('from-stdin', { a: 'b' }) });
      await run('create configmap lacking -n nosuch');
      await run('get configmap colors -o jsonpath={.data}');
    });

    test('get prints many forms', async () => {
      await room.create('get-a', { data: { a: '1' }, metadata: { labels: { get: 'yes' } } });
      await room.create('get-b', { data: { a: '1', b: '2' }, metadata: { labels: { get: 'yes' } } });
      for (const form of [
        '',
        ' -o wide',
        ' -o name',
        ' -o yaml',
        ' --show-labels',
        ' -L get',
        ' --chunk-size=1',
        ' --no-headers',
        ' -o custom-columns=N:.metadata.name',
      ]) {
        await run(`get configmaps -l get=yes${form}`);
      }
      await run('get configmap get-a');
      await run('get configmap get-a get-b -o name');
      await run('get configmap absent');
      await run('get configmap absent --ignore-not-found');
      await run('get configmaps -l get=no');
      await run('get configmaps --field-selector metadata.name=get-a -o name');
      await run(`get configmaps -A -l get=yes --field-selector metadata.namespace=${room.namespace}`);
      await run('get nosuch');
      await run('get cm,leases -l get=yes -o name');
    });

    test('label and annotate set and remove', async () => {
      await room.create('labelled');
      await run('label configmap labelled a=b');
      await run('label configmap labelled a=c');
      await run('label configmap labelled a=c --overwrite');
      await run('label configmap labelled a-');
      await run('label configmap labelled bad=!');
      await run('annotate configmap labelled note=hello');
      await run('annotate configmap labelled note-');
      await run('get configmap labelled -o jsonpath={.metadata.labels}{.metadata.annotations}');
    });

    test('patch takes three kinds of patches', async () => {
      await room.create('patched', { data: { a: '1' } });
      await run('patch configmap patched -p {"data":{"b":"2"}}');
      await run('patch configmap patched --type=merge -p {"data":{"a":null}}');
      await run('patch configmap patched --type=json -p [{"op":"add","path":"/data/c","value":"3"}]');
      await run('patch configmap patched --type=json -p [{"op":"test","path":"/data/c","value":"4"}]');
      await run('get configmap patched -o jsonpath={.data}');
    });

    test('edit and replace overwrite', async () => {
      await room.create('edited', { data: { a: 'old' } });
      await run('edit configmap edited', { editor: 'sed -i s/old/new/' });
      await run('edit configmap edited', { editor: 'true' });
      await run('get configmap edited -o jsonpath={.data}');
      await run('replace -f -', { input: manifest('edited', { a: 'replaced' }) });
      await run('replace -f -', { input: manifest('absent', {}) });
      await run('replace --force -f -', { input: manifest('edited', { a: 'forced' }) });
      await run('get configmap edited -o jsonpath={.data}');
    });

    test('apply and diff work on the client', async () => {
      await run('apply -f -', { input: manifest('applied', { a: '1', b: '2' }) });
      await run('apply -f -', { input: manifest('applied', { a: '1', b: '2' }) });
      await run('diff -f -', { input: manifest('applied', { a: '1', b: '2' }) });
      // Other lines of the difference have times and versions.
      const changes = (text: string) => text.replaceAll(/^(?![-+] a: ).*\n/gm, '');
      await run('diff -f -', { input: manifest('applied', { a: '9' }) }, changes);
      await run('apply -f -', { input: manifest('applied', { a: '9' }) });
      await run('get configmap applied -o jsonpath={.data}');
      await run('apply --dry-run=server -f -', { input: manifest('applied', { a: '0' }) });
      await run('apply -f -', { input: manifest('applied', { 'a b': '0' }) });
    });

    test('apply --server-side reports conflicts', async () => {
      await run('apply --server-side -f -', { input: manifest('ssa', { a: '1' }) });
      await run('apply --server-side --field-manager=other -f -', { input: manifest('ssa', { a: '2' }) });
      await run('apply --server-side --field-manager=other --force-conflicts -f -', {
        input: manifest('ssa', { a: '2' }),
      });
      await run('get configmap ssa -o jsonpath={.data}');
    });

    test('describe shows an object', async () => {
      await room.create('described', {
        data: { a: '1\n2' },
        binaryData: { b: 'eA==' },
        metadata: { labels: { l: 'v' } },
      });
      await run('describe configmap described');
      await run('describe configmap absent');
    });

    test('delete deletes and wait waits', async () => {
      for (const name of ['d-a', 'd-b', 'd-c', 'd-d'])
        await room.create(name, { metadata: { labels: { d: 'yes' } } });
      await room.create('d-held', { metadata: { finalizers: ['example.com/hold'] } });
      await run('delete configmap d-a');
      await run('delete configmap d-a');
      await run('delete configmap d-a --ignore-not-found');
      await run('delete configmap -l d=yes --dry-run=server');
      await run('delete configmap -l d=yes');
      await run('delete configmap d-held --wait=false');
      await run('patch configmap d-held --type=merge -p {"metadata":{"finalizers":null}}');
      await run('wait --for=delete configmap/d-held --timeout=30s');
      await run('wait --for=jsonpath={.data.sky}=blue configmap/colors --timeout=30s');
    });

    test('get --watch shows changes', async () => {
      await room.create('watched', { data: { a: '1' } });
      const line = 'get configmap watched --watch --output-watch-events';
      const watching = kubectl.start(line.split(' '));
      const prints = (event: string) => waitFor(() => watching.stdout().includes(event), DEADLINE);
      // It fails if the ConfigMap is gone before it has begun.
      await prints('ADDED');
      await run('label configmap watched a=b');
      await run('delete configmap watched');
      await prints('DELETED');
      await watching.stop();

      expect(plain(watching.stdout())).toMatch(
        /^EVENT NAME DATA AGE\nADDED watched 1 <age>\n(.*\n)*DELETED watched 1 <age>$/m,
      );
    });

    test('namespaces can be created and deleted', async () => {
      const name = `${room.namespace}-two`;
      await run(`create namespace ${name}`);
      await run(`create namespace ${name}`);
      await run(`get namespace ${name}`);
      await run(`get namespace ${name} -o name`);
      if (server.collectsGarbage) await run(`delete namespace ${name} --timeout=60s`);
    });

    test('get events shows events', async () => {
      await run('get events');
      const metadata = { name: 'seen' };
      const involvedObject = { kind: 'ConfigMap', name: 'colors', namespace: room.namespace };
      const body = {
        metadata,
        involvedObject,
        reason: 'Mirrored',
        message: 'made',
        type: 'Normal',
        lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
        count: 1,
      };
      expect((await room.request('POST', room.path('', 'events'), { body })).code).toBe(201);
      await run('get events');
      await run('events');
      await run('get events --field-selector involvedObject.name=colors -o name');
    });

    test('kubectl can ask what the server is', async () => {
      await run('auth can-i create configmaps');
      await run('auth can-i * *');
      await run('version -o json', {}, (text) => {
        const { serverVersion } = JSON.parse(text) as { readonly serverVersion: ServerVersion };
        const { major, minor, gitVersion } = serverVersion;
        return `${major}.${minor}, ${gitVersion.replace(/\+.*/, '')}`;
      });
      const ours = (text: string) =>
        (text.match(/^(configmaps|namespaces|leases|events) .*$/gm) ?? []).sort().join('\n');
      await run('api-resources --no-headers', {}, ours);
      // The descriptions are documentation.
      await run('explain configmap.data', {}, (text) => text.split('DESCRIPTION')[0] ?? '');
    });

    test('delete --all deletes all objects', async () => {
      await run('delete configmaps --all');
      await run('get configmaps');
    });
  });
}
