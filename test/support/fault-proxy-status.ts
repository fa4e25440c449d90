import type { Fault } from './fault-proxy-rules.ts';

/** k8s.io/apimachinery pkg/apis/meta/v1, StatusReason. */
const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The Status with which an API server says no. */
export function statusBody(fault: Extract<Fault, { kind: 'status' }>): string {
  const { code, retryAfterSeconds, message = 'injected by the fault proxy' } = fault;
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: fault.reason ?? REASONS[code],
    details: retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
    code,
  });
}
