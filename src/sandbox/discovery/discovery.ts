/** Discovery: /version, /api and /apis, in the old and the aggregated form (KEP-3352). */
import { createHash } from 'node:crypto';
import { apiVersionOf } from '../kinds/kinds.ts';
import type { Json } from '../objects/json.ts';
import { groups, type ServedResource, servedIn } from './served-resources.ts';

/** The Kubernetes version that the sandbox imitates. */
const KUBERNETES_VERSION = { major: '1', minor: '36', gitVersion: 'v1.36.3+sandbox' } as const;

export const versionInfo: Json = {
  ...KUBERNETES_VERSION,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'node',
  platform: 'node',
};

/** Version of the aggregated form (KEP-3352). */
export type AggregatedVersion = 'v2' | 'v2beta1';

export interface DiscoveryAnswer {
  readonly contentType: string;
  readonly body: Json;
}

const plain = (body: Json): DiscoveryAnswer => ({ contentType: 'application/json', body });

/**
 * The answer to a discovery path; undefined for any other path. `host` is the server's host:port.
 */
export function discover(
  path: readonly string[],
  form: AggregatedVersion | undefined,
  host: string,
): DiscoveryAnswer | undefined {
  const [root, group, version, ...rest] = path;
  if (rest.length > 0) return undefined;
  if (root === 'api') {
    if (group === undefined) return aggregated(form, ['']) ?? plain(coreVersions(host));
    return group === 'v1' && version === undefined ? plain(resourceList('', 'v1')) : undefined;
  }
  if (root !== 'apis') return undefined;
  const named = groups.filter((name) => name !== '');
  if (group === undefined) {
    return (
      aggregated(form, named) ??
      plain({ kind: 'APIGroupList', apiVersion: 'v1', groups: named.map((name) => groupInfo(name)) })
    );
  }
  if (!named.includes(group)) return undefined;
  if (version === undefined) return plain({ kind: 'APIGroup', apiVersion: 'v1', ...groupInfo(group) });
  return version === 'v1' ? plain(resourceList(group, version)) : undefined;
}

const coreVersions = (host: string): Json => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
});

function groupInfo(name: string): { readonly [key: string]: Json } {
  const version = { groupVersion: `${name}/v1`, version: 'v1' };
  return { name, versions: [version], preferredVersion: version };
}

function resourceList(group: string, version: string): Json {
  const resources = servedIn(group).map(
    ({ group: _group, version: _version, internalGroup, parent, ...resource }) => ({
      ...resource,
      ...(parent === undefined && resource.verbs.includes('list')
        ? { storageVersionHash: storageVersionHash(internalGroup, version, resource.kind) }
        : {}),
    }),
  );
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources,
  };
}

const storageVersionHash = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');

function aggregated(
  version: AggregatedVersion | undefined,
  names: readonly string[],
): DiscoveryAnswer | undefined {
  if (version === undefined) return undefined;
  const items = names.map((name) => ({
    metadata: name === '' ? {} : { name },
    versions: [{ version: 'v1', resources: aggregatedResources(name), freshness: 'Current' }],
  }));
  return {
    contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    body: {
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items,
    },
  };
}

function aggregatedResources(group: string): Json {
  const all = servedIn(group);
  const responseKind = ({ kind, version }: ServedResource) => ({ group, version, kind });
  return all
    .filter((resource) => resource.parent === undefined)
    .map((resource) => {
      const subresources = all.filter((other) => other.parent === resource.name);
      return {
        resource: resource.name,
        responseKind: responseKind(resource),
        scope: resource.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: resource.singularName,
        verbs: resource.verbs,
        ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
        ...(subresources.length === 0
          ? {}
          : {
              subresources: subresources.map((subresource) => ({
                subresource: subresource.name.slice(resource.name.length + 1),
                responseKind: responseKind(subresource),
                verbs: subresource.verbs,
              })),
            }),
      };
    });
}
