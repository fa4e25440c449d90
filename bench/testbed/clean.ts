import type { ControlPlane } from '../../test/support/control-plane.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { collection, inFlight, type Load } from './load.ts';
import { COMPANIONS } from './sources.ts';

/** Requests in flight. */
const IN_FLIGHT = 16;

/**
 * Deletes these namespaces and their ConfigMaps, and compacts etcd, so that the next controller
 * finds nothing and etcd's quota of 2 GiB is not used up by finished measurements.
 */
export async function clean(
  controlPlane: ControlPlane,
  load: Load,
  namespaces: readonly string[],
): Promise<void> {
  await inFlight(IN_FLIGHT, namespaces, (namespace) => load.call('DELETE', collection(namespace)));
  await waitFor(async () => (await load.list('', `?labelSelector=${COMPANIONS}`)).items.length === 0);
  await inFlight(IN_FLIGHT, namespaces, (namespace) => remove(load, namespace));
  await controlPlane.compactEtcd();
}

/** Finalizes it at once: the namespace controller would search for objects for minutes. */
async function remove(load: Load, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  await load.call('DELETE', path);
  await load.call('PUT', `${path}/finalize`, { metadata: { name }, spec: { finalizers: [] } });
}
