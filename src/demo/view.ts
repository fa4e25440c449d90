import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock/clock.ts';
import { createInformer, type Informer } from '../informer/informer.ts';
import type { Lister } from '../informer/lister.ts';
import { createListWatch } from '../kube/api/http-list-watch.ts';
import { keyOf, type ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap } from '../kube/api/types.ts';
import type { Transport } from '../kube/http/transport.ts';
import type { Logger } from '../telemetry/logger.ts';
import { sentence } from '../telemetry/sentence.ts';

/** What the demo needs to know of a ConfigMap. */
export interface SeenConfigMap {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Uids of the owners. */
  readonly owners: readonly string[];
}

/** A line of the controller's log, as JSON has it. */
export type LogRecord = Readonly<Record<string, unknown>>;

/**
 * The demo's own informer over all ConfigMaps of some namespaces, which need not exist yet. It
 * shares nothing with the controller's, so it is an independent check of what the controller did.
 */
export function watchConfigMaps(
  transport: Transport,
  namespaces: readonly string[],
  deps: { readonly clock: Clock; readonly random: () => number; readonly log: Logger },
): Informer<SeenConfigMap> {
  const listWatches = namespaces.map((name) => {
    const path = `/api/v1/namespaces/${name}/configmaps`;
    return [name, createListWatch<ConfigMap>(transport, { path })] as const;
  });
  const transform = (object: ConfigMap) => ({
    key: keyOf(object),
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
    data: object.data ?? {},
    annotations: object.metadata.annotations ?? {},
    owners: (object.metadata.ownerReferences ?? []).map(({ uid }) => uid),
  });
  return createInformer({
    name: 'demo',
    listWatches: new Map(listWatches),
    transform,
    indexers: {},
    ...deps,
  });
}

/** What a step can see while it runs. */
export class View {
  readonly #configMaps: Lister<SeenConfigMap>;
  readonly #before: ReadonlyMap<ObjectKey, SeenConfigMap>;
  readonly #records: readonly LogRecord[];
  readonly #logged: number;

  /** `records` grows with the controller's log. */
  constructor(configMaps: Lister<SeenConfigMap>, records: readonly LogRecord[]) {
    this.#configMaps = configMaps;
    this.#before = new Map(Array.from(configMaps.values(), (seen) => [seen.key, seen]));
    this.#records = records;
    this.#logged = records.length;
  }

  /** The ConfigMap at a key, as the demo's own watch shows it. */
  now(key: ObjectKey): SeenConfigMap | undefined {
    return this.#configMaps.get(key);
  }

  /** The same when the step began. */
  before(key: ObjectKey): SeenConfigMap | undefined {
    return this.#before.get(key);
  }

  /** The controller's log since the step began, with its debug records. */
  get log(): readonly LogRecord[] {
    return this.#records.slice(this.#logged);
  }

  /** Whether all of these exist and hold exactly this. */
  hold(keys: readonly ObjectKey[], data: SeenConfigMap['data'] | undefined): boolean {
    return data !== undefined && keys.every((key) => isDeepStrictEqual(this.now(key)?.data, data));
  }

  /** Whether it has not been written or replaced since the step began. */
  isUntouched(key: ObjectKey): boolean {
    const [before, now] = [this.before(key), this.now(key)];
    return before !== undefined && before.uid === now?.uid && before.resourceVersion === now.resourceVersion;
  }

  /** What there is instead of what was expected, and the controller's latest complaint. */
  toString(): string {
    const all = Array.from(this.#configMaps.values(), ({ key, data }) => `${key} ${JSON.stringify(data)}`)
      // Kubernetes puts it into every namespace, and its data is a certificate.
      .filter((text) => !text.includes('/kube-root-ca.crt '));
    const complaint = this.log.findLast(({ level }) => level === 'warn' || level === 'error');
    const logged = complaint === undefined ? '' : `; the controller logged: ${sentence(complaint)}`;
    return (all.sort().join(', ') || 'no ConfigMaps') + logged;
  }
}
