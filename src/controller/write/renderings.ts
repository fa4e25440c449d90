import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock/clock.ts';
import { TurnBudget } from '../../clock/turn-budget.ts';
import type { Content } from '../../mirror/observe/content.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { basesOf } from '../../mirror/plan/desired.ts';
import { desiredNamespaces } from '../../mirror/plan/placement.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import { type Rendered, Rendering } from '../../mirror/render/rendering.ts';
import { observedValues, valuesKeys, valuesVersion } from '../../mirror/render/values.ts';
import type { SourceBodies } from './source-bodies.ts';

export interface RenderingsDeps {
  readonly view: ClusterView;
  readonly bodies: SourceBodies;
  readonly clock: Clock;
}

/** Maximum size (bytes) of the remembered checksums, roughly: about 30,000 of them. */
const MEMO_BYTES = 8 * 1024 * 1024;
/** Rough size (bytes) of one without its key. */
const RENDERED_BYTES = 200;

/**
 * Renders the content of sources for the namespaces that they target, before they are planned, so
 * that plans are synchronous. It remembers checksums, and no content: a pass over companions in
 * sync renders nothing, and what is written is rendered for the write. Forgotten ones are rendered
 * again.
 */
export class Renderings {
  readonly #deps: RenderingsDeps;
  readonly #memo = new LRUCache<string, Rendered>({
    maxSize: MEMO_BYTES,
    sizeCalculation: (_, key) => key.length + RENDERED_BYTES,
  });

  /** Shared, since many small sources in a row hold the event loop as long as a large one. */
  readonly #turns: TurnBudget;

  constructor(deps: RenderingsDeps) {
    this.#deps = deps;
    this.#turns = new TurnBudget(deps.clock);
  }

  /**
   * Undefined: the source has nothing to render. Takes turns of the event loop of about 10 ms.
   * @throws StaleSourceError if the source or a ConfigMap with its values has changed since it was
   * observed, or what the API throws.
   */
  async prepare(source: ObservedConfigMap): Promise<Rendering | undefined> {
    if (!source.request?.ok || source.request.value.uses === undefined) return undefined;
    const { view, bodies } = this.#deps;
    const { renderKeys } = source.request.value;
    const version = valuesVersion(source, view);
    const bases = basesOf(source, source.request.value, view);
    const [contents, values] = await Promise.all([
      Promise.all(bases.map((base) => bodies.content(base, base !== source))),
      Promise.all(observedValues(source, view).map((object) => object && bodies.content(object))),
    ]);
    // It parses all texts.
    const rendering = await this.#turns.take(
      () =>
        new Rendering({
          bases: new Map(bases.map((base, at) => [base, contents[at] ?? NOTHING])),
          renderKeys,
          sourceNamespace: source.namespace,
          values: { from: valuesKeys(source).map((key, at) => ({ key, content: values[at] })), version },
          labelsOf: (namespace) => view.namespace(namespace)?.labels,
          memo: this.#memo,
          vocabulary: view.settings.vocabulary,
        }),
    );
    const namespaces = [...desiredNamespaces(source, source.request.value, view)];
    for (const base of bases) await this.#turns.each(namespaces, (name) => rendering.in(name, base));
    return rendering;
  }

  /** The same without a read: undefined also if the cache lacks what would have to be read. */
  async prepareFromCache(source: ObservedConfigMap): Promise<Rendering | undefined> {
    const { view, bodies } = this.#deps;
    const bases = source.request?.ok ? basesOf(source, source.request.value, view) : [];
    const isCached =
      bases.every((base) => bodies.has(base, base !== source)) &&
      observedValues(source, view).every((object) => object === undefined || bodies.has(object, false));
    return isCached ? this.prepare(source) : undefined;
  }
}

const NOTHING: Content = { data: {}, binaryData: {} };
