import { type ApiError, NetworkError } from '../errors.ts';
import type { Answer } from './exchange.ts';
import { apiErrorOfReply } from './status.ts';

/** A successful answer. */
export interface ApiReply {
  readonly status: number;
  /** JSON, as far as its content type tells. */
  readonly body: string;
}

/** Redirects are none: an API server has no reason to send one, and a credential must not follow it. */
export const isSuccess = ({ statusCode }: { readonly statusCode: number }): boolean =>
  statusCode >= 200 && statusCode < 300;

/** What a success says. Throws `NetworkError` `MALFORMED` when it is not JSON. `server` is `host:port`, for messages. */
export function replyOf({ statusCode, headers, body }: Answer, server: string): ApiReply {
  if (!isJson(headers)) {
    throw new NetworkError(`${server} answered with something other than JSON: is it an API server?`, {
      code: 'MALFORMED',
    });
  }
  return { status: statusCode, body };
}

/** What an answer says that is no success. `wallTime`: a `Retry-After` may be a date. */
export function refusalOf({ statusCode, headers, body }: Answer, server: string, wallTime: Date): ApiError {
  const retryAfter = headers['retry-after']?.toString();
  return apiErrorOfReply({ status: statusCode, body, retryAfter }, server, wallTime);
}

/** A login page or a captive portal answers 200 too. */
const isJson = ({ 'content-type': contentType }: Answer['headers']): boolean =>
  contentType === undefined || contentType.includes('json');
