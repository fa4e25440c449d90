import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock/clock.ts';
import { loadCluster } from '../../src/kube/config/kube-config.ts';
import { startController } from '../controller/running-controller.ts';
import { sharedCluster } from '../support/control-plane-suite.ts';
import { waitFor } from '../support/wait-for.ts';
import { inRepository, kubectl } from './tools.ts';

const TARGET_ROLE = '--clusterrole=mirror-controller-target';

function source(name: string, asks: object, data: object = { sky: 'blue' }) {
  const metadata = {
    name,
    namespace: 'consent-home',
    labels: { 'workshop.io/managed': 'true' },
    annotations: Object.fromEntries(
      Object.entries(asks).map(([key, value]) => [`workshop.io/${key}`, value]),
    ),
  };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

/** Somebody writes a source; resolves to `ok`, or to what the API server says. */
function write(user: string, ...of: Parameters<typeof source>): Promise<string> {
  return outcome(['apply', `--as=${user}`, '-f', '-'], JSON.stringify(source(...of)));
}

const outcome = (args: readonly string[], input?: string) =>
  kubectl(args, input).then(
    () => 'ok',
    (error: Error) => error.message,
  );

/** Who may name which targets, with the admission policy of overlays/consent in force. */
export function consentSuite(): void {
  describe('the admission policy', () => {
    beforeAll(async () => {
      for (const name of ['home', 'a', 'b', 'c', 'd'])
        await kubectl(['create', 'namespace', `consent-${name}`]);
      const home = ['-n', 'consent-home'];
      await kubectl([
        ...home,
        'create',
        'role',
        'edit',
        '--verb=get,create,update,patch,delete',
        '--resource=configmaps',
      ]);
      for (const user of ['alice', 'root']) {
        await kubectl([...home, 'create', 'rolebinding', user, '--role=edit', `--user=${user}`]);
      }
      await kubectl(['apply', '-k', inRepository('manifests/overlays/consent')]);
      for (const name of ['a', 'b', 'c']) {
        await kubectl([
          '-n',
          `consent-${name}`,
          'create',
          'rolebinding',
          'alice',
          TARGET_ROLE,
          '--user=alice',
        ]);
      }
      await kubectl(['create', 'clusterrolebinding', 'root-mirrors', TARGET_ROLE, '--user=root']);
      // The API server compiles a policy some time after it has answered.
      const describe = () => 'the policy to be in force';
      const pattern = JSON.stringify(source('probe', { 'target-namespaces': '*' }));
      const probe = ['apply', '--as=alice', '--dry-run=server', '-f', '-'];
      const isInForce = async () => (await outcome(probe, pattern)) !== 'ok';
      await waitFor(isInForce, { deadlineMs: 60_000, describe });
    });

    afterAll(async () => {
      await kubectl(['delete', '-k', inRepository('manifests/overlays/consent')]);
      await kubectl(['delete', 'clusterrolebinding', 'root-mirrors']);
    });

    test('who may mirror into a namespace can name it', async () => {
      expect(await write('alice', 'one', { 'target-namespaces': 'consent-a' })).toBe('ok');
      expect(
        await write('alice', 'three', { 'target-namespaces': ' consent-a,consent-b , consent-c,' }),
      ).toBe('ok');
    });

    test.for([1, 2, 3, 4, 5, 6, 7, 8])(
      'a namespace that one may not mirror into is refused as name %i',
      async (place) => {
        const names = Array.from({ length: 8 }, (_, index) =>
          index === place - 1 ? 'consent-d' : 'consent-a',
        );
        const said = await write('alice', 'bad', { 'target-namespaces': names.join() });
        expect(said).toMatch(/Forbidden|forbidden/);
        expect(said).toContain('RoleBinding to ClusterRole mirror-controller-target');
        expect(said).toContain('consent-d');
      },
    );

    test.for([
      { 'target-namespaces': 'consent-*' },
      { 'target-namespaces': '*, !consent-d' },
      { 'target-namespace-selector': 'env=dev' },
      { 'target-namespaces': Array(9).fill('consent-a').join() },
      { 'target-namespaces': 'consent-a', 'target-namespace-selector': '' },
    ])('%j needs the right in all namespaces', async (asks) => {
      expect(await write('alice', 'wide', asks)).toContain('a ClusterRoleBinding to ClusterRole');
      expect(await write('root', 'wide-of-root', asks)).toBe('ok');
    });

    test('no right is needed for the own namespace, for exclusions, or without targets', async () => {
      expect(await write('alice', 'beside', {})).toBe('ok');
      expect(await write('alice', 'own', { 'target-namespaces': 'consent-home,!consent-d' })).toBe('ok');
    });

    test('an edit that leaves the targets passes, one that changes or activates them does not', async () => {
      expect(await write('root', 'far', { 'target-namespaces': 'consent-d' })).toBe('ok');
      expect(await write('alice', 'far', { 'target-namespaces': 'consent-d' }, { sky: 'grey' })).toBe('ok');
      expect(await write('alice', 'far', { 'target-namespaces': 'consent-d,consent-a' })).toContain(
        'consent-d',
      );

      // Unlabelled, it is no source and goes nowhere. Whoever labels it is asked.
      const home = ['-n', 'consent-home', '--as=alice'];
      expect(await outcome([...home, 'label', 'configmap', 'far', 'workshop.io/managed-'])).toBe('ok');
      const label = ['label', 'configmap', 'far', 'workshop.io/managed=true'];
      expect(await outcome([...home, ...label])).toContain('consent-d');
      expect(await outcome(['-n', 'consent-home', '--as=root', ...label])).toBe('ok');
    });

    test('the controller mirrors and heals without the right to mirror', async () => {
      const cluster = loadCluster({ kubeconfig: sharedCluster().kubeconfigPath, env: {} });
      const account = 'system:serviceaccount:mirror-controller:mirror-controller';
      const token = (
        await kubectl(['-n', 'mirror-controller', 'create', 'token', 'mirror-controller'])
      ).trim();
      expect(
        await outcome(['auth', 'can-i', 'mirror', 'configmaps', '-n', 'consent-a', `--as=${account}`]),
      ).toContain('no');
      const controller = startController(
        { ...cluster, user: { name: account, token: { kind: 'inline', text: token } } },
        { 'allow-target-namespaces': 'consent-*' },
        systemClock,
      );
      try {
        expect(await write('alice', 'mirrored', { 'target-namespaces': 'consent-a' })).toBe('ok');
        const sky = () =>
          kubectl([
            '-n',
            'consent-a',
            'get',
            'configmap',
            'mirrored-synced',
            '-o',
            'jsonpath={.data.sky}',
          ]).catch(() => '');
        const describe = () => 'the companion in consent-a';
        await waitFor(async () => (await sky()) === 'blue', { deadlineMs: 20_000, describe });
        const edit = [
          '-n',
          'consent-a',
          'patch',
          'configmap',
          'mirrored-synced',
          '-p',
          '{"data":{"sky":"red"}}',
        ];
        await kubectl(edit);
        await waitFor(async () => (await sky()) === 'blue', { deadlineMs: 20_000, describe });
      } finally {
        await controller.stop();
      }
    });
  });
}
