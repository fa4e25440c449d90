import type { Happening } from '../controller/memory/happening.ts';
import type { Sources } from '../controller/sources.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Content } from '../mirror/observe/content.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Problems } from './problems.ts';
import { RESULTS } from './sender.ts';
import { Term, type TermDeps } from './term.ts';

export type NotifierDeps = Omit<TermDeps, 'sources' | 'problems' | 'count'> & { readonly metrics: Metrics };

/** Tells sinks what happens to sources, while this process may write (SPEC N). */
export class Notifier {
  readonly #deps: Omit<TermDeps, 'sources' | 'problems'>;
  readonly #problems = new Problems();
  #term: Term | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor({ metrics, ...deps }: NotifierDeps) {
    const names = deps.sinks.map(({ name }) => name);
    const counter = metrics.counter({
      name: 'mirror_notifications_total',
      help: 'Attempts to notify a sink: sent, failed (and retried), or dropped.',
      labels: { sink: names, result: RESULTS },
    });
    metrics.gauge({
      name: 'mirror_notifications_oldest_pending_seconds',
      help: 'Age of the oldest notification that waits for a sink; 0: none does.',
      label: 'sink',
      read: () => new Map(names.map((name) => [name, this.#oldestSeconds(name)])),
    });
    this.#deps = { ...deps, count: (sink, result) => counter.with(sink, result).inc() };
  }

  /** To be told all that happens. */
  readonly hear = (happening: Happening): void => {
    if (happening.type === 'problem') this.#problems.hear(happening);
    else if (happening.type === 'reconciled') this.#term?.hear(happening);
  };

  /** To be told of the data of sources. `before` undefined: it is not known. */
  readonly hearData = (source: ObjectKey, before: Content | undefined, after: Content): void =>
    this.#term?.contentChanged(source, before, after);

  /**
   * Notifies until `signal` aborts; what happens meanwhile is not missed. Begins when what it did
   * before has ended. Never rejects.
   */
  lead(sources: Sources, signal: AbortSignal): Promise<void> {
    const term = new Term({ ...this.#deps, sources, problems: this.#problems });
    this.#term = term;
    this.#ended = this.#ended.then(async () => {
      // A fault of this program. The next term may do better.
      await term.run(signal).catch((err) => this.#deps.log.error({ err }, 'notifications have failed'));
      if (this.#term === term) this.#term = undefined;
    });
    return this.#ended;
  }

  #oldestSeconds(sink: string): number {
    const oldest = this.#term?.oldest(sink) ?? Number.POSITIVE_INFINITY;
    return Math.max(0, (this.#deps.clock.wallTime().getTime() - oldest) / 1000);
  }
}
