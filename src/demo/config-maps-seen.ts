import type { Clock } from '../clock/clock.ts';
import { createInformer, type Informer } from '../informer/informer.ts';
import { createListWatch } from '../kube/api/http-list-watch.ts';
import { keyOf, type ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap } from '../kube/api/types.ts';
import type { Transport } from '../kube/http/transport.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A ConfigMap as somebody sees it who only looks. */
export interface SeenConfigMap {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
  /** Uids of the owners. */
  readonly owners: readonly string[];
}

/**
 * The demo's own eyes: an informer over all ConfigMaps of some namespaces, which need not be there yet. It shares
 * nothing with the controller's, and so can tell whether the controller did what it should.
 */
export function watchConfigMaps(deps: {
  readonly transport: Transport;
  readonly namespaces: readonly string[];
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}): Informer<SeenConfigMap> {
  const { transport, namespaces, onChange, clock, random, log } = deps;
  const listWatches = namespaces.map((name) => {
    const path = `/api/v1/namespaces/${name}/configmaps`;
    return [name, createListWatch<ConfigMap>(transport, { path })] as const;
  });
  const informer = createInformer<ConfigMap, SeenConfigMap, string>({
    name: 'demo',
    listWatches: new Map(listWatches),
    transform: seen,
    indexers: {},
    clock,
    random,
    log,
  });
  informer.addHandler({ add: onChange, update: onChange, delete: onChange });
  return informer;
}

function seen(object: ConfigMap): SeenConfigMap {
  const { uid, resourceVersion, ownerReferences } = object.metadata;
  return {
    key: keyOf(object),
    uid,
    resourceVersion,
    data: object.data ?? {},
    owners: (ownerReferences ?? []).map((owner) => owner.uid),
  };
}
