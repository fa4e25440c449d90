import type { AuditedCall } from '../support/control-plane-audit.ts';
import { WRITE_VERBS } from '../support/servers/server.ts';

/**
 * The writes of ConfigMaps in a world's namespaces (their `prefix`) that came from a replica while,
 * by the audit log, another one or none had written the Lease last: one line each. The log has them
 * all if it was opened before the first replica started.
 */
export function writesWithoutLease(calls: readonly AuditedCall[], prefix: string): readonly string[] {
  const renewals = writesOf(calls, 'leases', prefix).filter(
    ({ responseStatus }) => (responseStatus?.code ?? 500) < 300,
  );
  const holderAt = (time: string) =>
    renewals.findLast(({ stageTimestamp }) => stageTimestamp <= time)?.impersonatedUser?.username;
  return writesOf(calls, 'configmaps', prefix).flatMap(
    ({ verb, objectRef, impersonatedUser, requestReceivedTimestamp: time }) => {
      const writer = impersonatedUser?.username;
      if (writer === holderAt(time)) return [];
      return `${time}: ${writer} sent ${verb} ${objectRef?.name}, and the holder was ${holderAt(time)}`;
    },
  );
}

/** Which replicas have written ConfigMaps in a world's namespaces. */
export function writers(calls: readonly AuditedCall[], prefix: string): readonly string[] {
  const names = writesOf(calls, 'configmaps', prefix).flatMap(
    ({ impersonatedUser }) => impersonatedUser?.username ?? [],
  );
  return [...new Set(names)].sort();
}

/** Those of replicas, which act as somebody else than the tests do. */
function writesOf(calls: readonly AuditedCall[], resource: string, prefix: string): readonly AuditedCall[] {
  return calls.filter(
    ({ verb, objectRef, impersonatedUser }) =>
      impersonatedUser !== undefined &&
      WRITE_VERBS.includes(verb) &&
      objectRef?.resource === resource &&
      objectRef.namespace?.startsWith(prefix),
  );
}
