import type { ControlPlane } from '../test/support/control-plane.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { collection, inFlight, type Load } from './load.ts';

const IN_FLIGHT = 16;

/**
 * Leaves the control plane as it was: without these namespaces, their ConfigMaps and what etcd remembers of them. The
 * next measurement's controller finds nothing, and etcd's quota of 2 GiB is not used up by measurements that are over.
 */
export async function clean(
  controlPlane: ControlPlane,
  load: Load,
  namespaces: readonly string[],
): Promise<void> {
  await inFlight(IN_FLIGHT, namespaces, (namespace) => load.call('DELETE', collection(namespace)));
  const query = `?labelSelector=${encodeURIComponent('workshop.io/managed')}`;
  await waitFor(async () => (await load.list('', query)).items.length === 0);
  await inFlight(IN_FLIGHT, namespaces, (namespace) => remove(load, namespace));
  await controlPlane.compactEtcd();
}

/** Finalizes it at once: the namespace controller would look for objects of every kind in each one, for minutes. */
async function remove(load: Load, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  await load.call('DELETE', path);
  await load.call('PUT', `${path}/finalize`, { metadata: { name }, spec: { finalizers: [] } });
}
