import { describe, expect, test } from 'vitest';
import { hasKubectl, useKubectl } from './kubectl.ts';
import { useRoom } from './room.ts';
import type { Server } from './server.ts';

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

export function kubectlContract(server: Server): void {
  const isThere = hasKubectl();
  describe.skipIf(!isThere)(isThere ? 'kubectl' : 'kubectl (skipped: there is no kubectl on PATH)', () => {
    const room = useRoom(server, 'kubectl');
    const kubectl = useKubectl(server.kubeconfigPath, room.namespace);
    /** Runs `line`, split at blanks, and compares what it prints and how it ends. */
    const check = async (line: string, options?: Parameters<typeof kubectl.run>[1]) => {
      const { exitCode, stdout, stderr } = await kubectl.run(line.split(' '), options);
      room.same({ line, exitCode, stdout: plain(stdout), stderr: plain(stderr) });
    };
    const manifest = (name: string, data: object) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

    test('create, from literals and files', async () => {
      kubectl.file('colors.txt', 'red\n');
      await check('create configmap colors --from-literal=sky=blue --from-file=colors.txt');
      await check('create configmap colors --from-literal=sky=blue');
      await check('create configmap Colors');
      await check('create configmap dry --dry-run=server -o name');
      await check('create -f -', { input: manifest('from-stdin', { a: 'b' }) });
      await check('create configmap lacking -n nosuch');
      await check('get configmap colors -o jsonpath={.data}');
    });

    test('get, in its forms', async () => {
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
        const { exitCode, stdout } = await kubectl.run(`get configmaps -l get=yes${form}`.split(' '));
        room.same({ form, exitCode, stdout: plain(stdout) });
      }
      await check('get configmap get-a');
      await check('get configmap get-a get-b -o name');
      await check('get configmap absent');
      await check('get configmap absent --ignore-not-found');
      await check('get configmaps -l get=no');
      await check('get configmaps --field-selector metadata.name=get-a -o name');
      await check(`get configmaps -A -l get=yes --field-selector metadata.namespace=${room.namespace}`);
      await check('get nosuch');
      await check('get cm,leases -l get=yes -o name');
    });

    test('label and annotate', async () => {
      await room.create('labelled');
      await check('label configmap labelled a=b');
      await check('label configmap labelled a=c');
      await check('label configmap labelled a=c --overwrite');
      await check('label configmap labelled a-');
      await check('label configmap labelled bad=!');
      await check('annotate configmap labelled note=hello');
      await check('annotate configmap labelled note-');
      await check('get configmap labelled -o jsonpath={.metadata.labels}{.metadata.annotations}');
    });

    test('patch, three ways', async () => {
      await room.create('patched', { data: { a: '1' } });
      await check('patch configmap patched -p {"data":{"b":"2"}}');
      await check('patch configmap patched --type=merge -p {"data":{"a":null}}');
      await check('patch configmap patched --type=json -p [{"op":"add","path":"/data/c","value":"3"}]');
      await check('patch configmap patched --type=json -p [{"op":"test","path":"/data/c","value":"4"}]');
      await check('get configmap patched -o jsonpath={.data}');
    });

    test('edit and replace', async () => {
      await room.create('edited', { data: { a: 'old' } });
      await check('edit configmap edited', { editor: 'sed -i s/old/new/' });
      await check('edit configmap edited', { editor: 'true' });
      await check('get configmap edited -o jsonpath={.data}');
      await check('replace -f -', { input: manifest('edited', { a: 'replaced' }) });
      await check('replace -f -', { input: manifest('absent', {}) });
      await check('replace --force -f -', { input: manifest('edited', { a: 'forced' }) });
      await check('get configmap edited -o jsonpath={.data}');
    });

    test('apply on the client, diff', async () => {
      await check('apply -f -', { input: manifest('applied', { a: '1', b: '2' }) });
      await check('apply -f -', { input: manifest('applied', { a: '1', b: '2' }) });
      await check('diff -f -', { input: manifest('applied', { a: '1', b: '2' }) });
      const { exitCode, stdout } = await kubectl.run(['diff', '-f', '-'], {
        input: manifest('applied', { a: '9' }),
      });
      expect(exitCode).toBe(1);
      expect(stdout).toContain('-  a: "1"');
      expect(stdout).toContain('+  a: "9"');
      await check('apply -f -', { input: manifest('applied', { a: '9' }) });
      await check('get configmap applied -o jsonpath={.data}');
      await check('apply --dry-run=server -f -', { input: manifest('applied', { a: '0' }) });
      await check('apply -f -', { input: manifest('applied', { 'a b': '0' }) });
    });

    test('apply on the server', async () => {
      await check('apply --server-side -f -', { input: manifest('ssa', { a: '1' }) });
      await check('apply --server-side --field-manager=other -f -', { input: manifest('ssa', { a: '2' }) });
      await check('apply --server-side --field-manager=other --force-conflicts -f -', {
        input: manifest('ssa', { a: '2' }),
      });
      await check('get configmap ssa -o jsonpath={.data}');
    });

    test('describe', async () => {
      await room.create('described', {
        data: { a: '1\n2' },
        binaryData: { b: 'eA==' },
        metadata: { labels: { l: 'v' } },
      });
      await check('describe configmap described');
      await check('describe configmap absent');
    });

    test('delete and wait', async () => {
      for (const name of ['d-a', 'd-b', 'd-c', 'd-d'])
        await room.create(name, { metadata: { labels: { d: 'yes' } } });
      await room.create('d-held', { metadata: { finalizers: ['example.com/hold'] } });
      await check('delete configmap d-a');
      await check('delete configmap d-a');
      await check('delete configmap d-a --ignore-not-found');
      await check('delete configmap -l d=yes --dry-run=server');
      await check('delete configmap -l d=yes');
      await check('delete configmap d-held --wait=false');
      await check('patch configmap d-held --type=merge -p {"metadata":{"finalizers":null}}');
      await check('wait --for=delete configmap/d-held --timeout=30s');
      await check('wait --for=jsonpath={.data.sky}=blue configmap/colors --timeout=30s');
    });

    test('watch', async () => {
      await room.create('watched', { data: { a: '1' } });
      // It ends with the time that it is given, having printed what came by then.
      const line = 'get configmap watched --watch --output-watch-events --request-timeout=3s';
      const watching = kubectl.run(line.split(' '));
      await kubectl.run(['label', 'configmap', 'watched', 'a=b']);
      await kubectl.run(['delete', 'configmap', 'watched']);

      const { stdout } = await watching;
      expect(plain(stdout)).toMatch(
        /^EVENT NAME DATA AGE\nADDED watched 1 <age>\n(.*\n)*DELETED watched 1 <age>$/m,
      );
    });

    test('namespaces', async () => {
      const name = `${room.namespace}-two`;
      await check(`create namespace ${name}`);
      await check(`create namespace ${name}`);
      await check(`get namespace ${name}`);
      await check(`get namespace ${name} -o name`);
      if (server.collectsGarbage) await check(`delete namespace ${name} --timeout=60s`);
    });

    test('events', async () => {
      await check('get events');
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
      await check('get events');
      await check('events');
      await check('get events --field-selector involvedObject.name=colors -o name');
    });

    test('what the server is', async () => {
      await check('auth can-i create configmaps');
      await check('auth can-i * *');
      const { exitCode, stdout } = await kubectl.run(['version', '-o', 'json']);
      expect(exitCode).toBe(0);
      const { serverVersion } = JSON.parse(stdout) as { readonly serverVersion: ServerVersion };
      const { major, minor, gitVersion } = serverVersion;
      room.same({ major, minor, gitVersion: gitVersion.replace(/\+.*/, '') });
      const resources = await kubectl.run(['api-resources', '--no-headers']);
      const ours = plain(resources.stdout)
        .split('\n')
        .filter((line) => /^(configmaps|namespaces|leases|events) /.test(line));
      room.same(ours.sort());
      const { stdout: explained } = await kubectl.run(['explain', 'configmap.data']);
      // The descriptions are documentation.
      room.same(plain(explained).split('DESCRIPTION')[0]);
    });

    test('delete --all', async () => {
      const { exitCode } = await kubectl.run(['delete', 'configmaps', '--all']);
      expect(exitCode).toBe(0);
      await check('get configmaps');
    });
  });
}
