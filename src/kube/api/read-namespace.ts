import type { Transport } from '../http/transport.ts';
import { callForObject } from './call-for-object.ts';
import type { Namespace } from './types.ts';

/** Rejects as `callForObject` does: needs the right to `get` it, not to list or watch all. */
export function readNamespace(transport: Transport, name: string, signal?: AbortSignal): Promise<Namespace> {
  const path = `/api/v1/namespaces/${encodeURIComponent(name)}`;
  return callForObject<Namespace>(transport, { method: 'GET', path, signal });
}
