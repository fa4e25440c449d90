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
 * is; undefined: anywhere. Of a source with records in several namespaces none is believed, because
 * anybody may have written one, and `stderr` says so.
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
    return shards.length === 0 ? undefined : sinksIn(shards, stderr);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function sinksIn(shards: readonly ConfigMap[], stderr: ProcessIo['stderr']): Notified {
  const found = shards.flatMap((shard) =>
    Array.from(
      recordsIn(shard, () => undefined),
      ([uid, { sinks = {} }]) => {
        return { uid, sinks, namespace: shard.metadata.namespace ?? '' };
      },
    ),
  );
  const first = new Map(found.toReversed().map(({ uid, namespace }) => [uid, namespace]));
  const isElsewhere = ({ uid, namespace }: (typeof found)[number]) => first.get(uid) !== namespace;
  const contested = new Set(found.filter(isElsewhere).map(({ uid }) => uid));
  if (contested.size > 0) {
    const contestants = found.filter(({ uid }) => contested.has(uid)).map(({ namespace }) => namespace);
    stderr.write(
      `NOTIFIED is left out of sources with records in several namespaces: ${[...new Set(contestants)].join(', ')}\n` +
        "Name the controller's namespace with --leader-elect-lease-namespace.\n",
    );
  }
  return new Map(found.filter(({ uid }) => !contested.has(uid)).map(({ uid, sinks }) => [uid, sinks]));
}
