import type { Cluster } from '../../src/kube/config/cluster.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Person } from './person.ts';

/** The rules of a Role or ClusterRole. */
export type PolicyRules = readonly {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}[];

interface Account {
  readonly namespace: string;
  readonly name: string;
}

const RBAC = 'rbac.authorization.k8s.io';

/** Creates a ServiceAccount; resolves to its access to the cluster, with its own token. */
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

/** Grants rules in a namespace to a ServiceAccount of any; resolves when they are in force. */
export function grant(
  person: Person,
  namespace: string,
  account: Account,
  rules: PolicyRules,
): Promise<void> {
  return bind(person, { kind: 'Role', name: 'mirror', namespace }, account, rules);
}

/** Grants rules everywhere; resolves when they are in force. */
export function grantEverywhere(
  person: Person,
  name: string,
  account: Account,
  rules: PolicyRules,
): Promise<void> {
  return bind(person, { kind: 'ClusterRole', name }, account, rules);
}

/** Creates the role and its binding, with the same name. */
async function bind(
  person: Person,
  role: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string; readonly namespace?: string },
  account: Account,
  rules: PolicyRules,
): Promise<void> {
  const { kind, name, namespace } = role;
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
  const path = `/apis/${RBAC}/v1${within}/${kind.toLowerCase()}`;
  const apiVersion = `${RBAC}/v1`;
  await person.post(`${path}s`, { apiVersion, kind, metadata: { name }, rules });
  await person.post(`${path}bindings`, {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  await untilTheyHold(person, account, rules, namespace);
}

/** The API server answers 201 to a binding before its authorizer has seen it in a watch. */
async function untilTheyHold(
  person: Person,
  account: Account,
  rules: PolicyRules,
  namespace: string | undefined,
): Promise<void> {
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const granted = rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ namespace, group, resource, verb, name: resourceNames?.[0] })),
      ),
    ),
  );
  for (const resourceAttributes of granted)
    await waitFor(
      async () => {
        const { status } = await person.post<{ readonly status: { readonly allowed: boolean } }>(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          { spec: { user, resourceAttributes } },
        );
        return status.allowed;
      },
      { describe: () => `${user} to be granted ${JSON.stringify(resourceAttributes)}` },
    );
}
