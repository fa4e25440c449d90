import { type Clock, sleep } from '../clock/clock.ts';
import type { Handler } from '../informer/handler.ts';
import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import { type ObjectKey, objectKey } from '../kube/api/object-key.ts';
import { ifFound } from '../kube/errors.ts';
import { inPlaceOf } from '../mirror/companion/patch.ts';
import { digestOf } from '../mirror/observe/digest.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import { MANAGED_SOURCE, type Vocabulary } from '../mirror/vocabulary.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Happening } from './memory/happening.ts';

const NAME = 'mirror-controller-canary';
/** Misses in a row after which this process is stuck. */
const MOST_MISSES = 5;

/** The source that the canary of a controller in this namespace changes, or once did. */
export function canaryIn(namespace: string): ObjectKey {
  return objectKey(namespace, NAME);
}

export interface FreshnessCanaryDeps {
  readonly api: Pick<ConfigMapApi, 'get' | 'create' | 'patch'>;
  /** Where the source and its companion are. */
  readonly namespace: string;
  /** Time (ms) between two changes; also how long the companion may take. */
  readonly intervalMs: number;
  readonly vocabulary: Vocabulary;
  /** False on a standby, which changes nothing. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A change that was sent and whose companion has not been seen. */
interface Change {
  readonly digest: string;
  readonly sentAt: number;
  /**
   * Whether the watch has shown it. Until then the controller cannot know of it: the first list is
   * not complete, or the API server refuses lists and watches. A restart would not help.
   */
  isShown: boolean;
}

/**
 * Changes a source of its own from time to time, and waits until the watch shows the companion: the
 * whole way of an edit, from outside (SPEC O6). It is an ordinary source, but has no Events.
 */
export class FreshnessCanary {
  readonly source: ObjectKey;
  readonly #companion: ObjectKey;
  readonly #deps: FreshnessCanaryDeps;
  /** Undefined if nothing is awaited, or nothing that would be a miss. */
  #awaited: Change | undefined;
  #misses = 0;
  #lastSeconds = 0;
  /** Unix time (s); 0: there was none. */
  #lastSuccess = 0;

  constructor(deps: FreshnessCanaryDeps) {
    this.#deps = deps;
    this.source = canaryIn(deps.namespace);
    this.#companion = objectKey(deps.namespace, `${NAME}-synced`);
  }

  /** Gets what the watch shows. */
  get handler(): Handler<ObservedConfigMap> {
    const seen = (item: ObservedConfigMap) => this.#seen(item);
    return { add: seen, update: (_, item) => seen(item), delete: () => undefined };
  }

  /**
   * A refused write is reported as any other, and so is what keeps the companion from following,
   * such as a conflict. A restart would not help: that is no miss.
   */
  readonly hear = (happening: Happening): void => {
    if (!('source' in happening) || happening.source !== this.source) return;
    if (isRefusal(happening) || isLeftAlone(happening)) this.#awaited = undefined;
  };

  /** Why this process must not go on; undefined: all is well, or it does not lead. */
  problem(): string | undefined {
    if (this.#misses < MOST_MISSES || !this.#deps.mayWrite()) return undefined;
    return `the last ${this.#misses} changes of ${this.source} did not reach its companion, and the watch showed them`;
  }

  export(metrics: Metrics): void {
    metrics.gauge({
      name: 'mirror_canary_last_success_timestamp_seconds',
      help: 'When a change of the freshness canary last reached its companion; 0: never.',
      read: () => this.#lastSuccess,
    });
    metrics.gauge({
      name: 'mirror_canary_seconds',
      help: 'How long the last change of the freshness canary took to reach its companion.',
      read: () => this.#lastSeconds,
    });
  }

  /** Until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs, mayWrite, clock, log } = this.#deps;
    while (!signal.aborted) {
      if (mayWrite()) {
        if (this.#awaited?.isShown) this.#misses += 1;
        await this.#change().catch((err) => {
          // No answer, or a refusal: it says nothing about this process.
          this.#awaited = undefined;
          log.debug({ source: this.source, err }, 'freshness canary not changed');
        });
      } else {
        this.#awaited = undefined;
        this.#misses = 0;
      }
      await sleep(clock, intervalMs, signal);
    }
  }

  async #change(): Promise<void> {
    const { api, namespace, vocabulary, clock } = this.#deps;
    const labels = { [vocabulary.managed]: MANAGED_SOURCE };
    const data = { changed: clock.wallTime().toISOString() };
    const before = await ifFound(api.get(this.source));
    this.#awaited = { digest: digestOf({ data, binaryData: {} }), sentAt: clock.now(), isShown: false };
    if (before === undefined) {
      await api.create({ metadata: { namespace, name: NAME, labels }, data });
    } else {
      const { resourceVersion, annotations: present = {} } = before.metadata;
      // Somebody's annotations might keep the companion from following.
      const ours = Object.keys(present).filter((key) => key.startsWith(`${vocabulary.domain}/`));
      const annotations = Object.fromEntries(ours.map((key) => [key, null]));
      await api.patch(this.source, {
        metadata: { resourceVersion, labels, annotations },
        // Somebody's own keys would be in the companion, too.
        data: inPlaceOf(before.data !== undefined, data),
        binaryData: inPlaceOf(before.binaryData !== undefined, {}),
      });
    }
  }

  #seen({ key, digest }: ObservedConfigMap): void {
    if (digest !== this.#awaited?.digest) return;
    if (key === this.source) this.#awaited.isShown = true;
    if (key !== this.#companion) return;
    const { clock } = this.#deps;
    this.#lastSeconds = (clock.now() - this.#awaited.sentAt) / 1000;
    this.#lastSuccess = clock.wallTime().getTime() / 1000;
    this.#awaited = undefined;
    this.#misses = 0;
  }
}

function isRefusal(happening: Happening): boolean {
  return happening.type === 'written' && happening.result === 'failed';
}

function isLeftAlone(happening: Happening): boolean {
  if (happening.type !== 'reconciled') return false;
  const { conflict, refused, waiting } = happening.companions;
  return happening.result === 'invalid' || (conflict ?? refused ?? waiting) !== undefined;
}
