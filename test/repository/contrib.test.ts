import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const read = (path: string) =>
  load(readFileSync(new URL(`../../contrib/${path}`, import.meta.url), 'utf8')) as Record<string, never>;

interface KrewPlugin {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly description: string;
    readonly platforms: readonly {
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
      readonly selector: { readonly matchExpressions: readonly object[] };
    }[];
  };
}

/** https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ */
test('[C9] the krew manifest has the form that krew asks for', () => {
  const plugin = read('krew/mirror.yaml') as unknown as KrewPlugin;
  expect(plugin).toMatchObject({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
  });
  const { metadata, spec } = plugin;
  expect(Object.keys(packageJson.bin)).toContain(`kubectl-${metadata.name}`);
  expect(spec.version).toBe(`v${packageJson.version}`);
  expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
  expect(spec.shortDescription).not.toMatch(/kubectl|\.$/);
  for (const line of spec.description.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  for (const { uri, sha256, bin, selector } of spec.platforms) {
    expect(uri).toMatch(/^https:\/\/.+\.tar\.gz$/);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(bin).toBe(`kubectl-${metadata.name}`);
    expect(selector.matchExpressions).toEqual([{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }]);
  }
});

interface K9sPlugin {
  readonly shortCut: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly command: string;
  readonly background: boolean;
  readonly args: readonly string[];
}

/** https://k9scli.io/topics/plugins/ */
test('[C9] the k9s plugins have their form, and call what there is', () => {
  const { plugins } = read('k9s/plugins.yaml') as unknown as { readonly plugins: Record<string, K9sPlugin> };
  for (const plugin of Object.values(plugins)) {
    expect(plugin).toMatchObject({ scopes: ['configmaps'], command: 'sh', background: false });
    const [flag, script = ''] = plugin.args;
    expect(flag).toBe('-c');
    expect(script).toMatch(/^kubectl mirror (status|explain) "\$NAMESPACE\/\$NAME" --context "\$CONTEXT" /);
  }
  const shortCuts = Object.values(plugins).map(({ shortCut }) => shortCut);
  expect(new Set(shortCuts).size).toBe(2);
});
