import type { AuditedCall } from '../support/control-plane-audit.ts';
import { WRITE_VERBS } from '../support/servers/server.ts';

/**
 * The writes of ConfigMaps in `namespace` that came from a replica while, by the audit log, another
 * one or none had written the Lease last: one line each. The log has them all if it was opened
 * before the first replica started.
 */
export function writesWithoutLease(calls: readonly AuditedCall[], namespace: string): readonly string[] {
  const done = calls.filter(
    ({ verb, objectRef }) => WRITE_VERBS.includes(verb) && objectRef?.namespace === namespace,
  );
  const renewals = done.filter(
    ({ objectRef, responseStatus }) =>
      objectRef?.resource === 'leases' && (responseStatus?.code ?? 500) < 300,
  );
  const holderAt = (time: string) =>
    renewals.findLast(({ stageTimestamp }) => stageTimestamp <= time)?.impersonatedUser?.username;
  return done.flatMap(({ verb, objectRef, impersonatedUser, requestReceivedTimestamp: time }) => {
    const writer = impersonatedUser?.username;
    if (objectRef?.resource !== 'configmaps' || writer === undefined || writer === holderAt(time)) return [];
    return `${time}: ${writer} sent ${verb} ${objectRef.name}, and the holder was ${holderAt(time)}`;
  });
}

/** Which replicas have written ConfigMaps in `namespace`. */
export function writers(calls: readonly AuditedCall[], namespace: string): readonly string[] {
  const names = calls
    .filter(({ verb, objectRef }) => WRITE_VERBS.includes(verb) && objectRef?.resource === 'configmaps')
    .filter(({ objectRef }) => objectRef?.namespace === namespace)
    .flatMap(({ impersonatedUser }) => impersonatedUser?.username ?? []);
  return [...new Set(names)].sort();
}
