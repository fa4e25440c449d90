import { readdirSync, readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { RUN_FLAGS } from '../../src/cli/flags/run-flags.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly {
          readonly image: string;
          readonly args: readonly string[];
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
          readonly [field: string]: unknown;
        }[];
      };
    };
  };
}

interface Kustomization {
  readonly resources: readonly string[];
  readonly images: readonly { readonly name: string; readonly newTag: string }[];
  readonly labels: readonly { readonly pairs: Readonly<Record<string, string>> }[];
}

interface Binding extends Manifest {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

const folder = new URL('../../manifests/base/', import.meta.url);
const documents = (file: string): unknown[] => loadAll(readFileSync(new URL(file, folder), 'utf8'));
const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
const manifests = files.flatMap((file) => documents(file) as Manifest[]);
const [kustomization] = documents('kustomization.yaml') as [Kustomization];

function all<T extends Manifest>(kind: T['kind']): T[] {
  return manifests.filter((candidate) => candidate.kind === kind) as T[];
}

function only<T extends Manifest>(kind: T['kind']): T {
  const [manifest, ...others] = all<T>(kind);
  expect(others).toEqual([]);
  return manifest ?? expect.fail(`no ${kind} in manifests/base`);
}

it('the kustomization lists every manifest', () => {
  expect([...kustomization.resources].sort()).toEqual([...files].sort());
});

it('the Deployment runs this version, with the ServiceAccount that has the roles', () => {
  const { serviceAccountName, containers } = only<Deployment>('Deployment').spec.template.spec;
  expect(containers.map(({ image }) => image)).toEqual(['mirror-controller']);
  expect(kustomization.images).toEqual([{ name: 'mirror-controller', newTag: packageJson.version }]);
  expect(kustomization.labels[0]?.pairs['app.kubernetes.io/version']).toBe(packageJson.version);

  const account = only('ServiceAccount').metadata;
  expect(serviceAccountName).toBe(account.name);
  const bindings = [...all<Binding>('ClusterRoleBinding'), ...all<Binding>('RoleBinding')];
  const bound = bindings.map(({ subjects, roleRef }) => {
    expect(subjects).toEqual([{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }]);
    return `${roleRef.kind} ${roleRef.name}`;
  });
  const roles = [...all('ClusterRole'), ...all('Role')];
  expect(bound).toEqual(roles.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
});

it('every kustomization and component is labelled with this version', () => {
  const root = new URL('../', folder);
  const labels = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .flatMap((path) => readFileSync(new URL(path, root), 'utf8').match(/version: \d+\.\d+\.\d+.*/g) ?? []);
  expect(labels.length).toBeGreaterThan(3);
  expect([...new Set(labels)]).toEqual([`version: ${packageJson.version}`]);
});

it('everything with a namespace is in the namespace that the manifests create', () => {
  const namespace = only('Namespace').metadata.name;
  const elsewhere = manifests.filter(
    ({ metadata }) => metadata.namespace !== undefined && metadata.namespace !== namespace,
  );
  expect(elsewhere).toEqual([]);
});

it('[Q3] a Pod has longer to end than a stop may take', () => {
  const { spec } = only<Deployment>('Deployment').spec.template;
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(15);
});

it('[C1] the Deployment sets flags that run has, and the port of its probes', () => {
  const { args, ports } = only<Deployment>('Deployment').spec.template.spec.containers[0] ?? expect.fail();
  const [command, ...flags] = args;
  expect(command).toBe('run');
  const names = flags.map((flag) => flag.replace(/^--|=.*$/g, ''));
  expect(names.filter((name) => !(name in RUN_FLAGS))).toEqual([]);
  expect(flags).toContain(`--http-address=:${ports[0]?.containerPort}`);
});

it('with more than one replica, only the holder of a Lease writes', () => {
  const { replicas, template } = only<Deployment>('Deployment').spec;
  expect(replicas).toBe(2);
  expect(template.spec.containers[0]?.args).toContain('--leader-elect');
});

it('the container is confined, probed, and bounded in memory', () => {
  const [container] = only<Deployment>('Deployment').spec.template.spec.containers;
  // What Pod Security's `restricted` does not ask for; test/deploy shows that the rest passes it.
  expect(container).toMatchObject({
    securityContext: { readOnlyRootFilesystem: true },
    livenessProbe: { httpGet: { path: '/livez' } },
    readinessProbe: { httpGet: { path: '/readyz' } },
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  });
});
