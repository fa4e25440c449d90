import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { loadCluster } from '../../src/kube/config/kube-config.ts';
import { type AuditedCall, AuditLog } from '../support/control-plane-audit.ts';
import { sharedCluster } from '../support/control-plane-suite.ts';
import type { TestServer } from '../support/servers/server.ts';
import { Person } from './person.ts';
import { grant, grantEverywhere, type PolicyRules, serviceAccount } from './rights.ts';

/** The first role of this kind in a file of manifests/. Each rule has one group and resource. */
export function shippedRules(kind: 'ClusterRole' | 'Role', file = 'base/rbac.yaml'): PolicyRules {
  const manifest = readFileSync(new URL(`../../manifests/${file}`, import.meta.url), 'utf8');
  const role = loadAll(manifest).find((object) => (object as { kind: string }).kind === kind);
  return (role as { rules: PolicyRules }).rules;
}

/** A server whose controllers run with the rights of manifests/base, and nobody else. */
export interface GuardedServer extends TestServer {
  /** What RBAC has refused the controllers so far: `verb URI`. */
  refusals(): Promise<readonly string[]>;
}

/** `name` is the account's namespace, and that of its roles: once in a run. */
export function underShippedRights(server: TestServer, name: string): GuardedServer {
  const user = `system:serviceaccount:${name}:mirror`;
  let preparing: ReturnType<typeof prepare> | undefined;
  const prepared = () => {
    preparing ??= prepare(name);
    return preparing;
  };
  return {
    ...server,
    open: async () => {
      const [place, { cluster }] = await Promise.all([server.open(), prepared()]);
      return { ...place, controllerCluster: cluster };
    },
    refusals: async () => {
      const { audit } = await prepared();
      const calls = (await audit.calls()).filter((call) => call.user.username === user);
      if (calls.length === 0) throw new Error(`${user} has called nothing`);
      return calls.filter(isRefusedByRbac).map(({ verb, requestURI }) => `${verb} ${requestURI}`);
    },
  };
}

/** Admission, such as a quota, answers 403 too. */
function isRefusedByRbac({ annotations }: AuditedCall): boolean {
  return annotations?.['authorization.k8s.io/decision'] === 'forbid';
}

async function prepare(name: string) {
  const { kubeconfigPath, controlPlane } = sharedCluster();
  const admin = loadCluster({ kubeconfig: kubeconfigPath, env: {} });
  await using person = new Person(admin);
  await person.createNamespace(name);
  const cluster = await serviceAccount(person, admin, name, 'mirror');
  const account = { namespace: name, name: 'mirror' };
  await grantEverywhere(person, name, account, shippedRules('ClusterRole'));
  await grant(person, name, account, shippedRules('Role'));
  return { cluster, audit: await AuditLog.open(controlPlane?.auditLogPath ?? '') };
}
