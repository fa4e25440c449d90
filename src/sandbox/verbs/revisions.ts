/** resourceVersions and continue tokens, and the refusals of past and future ones. */

import { isObject, quoted } from '../objects/json.ts';
import { ParseError, parseJson } from '../objects/json-text.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { badRequest, expired, StatusError } from '../objects/status.ts';
import { type Collection, keyOfObject, type ObjectStore } from '../storage/object-store.ts';
import type { ListOptions } from './list-options.ts';

function parseRevision(text: string): number {
  if (isRevision(text)) return Number(text);
  throw badRequest(`invalid resource version: ${notARevision(text)}`);
}

/** For a watch or a get, which refuse a malformed revision in another way than a list. */
export function parseReadRevision(text: string): number {
  if (isRevision(text)) return Number(text);
  throw new StatusError(500, '', notARevision(text));
}

const isRevision = (text: string): boolean => /^\d+$/.test(text);

const notARevision = (text: string): string =>
  `resourceVersion: Invalid value: ${quoted(text)}: strconv.ParseUint: parsing ${quoted(text)}: invalid syntax`;

/** A real server answers this after it has waited for the revision. */
export const tooLargeRevision = (revision: number, store: ObjectStore): StatusError =>
  new StatusError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${revision}, current: ${store.revision}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );

interface ContinueToken {
  /** Revision of the first page; -1 asks for the present state. */
  readonly revision: number;
  /** Key of the last object on the previous page. */
  readonly after: string;
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

const encodeToken = ({ revision, after }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv: revision, start: after })).toString('base64url');

function decodeToken(token: string): ContinueToken {
  const refuse = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  const illegal = token.search(/[^A-Za-z0-9_-]/);
  if (illegal !== -1 || token.length % 4 === 1) {
    const at = illegal === -1 ? token.length - 1 : illegal;
    throw refuse(`illegal base64 data at input byte ${at}`);
  }
  try {
    const parsed = parseJson(Buffer.from(token, 'base64url').toString());
    if (isObject(parsed) && parsed['v'] === TOKEN_VERSION) {
      return { revision: Number(parsed['rv']), after: String(parsed['start']) };
    }
  } catch (error) {
    if (error instanceof ParseError) throw refuse(error.message);
    throw error;
  }
  throw refuse('server does not recognize this encoded version');
}

export interface Snapshot {
  readonly revision: number;
  readonly objects: readonly KubeObject[];
}

/** The rest of an earlier list, or the state at a version. */
export function snapshotFor(store: ObjectStore, collection: Collection, options: ListOptions): Snapshot {
  return options.continue === ''
    ? listFrom(store, collection, options)
    : continueList(store, collection, options);
}

function continueList(store: ObjectStore, collection: Collection, options: ListOptions): Snapshot {
  const { revision: wanted, after } = decodeToken(options.continue);
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const revision = wanted === -1 ? store.revision : wanted;
  const objects = collection.listAt(revision, options.selection.namespace);
  if (!objects) {
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      encodeToken({ revision: -1, after }),
    );
  }
  return { revision, objects: objects.filter((object) => keyOfObject(object) > after) };
}

function listFrom(store: ObjectStore, collection: Collection, options: ListOptions): Snapshot {
  const { resourceVersion, selection } = options;
  const latest = { revision: store.revision, objects: collection.list(selection.namespace) };
  if (resourceVersion === '' || resourceVersion === '0') return latest;
  const revision = parseRevision(resourceVersion);
  if (revision > store.revision) throw tooLargeRevision(revision, store);
  if (!isExact(options)) return latest;
  const objects = collection.listAt(revision, selection.namespace);
  if (!objects) throw expired('The resourceVersion for the provided list is too old.');
  return { revision, objects };
}

/**
 * Without a match, a limit makes the version exact ("legacy exact" in Kubernetes' API concepts).
 */
const isExact = ({ resourceVersionMatch, limit }: ListOptions): boolean =>
  resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0);

export const tokenAfter = (revision: number, object: KubeObject): string =>
  encodeToken({ revision, after: keyOfObject(object) });
