import type { Dispatcher } from 'undici';
import { NetworkError } from './errors.ts';
import { apiErrorOfReply } from './status.ts';

/** A successful answer. */
export interface ApiReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, as far as its content type tells. */
  readonly body: string;
}

/** Redirects are none: an API server has no reason to send one, and a credential must not follow it. */
export const isSuccess = ({ statusCode }: Dispatcher.ResponseData): boolean =>
  statusCode >= 200 && statusCode < 300;

/**
 * The whole of an answer. Throws `ApiError` when it is not a success, `NetworkError` `MALFORMED` when it is not JSON,
 * and undici's errors when it does not arrive. `server` is `host:port`, for messages.
 */
export async function readReply(
  response: Dispatcher.ResponseData,
  server: string,
  wallTime: Date,
): Promise<ApiReply> {
  const body = await response.body.text();
  const headers = singleHeaders(response.headers);
  const status = response.statusCode;
  if (!isSuccess(response)) {
    throw apiErrorOfReply({ status, body, retryAfter: headers['retry-after'] }, server, wallTime);
  }
  if (!isJson(headers)) {
    throw new NetworkError(`${server} answered with something other than JSON: is it an API server?`, {
      code: 'MALFORMED',
    });
  }
  return { status, headers, body };
}

/** A login page or a captive portal answers 200 too. */
const isJson = (headers: Readonly<Record<string, string>>): boolean =>
  headers['content-type'] === undefined || headers['content-type'].includes('json');

function singleHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(entries) as Record<string, string>;
}
