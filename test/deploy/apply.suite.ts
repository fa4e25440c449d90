import { beforeAll, describe, expect, test } from 'vitest';
import { CHART, helmInCluster, inRepository, kubectl, kustomize } from './tools.ts';

/**
 * The Prometheus Operator's own CRDs are in no registry that tests may use, so these are ours: what
 * we use of them, and no more.
 */
const MONITORING_KINDS = inRepository('test/deploy/monitoring-crds.yaml');
const FOLDERS = [
  'manifests',
  'manifests/overlays/monitoring',
  'manifests/overlays/consent',
  'manifests/overlays/namespaced',
  'manifests/overlays/notifications',
];

interface Deployment {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
}

/** A Pod as the Deployment makes it, but for the ServiceAccount, which is not there. */
async function podOf(folder: string) {
  const deployment = (await kustomize(folder)).find(({ kind }) => kind === 'Deployment');
  const { metadata, spec } = (deployment as unknown as Deployment).spec.template;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'one', namespace: 'mirror-controller' },
    spec: { ...spec, serviceAccountName: undefined },
  };
}

/** Everything that users apply, applied. */
export function applySuite(): void {
  describe('applied', () => {
    beforeAll(async () => {
      await kubectl(['apply', '-f', MONITORING_KINDS]);
      await kubectl(['wait', '--for=condition=Established', '-f', MONITORING_KINDS]);
      for (const name of ['team-a', 'team-b']) await kubectl(['create', 'namespace', name]);
    });

    // In order: all use one namespace.
    test.for(FOLDERS)('kubectl apply -k %s takes every field, and then nothing differs', async (folder) => {
      const path = inRepository(folder);
      await kubectl(['apply', '--validate=strict', '-k', path]);
      // Fails if the API server would change anything.
      expect(await kubectl(['diff', '-k', path])).toBe('');
      await kubectl(['delete', '--wait', '-k', path]);
    });

    // Only the overlay for notifications changes more of a Pod than its flags.
    test.for(['manifests', 'manifests/overlays/notifications'])(
      'Pods of %s pass Pod Security, which the namespace enforces',
      async (folder) => {
        const namespace = (await kustomize(folder)).find(({ kind }) => kind === 'Namespace');
        await kubectl(['apply', '-f', '-'], JSON.stringify(namespace));
        const pod = await podOf(folder);
        const create = (spec: object) =>
          kubectl(['create', '--dry-run=server', '-f', '-'], JSON.stringify({ ...pod, spec }));
        expect(await create(pod.spec)).toContain('created (server dry run)');
        await expect(create({ ...pod.spec, hostNetwork: true })).rejects.toThrow('violates PodSecurity');
        await kubectl(['delete', 'namespace', 'mirror-controller']);
      },
    );

    test('helm installs the chart, upgrades it and removes it', async () => {
      const release = ['mirror', CHART, '--namespace=helm-test'];
      const notes = await helmInCluster('install', ...release, '--create-namespace');
      expect(notes).toContain('kubectl -n helm-test get lease mirror-mirror-controller');
      expect(notes).toContain('kubectl -n default create configmap');
      const within = '--set=namespaces={team-a,team-b},consent.enabled=true';
      const upgraded = await helmInCluster('upgrade', ...release, within);
      expect(upgraded).toContain('kubectl -n team-a create configmap');
      const bound = await kubectl(['get', 'rolebinding', '-n', 'team-a', '-o', 'name']);
      expect(bound.trim()).toBe('rolebinding.rbac.authorization.k8s.io/mirror-mirror-controller');
      await helmInCluster('uninstall', 'mirror', '--namespace=helm-test', '--wait');
      const left = await kubectl(['get', 'clusterroles,roles', '-A', '-o', 'name']);
      expect(left).not.toContain('mirror-mirror-controller');
    });
  });
}
