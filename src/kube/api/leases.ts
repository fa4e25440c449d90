import type { ApiRequest, Transport } from '../http/transport.ts';
import { callForObject } from './call-for-object.ts';
import type { Lease, LeaseSpec } from './types.ts';

/**
 * Reads and writes of one Lease. All of them reject with `ApiError` or `NetworkError`, the latter
 * soon after the signal aborts. Then it is unknown whether a write was carried out.
 */
export interface LeaseApi {
  /** `namespace/name`, for the log. */
  readonly key: string;
  get(signal: AbortSignal): Promise<Lease>;
  create(spec: LeaseSpec, signal: AbortSignal): Promise<Lease>;
  /**
   * Replaces the spec of the Lease as it was read. A conflict if it has changed since, or is a
   * different object under the same name.
   */
  update(lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease>;
}

export function createLeaseApi(transport: Transport, namespace: string, name: string): LeaseApi {
  const collection = leasesPath(namespace);
  const path = `${collection}/${encodeURIComponent(name)}`;
  const write = (request: ApiRequest, metadata: object, spec: LeaseSpec) =>
    callForObject<Lease>(transport, {
      ...request,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }),
    });
  return {
    key: `${namespace}/${name}`,
    get: (signal) => callForObject<Lease>(transport, { method: 'GET', path, signal }),
    create: (spec, signal) => write({ method: 'POST', path: collection, signal }, { namespace, name }, spec),
    // The uid in the metadata is a precondition. Without it, a PUT of a Lease that was deleted
    // would create it.
    update: ({ metadata }, spec, signal) => write({ method: 'PUT', path, signal }, metadata, spec),
  };
}

export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}
