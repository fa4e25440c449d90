import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { sharedCluster } from '../support/control-plane-suite.ts';
import { waitFor } from '../support/wait-for.ts';
import { inRepository, kubectl } from './tools.ts';

const run = promisify(execFile);
const SCRIPT = inRepository('scripts/kind-workshop');
const READY = {
  // Applied, and restarted.
  observedGeneration: 2,
  replicas: 2,
  updatedReplicas: 2,
  readyReplicas: 2,
  availableReplicas: 2,
};

/**
 * scripts/kind-workshop with commands `kind` and `docker` that only write down how they are called.
 */
export function kindWorkshopSuite(): void {
  describe('scripts/kind-workshop', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kind-'));
    afterAll(() => rmSync(folder, { recursive: true }));
    const path = (name: string) => join(folder, name);
    const script = (...args: readonly string[]) => {
      for (const name of ['kind', 'docker']) {
        writeFileSync(path(name), `#!/bin/sh\necho "${name} $*" >>'${path('calls')}'\n`, { mode: 0o755 });
      }
      writeFileSync(path('calls'), '');
      const PATH = `${folder}:${process.env['PATH']}`;
      const options = { env: { ...process.env, PATH, KUBECONFIG: path('kubeconfig') }, cwd: folder };
      return run(SCRIPT, args, options);
    };
    const calls = () => readFileSync(path('calls'), 'utf8').trim().split('\n');

    test('applies the manifests, waits for both replicas and plays the demo', async () => {
      copyFileSync(sharedCluster().kubeconfigPath, path('kubeconfig'));
      await kubectl([
        `--kubeconfig=${path('kubeconfig')}`,
        ...['config', 'rename-context', 'test', 'kind-mirror-workshop'],
      ]);
      const playing = script();
      // No node and no deployment controller here: this says what they would.
      const report = [
        'patch',
        'deployment',
        'mirror-controller',
        '-n',
        'mirror-controller',
        '--subresource=status',
      ];
      const patch = JSON.stringify({ status: READY });
      const isReported = () =>
        kubectl([...report, '-p', patch]).then(
          () => true,
          () => false,
        );
      await waitFor(isReported, { deadlineMs: 60_000, describe: () => 'the Deployment' });

      const { stdout } = await playing;
      expect(stdout).toContain('deployment.apps/mirror-controller restarted');
      expect(stdout).toContain('successfully rolled out');
      expect(stdout).toContain('all as expected');
      expect(calls()).toEqual([
        'kind get clusters',
        'kind create cluster --name mirror-workshop --wait 2m',
        expect.stringMatching(/^docker build --tag mirror-controller:[\d.]+ \.$/),
        expect.stringMatching(/^kind load docker-image mirror-controller:[\d.]+ --name mirror-workshop$/),
      ]);
      await kubectl(['delete', '-k', inRepository('manifests')]);
    });

    test('--clean deletes the cluster, and a misspelt argument nothing', async () => {
      await script('--clean');
      expect(calls()).toEqual(['kind delete cluster --name mirror-workshop']);
      await expect(script('--claen')).rejects.toMatchObject({ code: 2 });
      expect(calls()).toEqual(['']);
    });
  });
}
