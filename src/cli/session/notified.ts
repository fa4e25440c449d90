import { createListWatch } from '../../kube/api/http-list-watch.ts';
import type { ConfigMap } from '../../kube/api/types.ts';
import { ApiError } from '../../kube/errors.ts';
import type { Transport } from '../../kube/http/transport.ts';
import type { SinkRecord } from '../../notify/state/record.ts';
import { isShardName, recordsIn, STATE_LABELS } from '../../notify/state/stored-record.ts';
import type { ProcessIo } from '../io.ts';

/** What each sink was last told of a source, by the source's uid. */
export type Notified = ReadonlyMap<string, Readonly<Record<string, SinkRecord>>>;

/**
 * Undefined without notifications, or if this user may not read their state. `namespace`: where it
 * is; undefined: in the only namespace that has any. If several have, anybody may have written it,
 * so none is believed, and `stderr` says so.
 */
export async function readNotified(
  transport: Transport,
  namespace: string | undefined,
  { stderr }: Pick<ProcessIo, 'stderr'>,
  signal: AbortSignal,
): Promise<Notified | undefined> {
  const labelSelector = Object.entries(STATE_LABELS)
    .map(([key, value]) => `${key}=${value}`)
    .join();
  const path = namespace === undefined ? '/api/v1/configmaps' : `/api/v1/namespaces/${namespace}/configmaps`;
  try {
    const state = createListWatch<ConfigMap>(transport, { path, labelSelector });
    const { items } = await state.list({ limit: 0 }, signal);
    const shards = items.filter(({ metadata }) => isShardName(metadata.name));
    const namespaces = [...new Set(shards.map(({ metadata }) => metadata.namespace))];
    if (namespaces.length === 0) return undefined;
    if (namespaces.length > 1) {
      stderr.write(
        `NOTIFIED is not shown: there is state of notifications in ${namespaces.join(', ')}\n` +
          "Name the controller's namespace with --leader-elect-lease-namespace.\n",
      );
      return undefined;
    }
    const records = shards.flatMap((shard) => [...recordsIn(shard, () => undefined)]);
    return new Map(records.map(([uid, { sinks = {} }]) => [uid, sinks]));
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
