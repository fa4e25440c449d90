import { createListWatch } from '../../kube/api/http-list-watch.ts';
import type { ConfigMap } from '../../kube/api/types.ts';
import { ApiError } from '../../kube/errors.ts';
import type { Transport } from '../../kube/http/transport.ts';
import type { SinkRecord } from '../../notify/state/record.ts';
import { recordsIn, STATE_LABELS } from '../../notify/state/stored-record.ts';

/** What each sink was last told of a source, by the source's uid. */
export type Notified = ReadonlyMap<string, Readonly<Record<string, SinkRecord>>>;

/** Undefined without notifications, or if this user may not read their state. */
export async function readNotified(transport: Transport, signal: AbortSignal): Promise<Notified | undefined> {
  const labelSelector = Object.entries(STATE_LABELS)
    .map(([key, value]) => `${key}=${value}`)
    .join();
  try {
    const state = createListWatch<ConfigMap>(transport, { path: '/api/v1/configmaps', labelSelector });
    const { items } = await state.list({ limit: 0 }, signal);
    if (items.length === 0) return undefined;
    const records = items.flatMap((item) => [...recordsIn(item, () => undefined)]);
    return new Map(records.map(([uid, { sinks = {} }]) => [uid, sinks]));
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
