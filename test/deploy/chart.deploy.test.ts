import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { RUN_FLAGS } from '../../src/cli/flags/run-flags.ts';
import {
  CHART,
  helmLint,
  helmPackage,
  helmTemplate,
  helmTemplateOf,
  helmTemplateRelease,
  inRepository,
  kustomize,
  type Manifest,
} from './tools.ts';

/** What Helm says of itself. */
const HELMS_OWN = ['app.kubernetes.io/instance', 'app.kubernetes.io/managed-by', 'helm.sh/chart'];

/** By kind and name, without Helm's own labels. Helm creates the namespace itself. */
function comparable(manifests: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const entries = manifests
    .filter(({ kind }) => kind !== 'Namespace')
    .map((manifest) => {
      const { kind, metadata } = manifest;
      const text = JSON.stringify(manifest, (key, value) => (HELMS_OWN.includes(key) ? undefined : value));
      return [`${kind} ${metadata.namespace ?? ''}/${metadata.name}`, JSON.parse(text)] as const;
    });
  const names = entries.map(([name]) => name);
  expect(names).toEqual([...new Set(names)]);
  return Object.fromEntries(entries);
}

const kinds = (manifests: readonly Manifest[]) => manifests.map(({ kind }) => kind);

describe('the chart', () => {
  test('passes helm lint', async () => {
    expect(await helmLint()).toContain('0 chart(s) failed');
  });

  test.for([
    { folder: 'manifests', settings: [] },
    {
      folder: 'manifests/overlays/monitoring',
      settings: [
        'freshnessCanary=30s',
        'metrics.serviceMonitor.enabled=true',
        'metrics.prometheusRule.enabled=true',
        'dashboards.enabled=true',
      ],
    },
    { folder: 'manifests/overlays/consent', settings: ['consent.enabled=true'] },
    {
      folder: 'manifests/overlays/notifications',
      settings: ['notifications.secretName=mirror-controller-notify'],
    },
    { folder: 'manifests/overlays/namespaced', settings: ['namespaces={team-a,team-b}'] },
  ])('gives the objects of $folder', async ({ folder, settings }) => {
    const [chart, kustomized] = await Promise.all([helmTemplate(...settings), kustomize(folder)]);
    expect(comparable(chart)).toEqual(comparable(kustomized));
  });

  test('gives the same objects from the archive that is pushed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chart-'));
    const settings = [
      ...['consent.enabled=true', 'dashboards.enabled=true', 'metrics.prometheusRule.enabled=true'],
      ...['metrics.serviceMonitor.enabled=true', 'notifications.secretName=mirror-controller-notify'],
    ];
    const archived = await helmTemplateOf(await helmPackage(folder), ...settings);
    expect(archived).toEqual(await helmTemplate(...settings));
    rmSync(folder, { recursive: true });
  });

  test('has the version of the program', () => {
    const chart = load(readFileSync(inRepository('charts/mirror-controller/Chart.yaml'), 'utf8'));
    expect(chart).toMatchObject({ version: packageJson.version, appVersion: packageJson.version });
  });

  test('alerts when nothing runs in its own namespace', async () => {
    const values = { metrics: { prometheusRule: { enabled: true } } };
    const [rule] = every('PrometheusRule', await helmTemplateRelease({ namespace: 'blue', values }));
    expect(JSON.stringify(rule?.spec)).toContain(
      JSON.stringify('absent(mirror_build_info{namespace="blue"})'),
    );
  });

  test('has no budget for one replica, which could then never be drained', async () => {
    expect(kinds(await helmTemplate('replicaCount=1'))).not.toContain('PodDisruptionBudget');
  });

  test('with namespaces, it has no cluster-wide role', async () => {
    const rendered = kinds(await helmTemplate('namespaces={team-a,team-b}'));
    expect(rendered.filter((kind) => kind === 'Role')).toHaveLength(3);
    expect(rendered.filter((kind) => kind.startsWith('Cluster'))).toEqual([]);
  });

  test('refuses a misspelt value, and a canary where it may not be written', async () => {
    await expect(helmTemplate('replicas=3')).rejects.toThrow(/replicas.*not allowed/);
    const canary = helmTemplate('namespaces={team-a}', 'freshnessCanary=30s');
    await expect(canary).rejects.toThrow('add "mirror-controller"');
    const notify = ['namespaces={team-a}', 'notifications.secretName=sinks'];
    await expect(helmTemplate(...notify)).rejects.toThrow('set notifications.clusterName');
    const named = JSON.stringify(await helmTemplate(...notify, 'notifications.clusterName=blue'));
    expect(named).toContain('"--cluster-name=blue"');
  });

  test.for(['0', '0s', '0m', '0ms', '0h0m'])('has no canary with freshnessCanary=%s', async (off) => {
    const settings = ['namespaces={team-a}', 'metrics.prometheusRule.enabled=true'];
    const rendered = await helmTemplate(...settings, `freshnessCanary=${off}`);
    expect(JSON.stringify(rendered)).not.toContain('--freshness-canary');
  });

  test.for(['31s', '1m', '30001ms', '0m31s', '1d'])(
    'refuses a canary every %s beside the alert that expects one every 30 s',
    async (interval) => {
      const canary = `freshnessCanary=${interval}`;
      const alerting = helmTemplate(canary, 'metrics.prometheusRule.enabled=true');
      await expect(alerting).rejects.toThrow('set freshnessCanary to 30s or less');
      expect(JSON.stringify(await helmTemplate(canary))).toContain(`--freshness-canary=${interval}`);
    },
  );

  test.for(['30s', '30000ms', '0m10s'])('accepts a canary every %s beside the alert', async (interval) => {
    const rendered = await helmTemplate(`freshnessCanary=${interval}`, 'metrics.prometheusRule.enabled=true');
    expect(JSON.stringify(rendered)).toContain(`--freshness-canary=${interval}`);
  });

  test.for(['1ms', '9s', '9999ms'])('refuses a canary every %s, as the controller does', async (interval) => {
    await expect(helmTemplate(`freshnessCanary=${interval}`)).rejects.toThrow('at least 10s');
  });

  test('refuses each flag that it sets itself among extraArgs, where it would win', async () => {
    const values = {
      ...{ domain: 'example.com', namespaces: ['mirror-controller'], freshnessCanary: '30s' },
      notifications: { secretName: 'sinks', clusterName: 'blue' },
    };
    const [, ...flags] = argsOf(await helmTemplateRelease({ values }));
    expect(flags.length).toBeGreaterThan(8);
    const isRefused = (arg: string) =>
      helmTemplateRelease({ values: { extraArgs: ['--require-consent', arg] } }).then(
        () => false,
        (error: Error) => error.message.includes(`extraArgs: leave out ${arg.replace(/no-|=.*/gs, '')}: `),
      );
    const refused = await Promise.all(flags.map(isRefused));
    expect(flags.filter((_, index) => !refused[index])).toEqual([]);
    for (const arg of [
      '--no-leader-elect',
      '--leader-elect=false',
      '--leader-elect-lease-namespace=other',
      '--domain=a\n',
    ]) {
      expect(await isRefused(arg)).toBe(true);
    }
    const domain = helmTemplateRelease({ values: { extraArgs: ['--domain=corp.io'] } });
    await expect(domain).rejects.toThrow('extraArgs: leave out --domain: set the value domain instead');
    const others = ['--leader-elect-lease-duration=30s', '--delete-brake-percent=20', '--log-level=debug'];
    expect(argsOf(await helmTemplateRelease({ values: { extraArgs: others } }))).toEqual(
      expect.arrayContaining(others),
    );
  });

  test.for(['IfNotPresent', 'Always'])('pulls an image tagged latest %s, as asked', async (pullPolicy) => {
    const rendered = await helmTemplateRelease({ values: { image: { tag: 'latest', pullPolicy } } });
    expect(JSON.stringify(rendered)).toContain(JSON.stringify({ imagePullPolicy: pullPolicy }).slice(1, -1));
  });

  test('writes a large number of a values file in digits', async () => {
    const values = { deleteBrake: 1_000_000, replicaCount: 1_000_000 };
    const rendered = await helmTemplateRelease({ values });
    expect(argsOf(rendered)).toContain('--delete-brake=1000000');
  });

  test.for(['123', 'null', 'a.b', '1e5'])('takes %s for a name, not for another type', async (text) => {
    const values = {
      ...{ namespaces: [text], priorityClassName: text, consent: { enabled: true } },
      notifications: { secretName: text, clusterName: text },
      metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
      dashboards: { enabled: true },
    };
    const namespace = text.replace('.', '-');
    const given = { ...values, namespaces: [namespace] };
    const rendered = await helmTemplateRelease({ name: text, namespace, values: given });
    // Nothing but names differs from a release of an ordinary name.
    const ordinary = { ...values, namespaces: ['plain'], priorityClassName: 'plain' };
    const plain = await helmTemplateRelease({
      ...{ name: 'plain', namespace: 'plain' },
      values: { ...ordinary, notifications: { secretName: 'plain', clusterName: 'plain' } },
    });
    expect(shapeOf(rendered)).toEqual(shapeOf(plain));
    const names = every('Service', rendered).map(({ metadata }) => metadata.name);
    expect(names).toEqual([`${namespace}-mirror-controller`]);
  });

  const LONG = `${'a'.repeat(63)}.`.repeat(4);
  const domains = ['workshop.io', 'a', 'a-1.b', LONG.slice(0, 253), LONG.slice(0, 254)];
  const lists = ['a', '1-2', 'a'.repeat(63), 'a'.repeat(64), 'a.b', 'A', 'a-', '*', ''];
  const intervals = ['0', '10s', '1h30m', '9s', '365d', '366d', '9999999999d', `${'9'.repeat(20)}s`, 'x'];
  test.for([
    ...[...domains, 'a..b', 'a.-b', '-a', 'a-', 'A', ''].map((value) => ['domain', value] as const),
    ...lists.map((value) => ['namespaces', value] as const),
    ...['blue', 'blue sky', 'a\nb', ' ', '\n'].map((value) => ['cluster-name', value] as const),
    ...['0', '1000000', '1000001', '-1', '1.5'].map((value) => ['delete-brake', value] as const),
    ...intervals.map((value) => ['freshness-canary', value] as const),
  ])('accepts --%s=%j if the program does', async ([flag, text]) => {
    const values = {
      domain: { domain: text },
      namespaces: { namespaces: [text] },
      'cluster-name': { notifications: { secretName: 'sinks', clusterName: text } },
      'delete-brake': { deleteBrake: Number(text) },
      'freshness-canary': { freshnessCanary: text },
    }[flag];
    const isAccepted = await helmTemplateRelease({ values }).then(
      () => true,
      () => false,
    );
    expect(isAccepted).toBe(RUN_FLAGS[flag].kind.parse(text.trim()).ok);
  });

  test('explains each of its values in its README', () => {
    const readme = readFileSync(inRepository('charts/mirror-controller/README.md'), 'utf8');
    const documented = [...readme.matchAll(/^\| `([^`]+)` \| `([^`]*)` \|/gm)].map(([, name, value]) => [
      name,
      load(value ?? ''),
    ]);
    const values = load(readFileSync(inRepository('charts/mirror-controller/values.yaml'), 'utf8'));
    expect(Object.fromEntries(documented)).toEqual(leaves(values as object));
  });
});

