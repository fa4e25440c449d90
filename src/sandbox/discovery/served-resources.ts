/** The served resources: those of the kinds, and the reviews. */
import type { Kind } from '../kinds/kinds.ts';
import { kinds } from '../kinds/resources.ts';

export interface ServedResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  /** The resource of a subresource. */
  readonly parent?: string;
  /** The group that it is stored in. */
  readonly internalGroup: string;
}

const OBJECT_VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

const verbsOf = (kind: Kind): readonly string[] =>
  kind.namespaced ? [...OBJECT_VERBS, 'deletecollection'].sort() : OBJECT_VERBS;

function resourcesOf(kind: Kind): readonly ServedResource[] {
  const { group, version, namespaced, resource } = kind;
  const main: ServedResource = {
    name: resource,
    singularName: kind.singular,
    namespaced,
    kind: kind.kind,
    group,
    version,
    internalGroup: kind.internalGroup,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
  };
  const subresources = kind.subresources.map((name) => ({
    name: `${resource}/${name}`,
    singularName: '',
    namespaced,
    kind: kind.kind,
    group,
    version,
    verbs: name === 'finalize' ? ['update'] : ['get', 'patch', 'update'],
    parent: resource,
    internalGroup: kind.internalGroup,
  }));
  return [main, ...subresources];
}

/** Questions about permissions and identity. They are answered, never stored. */
export const reviewResources = [
  { group: 'authorization.k8s.io', kind: 'SelfSubjectAccessReview', name: 'selfsubjectaccessreviews' },
  { group: 'authorization.k8s.io', kind: 'SelfSubjectRulesReview', name: 'selfsubjectrulesreviews' },
  { group: 'authentication.k8s.io', kind: 'SelfSubjectReview', name: 'selfsubjectreviews' },
] as const;

const served: readonly ServedResource[] = [
  ...kinds.flatMap(resourcesOf),
  ...reviewResources.map(({ group, kind, name }) => ({
    name,
    singularName: kind.toLowerCase(),
    namespaced: false,
    kind,
    group,
    version: 'v1',
    internalGroup: group,
    verbs: ['create'],
  })),
];

/** Groups in order, the core group ('') first. */
export const groups: readonly string[] = [...new Set(served.map((resource) => resource.group))].sort();

export const servedIn = (group: string): readonly ServedResource[] =>
  served.filter((resource) => resource.group === group).sort((a, b) => (a.name < b.name ? -1 : 1));
