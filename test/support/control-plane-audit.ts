import { readFileSync } from 'node:fs';

/** One call that the apiserver answered, as its audit log tells it; a watch is there as soon as it begins. */
export interface AuditedCall {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, … */
  readonly verb: string;
  /** Path and query. */
  readonly uri: string;
  readonly user: string;
  readonly userAgent: string;
  /** `configmaps`, `leases`, …; absent for paths that are no resource's. */
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly code: number;
  /** When it arrived, milliseconds since 1970. */
  readonly at: number;
}

interface AuditEvent {
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  /** Without a name when the caller went before it was known. */
  readonly user: { readonly username?: string };
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
}

/**
 * Every call since the apiserver started first, in the order of arrival. The log is written before the answer is
 * sent, so a call whose answer has come is in it.
 */
export function readAuditLog(path: string): readonly AuditedCall[] {
  // A line without its end is still being written.
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  // A watch has a line for its beginning and one for its end.
  const calls = new Map<string, AuditedCall>();
  for (const line of lines) {
    const event = JSON.parse(line) as AuditEvent;
    calls.set(event.auditID, auditedCall(event));
  }
  return [...calls.values()].sort((a, b) => a.at - b.at);
}

function auditedCall(event: AuditEvent): AuditedCall {
  return {
    verb: event.verb,
    uri: event.requestURI,
    user: event.user.username ?? '',
    userAgent: event.userAgent ?? '',
    resource: event.objectRef?.resource,
    namespace: event.objectRef?.namespace,
    name: event.objectRef?.name,
    code: event.responseStatus?.code ?? 0,
    at: Date.parse(event.requestReceivedTimestamp),
  };
}
