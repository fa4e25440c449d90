import type { Informer } from '../informer/informer.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Content } from '../mirror/observe/content.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import type { DelayingQueue } from '../workqueue/delaying-queue.ts';
import type { SourceBodies } from './write/source-bodies.ts';

/** The sources in the cache, for those who follow them beside the controller. */
export interface Sources {
  /** Resolves when all of them are known, or `signal` aborts. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Any ConfigMap that is in the cache. */
  get(key: ObjectKey): ObservedConfigMap | undefined;
  /** Every source, invalid ones too. */
  all(): readonly ObservedConfigMap[];
  /** Has the controller make another pass over a source. */
  queue(key: ObjectKey): void;
  /** What the companions of a valid source hold. Rejects if it is not as observed any more. */
  content(source: ObservedConfigMap): Promise<Content>;
}

/** All but one, which those who follow them do not see. */
export function sourcesBut(key: ObjectKey | undefined, sources: Sources): Sources {
  return {
    ...sources,
    get: (each) => (each === key ? undefined : sources.get(each)),
    all: () => sources.all().filter((source) => source.key !== key),
  };
}

export function createSources(
  { lister, whenSynced }: Pick<Informer<ObservedConfigMap>, 'lister' | 'whenSynced'>,
  bodies: Pick<SourceBodies, 'content'>,
  queue: Pick<DelayingQueue<ObjectKey>, 'add'>,
): Sources {
  return {
    whenSynced,
    get: (key) => lister.get(key),
    all: () => [...lister.values()].filter(({ request }) => request !== undefined),
    queue: (key) => queue.add(key, 'bulk'),
    content: async (source) => {
      if (!source.request?.ok) throw new Error(`${source.key} is not a valid source`);
      return bodies.content(source);
    },
  };
}
