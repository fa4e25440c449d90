/** The query of a list, watch or deletecollection, parsed and checked. */
import { type FieldError, forbiddenField, invalidObject, notSupported } from '../kinds/field-errors.ts';
import type { Kind } from '../kinds/kinds.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { badRequest } from '../objects/status.ts';
import { type FieldMatcher, parseFieldSelector } from '../selectors/field-selector.ts';
import { type LabelMatcher, parseLabelSelector, SelectorError } from '../selectors/label-selector.ts';

export interface Selection {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** No selector was given. */
  readonly everything: boolean;
  matches(object: KubeObject): boolean;
}

export interface ListOptions {
  readonly selection: Selection;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  /** Empty when not given. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly sendInitialEvents: boolean | undefined;
  readonly timeoutSeconds: number | undefined;
  /** 0: all. */
  readonly limit: number;
  readonly continue: string;
}

/** `name` is set for a watch of one object by its own path. */
export function parseListOptions(
  kind: Kind,
  query: URLSearchParams,
  scope: { readonly namespace: string | undefined; readonly name: string | undefined },
): ListOptions {
  const options = withDefaults({
    selection: parseSelection(kind, query, scope),
    watch: booleanOf(query.get('watch')) ?? false,
    allowWatchBookmarks: booleanOf(query.get('allowWatchBookmarks')) ?? false,
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    sendInitialEvents: booleanOf(query.get('sendInitialEvents')),
    timeoutSeconds: integerOf(query, 'timeoutSeconds'),
    limit: integerOf(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
  });
  const errors = options.watch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) {
    throw invalidObject({ group: 'meta.k8s.io', name: 'ListOptions' }, '', errors);
  }
  return options;
}

/** A watch without a version, or from 0, begins with the present state. */
function withDefaults(options: ListOptions): ListOptions {
  const { watch, resourceVersion, resourceVersionMatch, sendInitialEvents } = options;
  const fromState = resourceVersion === '' || resourceVersion === '0';
  if (!watch || !fromState || resourceVersionMatch !== '' || sendInitialEvents !== undefined) return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

/** As in Go's conversion of query parameters, anything but `false` and `0` is true. */
export function booleanOf(value: string | null): boolean | undefined {
  if (value === null) return undefined;
  return value.toLowerCase() !== 'false' && value !== '0';
}

export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^[+-]?\d+$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  return Number(value);
}

function parseSelection(
  kind: Kind,
  query: URLSearchParams,
  scope: { readonly namespace: string | undefined; readonly name: string | undefined },
): Selection {
  const { labels, fields } = parseSelectors(kind, query);
  const { namespace, name } = scope;
  return {
    ...(namespace === undefined ? {} : { namespace }),
    everything: !query.get('labelSelector') && !query.get('fieldSelector'),
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (name === undefined || object.metadata.name === name) &&
      labels(object.metadata.labels ?? {}) &&
      fields((field) => kind.fieldValue(object, field)),
  };
}

function parseSelectors(
  kind: Kind,
  query: URLSearchParams,
): { readonly labels: LabelMatcher; readonly fields: FieldMatcher } {
  try {
    return {
      labels: parseLabelSelector(query.get('labelSelector') ?? ''),
      fields: parseFieldSelector(query.get('fieldSelector') ?? '', kind),
    };
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

const MATCH = 'resourceVersionMatch';

/** k8s.io/apimachinery pkg/apis/meta/internalversion/validation. */
function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const match = options.resourceVersionMatch;
  if (match !== '') {
    if (options.resourceVersion === '') {
      errors.push(
        forbiddenField(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      );
    }
    if (options.continue !== '') {
      errors.push(forbiddenField(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && options.resourceVersion === '0') {
      errors.push(forbiddenField(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const match = options.resourceVersionMatch;
  if (options.sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(
      forbiddenField(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  }
  if (match === '') return errors;
  if (options.sendInitialEvents === undefined) {
    errors.push(
      forbiddenField(
        MATCH,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(MATCH, match, ['NotOlderThan']));
  if (options.continue !== '') {
    errors.push(forbiddenField(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return errors;
}
