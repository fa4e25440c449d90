import { ApiError } from '../errors.ts';
import { parseJsonObject } from './json.ts';

/**
 * The fields that we read of a Kubernetes Status (meta/v1): the body of every failed request, or
 * the object of a watch's ERROR event.
 */
interface Status {
  readonly kind?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: { readonly causes?: unknown; readonly retryAfterSeconds?: unknown } | null;
}

/**
 * Longest delay (ms) that an error asks for. A server or a proxy may ask for a day, and a list, a
 * watch or a write would wait that long after the server is back (SPEC R15).
 */
const LONGEST_RETRY_AFTER_MS = 30_000;

/**
 * The error of an answer that is not a success. `server` is its `host:port`. The message quotes
 * only a Status: any other body (a proxy's HTML) may hold anything. `wallTime`: a `Retry-After` may
 * be a date.
 */
export function apiErrorOfReply(
  reply: { readonly status: number; readonly body: string; readonly retryAfter?: string | undefined },
  server: string,
  wallTime: Date,
): ApiError {
  const parsed: unknown = parseJsonObject(reply.body);
  const status = isStatus(parsed) ? parsed : undefined;
  const retryAfterMs = capped(retryAfterOfHeader(reply.retryAfter, wallTime));
  if (status === undefined) {
    const what = reply.status < 400 ? 'a redirect' : 'an error that is not from an API server';
    const hint = reply.status < 500 ? ': check the server of the kubeconfig' : '';
    return new ApiError(`${server} answered ${reply.status} with ${what}${hint}`, {
      status: reply.status,
      retryAfterMs,
    });
  }
  return errorOf(status, reply.status, retryAfterMs);
}

/** The error of a watch's ERROR event; its object should be a Status. */
export function apiErrorOfWatch(object: unknown): ApiError {
  const status = isStatus(object) ? object : {};
  return errorOf(status, typeof status.code === 'number' ? status.code : 500, undefined);
}

function errorOf(status: Status, code: number, retryAfterMs: number | undefined): ApiError {
  const seconds = status.details?.retryAfterSeconds;
  const asked = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined;
  const message = text(status.message);
  return new ApiError(message === '' ? `the API server answered ${code}` : message, {
    status: code,
    reason: text(status.reason),
    causes: causesOf(status.details?.causes),
    retryAfterMs: retryAfterMs ?? capped(asked),
  });
}

function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && (value as Status).kind === 'Status';
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function causesOf(causes: unknown): string[] {
  if (!Array.isArray(causes)) return [];
  return causes.map((cause) => text((cause as { reason?: unknown } | null)?.reason));
}

function capped(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(ms, LONGEST_RETRY_AFTER_MS);
}

/** `Retry-After` is a number of seconds or an HTTP date (RFC 9110, 10.2.3). */
export function retryAfterOfHeader(value: string | undefined, wallTime: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallTime.getTime());
}
