/** From path and method to kind, place and verb. */
import { apiVersionOf, type Kind } from '../kinds/kinds.ts';
import { kinds } from '../kinds/resources.ts';
import { booleanOf } from '../verbs/list-options.ts';
import type { ResourcePath, Verb } from '../verbs/resource-path.ts';

/** The resource that a path names; undefined for one that is not served. */
export function resourceOf(path: readonly string[]): ResourcePath | undefined {
  const [root, ...rest] = path;
  if (root === 'api') return resourceIn(rest[0] ?? '', rest.slice(1));
  if (root === 'apis') return resourceIn(`${rest[0]}/${rest[1]}`, rest.slice(2));
  return undefined;
}

function resourceIn(apiVersion: string, segments: readonly string[]): ResourcePath | undefined {
  const scoped = segments[0] === 'namespaces' && segments.length > 2 && kindIn(apiVersion, segments[2], true);
  const [namespace, [resource, name, subresource, ...excess]] = scoped
    ? [segments[1], segments.slice(2)]
    : [undefined, segments];
  const kind = kindIn(apiVersion, resource, namespace !== undefined);
  if (!kind || excess.length > 0) return undefined;
  // Clients reach namespaced objects only through their namespace.
  if (kind.namespaced && namespace === undefined && name !== undefined) return undefined;
  const known = subresource === undefined ? '' : kind.subresources.find((one) => one === subresource);
  return known === undefined ? undefined : { kind, namespace, name, subresource: known };
}

const kindIn = (apiVersion: string, resource: string | undefined, inNamespace: boolean): Kind | undefined =>
  kinds.find(
    (kind) =>
      apiVersionOf(kind) === apiVersion && kind.resource === resource && (kind.namespaced || !inNamespace),
  );

/** The verb of a request; undefined when the resource does not allow the method. */
export function verbOf(method: string, target: ResourcePath, query: URLSearchParams): Verb | undefined {
  if (target.name === undefined) {
    return collectionVerb(method, target, booleanOf(query.get('watch')) ?? false);
  }
  // Only PUT finalizes a namespace.
  if (target.subresource === 'finalize') return method === 'PUT' ? 'update' : undefined;
  switch (method) {
    case 'GET':
      return 'get';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return target.subresource === '' ? 'delete' : undefined;
    default:
      return undefined;
  }
}

function collectionVerb(
  method: string,
  { kind, namespace }: ResourcePath,
  watching: boolean,
): Verb | undefined {
  const everywhere = kind.namespaced && namespace === undefined;
  switch (method) {
    case 'GET':
      return watching ? 'watch' : 'list';
    case 'POST':
      return everywhere ? undefined : 'create';
    case 'DELETE':
      return everywhere || !kind.namespaced ? undefined : 'deletecollection';
    default:
      return undefined;
  }
}
