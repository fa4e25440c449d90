import { expect, test } from 'vitest';
import { createLeaseApi } from '../../../src/kube/api/leases.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../../src/kube/errors.ts';
import { Person } from '../../controller/person.ts';
import type { TestServer } from '../../support/servers/server.ts';
import { failureOf, openTransport } from '../open-transport.ts';

const SPEC = {
  holderIdentity: 'one',
  leaseDurationSeconds: 15,
  acquireTime: '2026-01-02T03:04:05.678000Z',
  renewTime: '2026-01-02T03:04:05.678000Z',
  leaseTransitions: 0,
};

/** What the election relies on, of whatever server. */
export function leasesSuite(server: TestServer): void {
  test('[L1] a Lease is created once, and updated only from its latest version', async () => {
    await using place = await server.open();
    await using person = new Person(place.cluster);
    await person.createNamespace(`${place.prefix}home`);
    const { transport } = openTransport(place.cluster);
    const leases = createLeaseApi(transport, `${place.prefix}home`, 'election');
    const { signal } = new AbortController();

    expect(isNotFound(await failureOf(leases.get(signal)))).toBe(true);
    const created = await leases.create(SPEC, signal);
    expect(created.spec).toEqual(SPEC);
    expect(isAlreadyExists(await failureOf(leases.create(SPEC, signal)))).toBe(true);
    const updated = await leases.update(created, { ...SPEC, holderIdentity: 'two' }, signal);
    expect(updated.spec).toEqual({ ...SPEC, holderIdentity: 'two' });
    expect(isConflict(await failureOf(leases.update(created, SPEC, signal)))).toBe(true);
    expect(await leases.get(signal)).toEqual(updated);

    // A PUT may create a Lease. One of a Lease that is gone, or is another by now, must not.
    const path = `/apis/coordination.k8s.io/v1/namespaces/${place.prefix}home/leases/election`;
    await person.remove(path);
    expect(isConflict(await failureOf(leases.update(updated, SPEC, signal)))).toBe(true);
    expect(isNotFound(await failureOf(leases.get(signal)))).toBe(true);
    await leases.create(SPEC, signal);
    expect(isConflict(await failureOf(leases.update(updated, SPEC, signal)))).toBe(true);
  });
}