interface Deployment extends Manifest {
  readonly spec: {
    readonly selector: unknown;
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

interface Role extends Manifest {
  readonly rules: readonly { readonly resourceNames?: readonly string[] }[];
}

const every = <T extends Manifest>(kind: T['kind'], manifests: readonly Manifest[]) =>
  manifests.filter((manifest) => manifest.kind === kind) as T[];

const argsOf = (manifests: readonly Manifest[]) =>
  every<Deployment>('Deployment', manifests).flatMap(
    ({ spec }) => spec.template.spec.containers[0]?.args ?? [],
  );

describe('the chart in a parent chart', () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  /** A chart with ours, once for each of `dependencies`. */
  function parentOf(...dependencies: readonly object[]): string {
    const folder = mkdtempSync(join(tmpdir(), 'parent-'));
    folders.push(folder);
    const ours = { name: 'mirror-controller', version: packageJson.version };
    const chart = {
      ...{ apiVersion: 'v2', name: 'parent', version: '0.1.0' },
      dependencies: dependencies.map((dependency) => ({ ...ours, ...dependency })),
    };
    writeFileSync(join(folder, 'Chart.yaml'), JSON.stringify(chart));
    cpSync(CHART, join(folder, 'charts/mirror-controller'), { recursive: true, dereference: true });
    return folder;
  }

  test.for([
    { enabled: true, deployments: 1 },
    { enabled: false, deployments: 0 },
  ])('is left out or not by a condition on enabled: $enabled', async ({ enabled, deployments }) => {
    const chart = parentOf({ condition: 'mirror-controller.enabled' });
    const rendered = await helmTemplateRelease({ chart, values: { 'mirror-controller': { enabled } } });
    expect(every('Deployment', rendered)).toHaveLength(deployments);
  });

  test.for(['mirror', 'other'])(
    'under an alias, release %s elects by the Lease of its Role',
    async (name) => {
      const rendered = await helmTemplateRelease({ chart: parentOf({ alias: 'mirror' }), name });
      const role = every<Role>('Role', rendered).find(({ metadata }) => metadata.name.endsWith('-election'));
      const [lease] = role?.rules.flatMap(({ resourceNames = [] }) => resourceNames) ?? [];
      expect(argsOf(rendered)).toContain(`--leader-elect-lease-name=${lease}`);
    },
  );

  test('under an alias, its metrics have the job that alerts and dashboard ask for', async () => {
    const metrics = { serviceMonitor: { enabled: true } };
    const values = { mirror: { metrics } };
    const rendered = await helmTemplateRelease({ chart: parentOf({ alias: 'mirror' }), values });
    const [monitor] = every('ServiceMonitor', rendered);
    const relabelings = [{ targetLabel: 'job', replacement: 'mirror-controller' }];
    expect(monitor?.spec).toMatchObject({ endpoints: [{ relabelings }] });
  });

  test('under two aliases, neither takes the Pods of the other for its own', async () => {
    const rendered = await helmTemplateRelease({ chart: parentOf({ alias: 'one' }, { alias: 'two' }) });
    const [one, two, ...more] = every<Deployment>('Deployment', rendered).map(({ spec }) => spec.selector);
    expect(more).toEqual([]);
    expect(one).not.toEqual(two);
  });
});

/** `{ a: { b: 1 } }` is `{ 'a.b': 1 }`; lists, empty objects and Kubernetes settings are leaves. */
function leaves(value: object, path = ''): Readonly<Record<string, unknown>> {
  const entries = Object.entries(value).flatMap(([key, child]): [string, unknown][] => {
    const name = path === '' ? key : `${path}.${key}`;
    const isLeaf = typeof child !== 'object' || Array.isArray(child) || Object.keys(child).length === 0;
    return isLeaf || ['resources', 'dashboards.labels'].includes(name)
      ? [[name, child]]
      : Object.entries(leaves(child, name));
  });
  return Object.fromEntries(entries);
}

/** The types of all that is in it. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  if (Array.isArray(value)) return value.map(shapeOf);
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, shapeOf(child)]));
}
