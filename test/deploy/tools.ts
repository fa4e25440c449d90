import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { inject } from 'vitest';
import { kubernetesVersion } from '../support/control-plane-binaries.ts';
import { sharedCluster } from '../support/control-plane-suite.ts';

/** An object of Kubernetes, as far as tests look into all of them. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

const run = promisify(execFile);
/** Absolute path of a file or folder of the repository. */
export const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const CHART = inRepository('charts/mirror-controller');

/** Runs a program; resolves to what it printed, or rejects with what it complained of. */
async function output(program: string, args: readonly string[], input = ''): Promise<string> {
  const running = run(program, args, { maxBuffer: 64 * 1024 * 1024, cwd: inRepository('') });
  running.child.stdin?.end(input);
  const { stdout } = await running.catch((error: unknown) => {
    const { stdout: printed = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}: ${printed}${stderr}`);
  });
  return stdout;
}

export async function kustomize(folder: string): Promise<readonly Manifest[]> {
  return parse(await output('kubectl', ['kustomize', inRepository(folder)]));
}

/** kubectl on the run's control plane, as its administrator. */
export function kubectl(args: readonly string[], input?: string): Promise<string> {
  return output('kubectl', [`--kubeconfig=${sharedCluster().kubeconfigPath}`, ...args], input);
}

/** `settings`: as for `--set`. */
export function helmTemplate(...settings: readonly string[]): Promise<readonly Manifest[]> {
  return helmTemplateOf(CHART, ...settings);
}

/** `chart`: a folder or an archive. */
export async function helmTemplateOf(
  chart: string,
  ...settings: readonly string[]
): Promise<readonly Manifest[]> {
  return render({ chart }, settings);
}

export interface Release {
  /** Default: our chart. */
  readonly chart?: string;
  readonly name?: string;
  readonly namespace?: string;
  /** As in a values file. */
  readonly values?: object;
}

export function helmTemplateRelease(release: Release): Promise<readonly Manifest[]> {
  return render(release, []);
}

async function render(release: Release, settings: readonly string[]): Promise<readonly Manifest[]> {
  const { chart = CHART, name = 'mirror-controller', namespace = 'mirror-controller', values = {} } = release;
  const flags = settings.flatMap((setting) => ['--set', setting]);
  // Without a cluster to ask, a helm built by us takes Kubernetes 1.20 for granted.
  const cluster = ['--namespace', namespace, '--kube-version', kubernetesVersion()];
  const args = ['template', name, chart, ...cluster, ...flags, '--values', '-'];
  return parse(await output(inject('deployTools').helm, args, JSON.stringify(values)));
}

/** Makes the archive that is pushed to a registry, and returns its path. */
export async function helmPackage(folder: string): Promise<string> {
  return (await helm('package', CHART, '--destination', folder)).trim().split(' ').at(-1) ?? '';
}

export const helmLint = () => helm('lint', '--strict', CHART);

/** helm on the run's control plane. */
export const helmInCluster = (...args: readonly string[]) =>
  helm(...args, `--kubeconfig=${sharedCluster().kubeconfigPath}`);

const helm = (...args: readonly string[]) => output(inject('deployTools').helm, args);
export const promtool = (...args: readonly string[]) => output(inject('deployTools').promtool, args);

/** What `promtool check metrics` says of a scrape: nothing, if all is well. */
export async function checkMetrics(scrape: string): Promise<readonly string[]> {
  const running = run(inject('deployTools').promtool, ['check', 'metrics']);
  running.child.stdin?.end(scrape);
  const { stdout, stderr } = await running.catch((error: { stdout: string; stderr: string }) => error);
  return `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
}

function parse(text: string): readonly Manifest[] {
  return (loadAll(text) as (Manifest | null)[]).filter((object) => object !== null);
}
