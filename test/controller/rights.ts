import type { Cluster } from '../../src/kube/cluster.ts';
import type { Person } from './person.ts';

/** The rules of a Role or ClusterRole. */
export type PolicyRules = readonly {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}[];

const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' };

/** Makes a ServiceAccount; resolves to how it reaches the cluster, with nothing but its own token. */
export async function serviceAccount(
  person: Person,
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<Cluster> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await person.post(path, { metadata: { name } });
  const text = await serviceAccountToken(person, namespace, name);
  return { ...cluster, user: { name, token: { kind: 'inline', text } } };
}

export async function serviceAccountToken(person: Person, namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status } = await person.post<{ readonly status: { readonly token: string } }>(path, { spec: {} });
  return status.token;
}

/** Grants the rules within one namespace to a ServiceAccount of perhaps another. */
export async function grant(
  person: Person,
  namespace: string,
  account: { readonly namespace: string; readonly name: string },
  rules: PolicyRules,
): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await person.post(`${path}/roles`, { ...RBAC, kind: 'Role', metadata: { name: 'mirror' }, rules });
  await person.post(`${path}/rolebindings`, {
    ...RBAC,
    kind: 'RoleBinding',
    metadata: { name: 'mirror' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'mirror' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
}

/** Grants the rules everywhere. */
export async function grantEverywhere(
  person: Person,
  name: string,
  account: { readonly namespace: string; readonly name: string },
  rules: PolicyRules,
): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1';
  await person.post(`${path}/clusterroles`, { ...RBAC, kind: 'ClusterRole', metadata: { name }, rules });
  await person.post(`${path}/clusterrolebindings`, {
    ...RBAC,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
}
