import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { grantEverywhere, serviceAccount, serviceAccountToken } from '../controller/rights.ts';
import { AuditLog } from '../support/control-plane-audit.ts';
import { lacks, sharedCluster } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { scopeOf } from './ask.ts';
import { openMessyWorld } from './messy-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'read-only-'));
afterAll(() => rmSync(folder, { recursive: true }));

const READ = { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['get', 'list', 'watch'] };

/** The kubeconfig with another user. */
function kubeconfigAs(token: string, kubeconfigPath: string): string {
  const config = load(readFileSync(kubeconfigPath, 'utf8')) as { users: { name: string; user: object }[] };
  const users = config.users.map(({ name }) => ({ name, user: { token } }));
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, dump({ ...config, users }));
  return path;
}

describe.skipIf(lacks.sharedControlPlane())('under rights to read only, on a real control plane', () => {
  test('[C2] [C3] [C8] plan, status and explain need no more than to read, and write nothing', async () => {
    await using world = await openMessyWorld(controlPlaneServer);
    const account = { namespace: world.full('home'), name: 'reader' };
    await serviceAccount(world.person, world.place.cluster, account.namespace, account.name);
    await grantEverywhere(world.person, world.full('reader'), account, [READ]);
    const token = await serviceAccountToken(world.person, account.namespace, account.name);
    const kubeconfig = kubeconfigAs(token, world.place.kubeconfigPath);
    const audit = await AuditLog.open(sharedCluster().controlPlane?.auditLogPath ?? '');

    for (const [command, code] of [
      [['plan'], 1],
      [['status'], 0],
      [['explain', world.full('team-b/colors-synced')], 1],
    ] as const) {
      const io = memoryIo();
      expect(await runProgram([...command, ...scopeOf(world, kubeconfig)], io), io.err()).toBe(code);
    }

    const calls = (await audit.calls()).filter(({ user }) => user.username?.endsWith(':reader'));
    expect(calls.length).toBeGreaterThan(5);
    expect(calls.filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 500)).toEqual([]);
    const verbs = new Set(calls.map(({ verb }) => verb));
    expect([...verbs].filter((verb) => !READ.verbs.includes(verb))).toEqual([]);
  });
});
