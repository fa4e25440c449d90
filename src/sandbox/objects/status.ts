/**
 * The API server's refusals: Status objects with a code, a reason and a message. Wording from
 * k8s.io/apimachinery pkg/api/errors and pkg/util/validation/field.
 */
import { quoted } from './json.ts';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** The name of a resource or kind in messages: `configmaps`, `leases.coordination.k8s.io`. */
export interface GroupName {
  readonly group: string;
  readonly name: string;
}

/** Thrown to refuse a request; the HTTP server answers with its Status. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: StatusDetails,
    continueToken?: string,
  ) {
    super(message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

export const qualified = ({ group, name }: GroupName): string => (group === '' ? name : `${name}.${group}`);

const detailsOf = (resource: GroupName, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(resource.group === '' ? {} : { group: resource.group }),
  kind: resource.name,
});

export const notFound = (resource: GroupName, name: string): StatusError =>
  new StatusError(
    404,
    'NotFound',
    `${qualified(resource)} ${quoted(name)} not found`,
    detailsOf(resource, name),
  );

export const alreadyExists = (resource: GroupName, name: string): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${qualified(resource)} ${quoted(name)} already exists`,
    detailsOf(resource, name),
  );

export const conflict = (resource: GroupName, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} ${quoted(name)}: ${why}`,
    detailsOf(resource, name),
  );

export const forbidden = (
  resource: GroupName,
  name: string,
  why: string,
  causes: readonly StatusCause[] = [],
): StatusError =>
  new StatusError(403, 'Forbidden', `${qualified(resource)} ${quoted(name)} is forbidden: ${why}`, {
    ...detailsOf(resource, name),
    ...(causes.length === 0 ? {} : { causes }),
  });

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const expired = (message: string, continueToken?: string): StatusError =>
  new StatusError(410, 'Expired', message, undefined, continueToken);

export const tooLarge = (message: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);

export const internalError = (why: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });

export const methodNotAllowed = (): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

export const unknownPath = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

/** For a patch that cannot be applied. The real server does not say why either. */
export const unprocessable = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
