/** Content negotiation: which form of an answer the client accepts. */
import type { AggregatedVersion } from '../discovery/discovery.ts';
import { StatusError } from '../objects/status.ts';

export type View = 'object' | 'metadata' | 'metadataList' | 'table';

export interface Accepted {
  readonly format: 'json' | 'yaml';
  readonly view: View;
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const TRANSFORMS = new Map<string, View>([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'metadata'],
  ['PartialObjectMetadataList', 'metadataList'],
]);

/**
 * The first clause of `accept` (by quality, then order) that the server can answer. Throws 406 if
 * none.
 */
export function negotiate(accept: string | undefined): Accepted {
  if (accept === undefined || accept.trim() === '') return { format: 'json', view: 'object' };
  const clauses = parseAccept(accept).sort((a, b) => b.quality - a.quality);
  for (const clause of clauses) {
    const format = formatOf(clause.type);
    const view = viewOf(clause.parameters);
    if (format && view) return { format, view };
  }
  throw notAcceptable(clauses);
}

const SERVED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** The real server words an unknown media type and an unknown view of a known one differently. */
function notAcceptable(clauses: readonly Clause[]): StatusError {
  if (clauses.some(({ type }) => SERVED.includes(type) || type.includes('*'))) {
    const message = `only the following media types are accepted: ${SERVED.join(', ')}`;
    return new StatusError(406, 'NotAcceptable', message);
  }
  const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
  const message = `406: Not Acceptable\n\nAvailable representations: ${[...SERVED, ...streams].join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message, {});
}

function parseAccept(accept: string): Clause[] {
  return accept.split(',').map((text) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    const parameters = new Map(
      rest.map((part) => {
        const equals = part.indexOf('=');
        return [part.slice(0, equals), part.slice(equals + 1)] as const;
      }),
    );
    return { type: type.toLowerCase(), parameters, quality: Number(parameters.get('q') ?? 1) };
  });
}

function formatOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === 'application/*' || type === '*/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

function viewOf(parameters: ReadonlyMap<string, string>): View | undefined {
  const as = parameters.get('as');
  if (as === undefined) return 'object';
  const served = parameters.get('g') === 'meta.k8s.io' && parameters.get('v') === 'v1';
  return served ? TRANSFORMS.get(as) : undefined;
}

/** The version of aggregated discovery that the client accepts, if any. */
export function aggregatedDiscovery(accept: string | undefined): AggregatedVersion | undefined {
  const clause = parseAccept(accept ?? '').find(
    ({ parameters }) =>
      parameters.get('as') === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io',
  );
  const version = clause?.parameters.get('v');
  return version === 'v2' || version === 'v2beta1' ? version : undefined;
}

/** The bare media type of a Content-Type header. */
export const mediaTypeOf = (header: string | undefined): string =>
  (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
