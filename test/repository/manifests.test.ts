import { readdirSync, readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly { readonly image: string }[];
      };
    };
  };
}

interface ClusterRoleBinding extends Manifest {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

const folder = new URL('../../manifests/', import.meta.url);
const documents = (file: string): unknown[] => loadAll(readFileSync(new URL(file, folder), 'utf8'));
const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
const manifests = files.flatMap((file) => documents(file) as Manifest[]);

function only<T extends Manifest>(kind: T['kind']): T {
  const [manifest, ...others] = manifests.filter((candidate) => candidate.kind === kind);
  expect(others).toEqual([]);
  return (manifest ?? expect.fail(`no ${kind} in manifests/`)) as T;
}

it('the kustomization lists every manifest', () => {
  const [kustomization] = documents('kustomization.yaml') as { readonly resources: readonly string[] }[];
  expect([...(kustomization?.resources ?? [])].sort()).toEqual([...files].sort());
});

it('the Deployment runs this version, with the ServiceAccount that has the role', () => {
  const { metadata, spec } = only<Deployment>('Deployment');
  const { serviceAccountName, containers } = spec.template.spec;
  expect(containers.map(({ image }) => image)).toEqual([`mirror-controller:${packageJson.version}`]);

  const account = only('ServiceAccount').metadata;
  expect({ name: serviceAccountName, namespace: metadata.namespace }).toMatchObject({
    name: account.name,
    namespace: account.namespace,
  });

  const binding = only<ClusterRoleBinding>('ClusterRoleBinding');
  expect(binding.subjects).toEqual([
    { kind: 'ServiceAccount', name: account.name, namespace: account.namespace },
  ]);
  expect(binding.roleRef).toMatchObject({ kind: 'ClusterRole', name: only('ClusterRole').metadata.name });
});

it('everything with a namespace is in the namespace that the manifests create', () => {
  const namespace = only('Namespace').metadata.name;
  const elsewhere = manifests.filter(
    ({ metadata }) => metadata.namespace !== undefined && metadata.namespace !== namespace,
  );
  expect(elsewhere).toEqual([]);
});
