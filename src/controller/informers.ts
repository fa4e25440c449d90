import type { Clock } from '../clock/clock.ts';
import { createInformer, type Informer } from '../informer/informer.ts';
import type { RestartReason } from '../informer/restart-reason.ts';
import type { ListWatch } from '../kube/api/list-watch.ts';
import type { ConfigMap, Namespace } from '../kube/api/types.ts';
import {
  isValues,
  type ObservedConfigMap,
  observe,
  sourceReference,
} from '../mirror/observe/observed-config-map.ts';
import { type ObservedNamespace, observeNamespace } from '../mirror/observe/observed-namespace.ts';
import { SharedTexts } from '../mirror/observe/shared-texts.ts';
import type { MirrorSettings } from '../mirror/plan/view.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type ConfigMapIndex, configMapIndexers } from './reconcile/cluster-view.ts';

/** What is watched. */
export interface Watches {
  /** One for the cluster, or one for each namespace in `--namespaces`. The key names it in logs. */
  readonly configMaps: ReadonlyMap<string, ListWatch<ConfigMap>>;
  /** Likewise. Not opened before a source targets namespaces. */
  readonly namespaces: ReadonlyMap<string, ListWatch<Namespace>>;
}

export interface InformerDeps extends Watches {
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
}

export interface InformerListeners {
  /** Gets each source, and each ConfigMap with values, with its data. */
  readonly onData?: (observed: ObservedConfigMap, object: ConfigMap) => void;
  /** For each kind, what to call when its list or watch has ended. */
  readonly onRestart?: (kind: 'configmaps' | 'namespaces') => (reason: RestartReason) => void;
}

/**
 * The caches of sources and companions, and of Namespaces. The controller and the commands that
 * only look share them, so that both see the same.
 */
export function createInformers(
  deps: InformerDeps,
  settings: MirrorSettings,
  { onData, onRestart }: InformerListeners = {},
): {
  readonly configMaps: Informer<ObservedConfigMap, ConfigMapIndex>;
  readonly namespaces: Informer<ObservedNamespace>;
} {
  const { clock, random, log } = deps;
  const common = { clock, random, log };
  const { vocabulary } = settings;
  const texts = new SharedTexts();
  const configMaps: Informer<ObservedConfigMap, ConfigMapIndex> = createInformer({
    name: 'configmaps',
    listWatches: deps.configMaps,
    transform: (object: ConfigMap) => {
      const observed = observe(object, vocabulary);
      if (observed.request !== undefined || isValues(observed, vocabulary)) onData?.(observed, object);
      const reference = sourceReference(observed, vocabulary);
      return texts.shareIn(observed, reference && configMaps.lister.get(reference));
    },
    indexers: configMapIndexers(settings),
    ...common,
    onRestart: onRestart?.('configmaps'),
  });
  const namespaces = createInformer({
    name: 'namespaces',
    listWatches: deps.namespaces,
    transform: (object: Namespace) => observeNamespace(object, vocabulary),
    indexers: {},
    ...common,
    onRestart: onRestart?.('namespaces'),
  });
  return { configMaps, namespaces };
}
