import { createHash } from 'node:crypto';
import type { Content } from '../observe/content.ts';
import { digestOf } from '../observe/digest.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { MOST_PLACEHOLDERS } from '../observe/template-uses.ts';
import type { KeyGlobs } from '../request/patterns.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';
import { type Facts, factFor, type Origin, originOf, resolve, written } from './resolve.ts';
import { Templates } from './templates.ts';
import type { Values } from './values.ts';

/**
 * A content, rendered for one namespace. `digest`: its checksum (SPEC M4). `unresolved`: it cannot
 * be rendered there; in which key, and why (SPEC V4).
 */
export type Rendered =
  | { readonly digest: string; readonly unresolved?: never }
  | { readonly unresolved: string; readonly digest?: never };

/** Remembers what was rendered by what decides it. A `Map` will do. */
export interface RenderedMemo {
  get(key: string): Rendered | undefined;
  set(key: string, rendered: Rendered): unknown;
}

export interface RenderingInputs {
  /** The source and its revisions that companions may hold, each with what it would give them. */
  readonly bases: ReadonlyMap<ObservedConfigMap, Content>;
  readonly renderKeys: KeyGlobs;
  readonly sourceNamespace: string;
  readonly values: Values;
  /** The labels of a namespace; undefined: not known. */
  readonly labelsOf: (namespace: string) => StringMap | undefined;
  readonly memo: RenderedMemo;
  readonly vocabulary: Vocabulary;
}

/** Most bytes of all values of a ConfigMap: MaxSecretSize in Kubernetes' core/v1. */
const MOST_BYTES = 1024 * 1024;
/** Most unresolved placeholders that are named at once. */
const MOST_NAMED = 3;

interface Base {
  readonly templates: Templates;
  readonly digest: string;
  /** Stands for all that decides what is rendered, but for the namespace. */
  readonly common: string;
  readonly seen: Map<string, Rendered>;
}

/**
 * Renders the contents of one source for namespaces (SPEC V2-V5). The labels of a namespace are
 * those of the first question about it, so that all answers about it agree. A *base* is the source,
 * or a revision of it.
 */
export class Rendering {
  readonly #inputs: RenderingInputs;
  /** By digest: the same content may be observed again meanwhile. */
  readonly #bases: ReadonlyMap<string, Base>;
  readonly #facts = new Map<string, Facts>();
  /** Contents that somebody still holds: those of writes under way. */
  readonly #contents = new WeakMap<Rendered, WeakRef<Content>>();

  constructor(inputs: RenderingInputs) {
    const { bases, renderKeys, sourceNamespace, values } = inputs;
    this.#inputs = inputs;
    this.#bases = new Map(
      Array.from(bases, ([of, content]) => {
        const templates = new Templates(content, renderKeys);
        const { digest } = of;
        // The names of values are in what is said if one is missing.
        const from = values.from.map(({ key }) => key);
        const circumstances = [digest, templates.keys, sourceNamespace, from, values.version];
        const common = createHash('sha256').update(JSON.stringify(circumstances)).digest('base64');
        return [digest, { templates, digest, common, seen: new Map() }];
      }),
    );
  }

  /** Of the values that it was made from, see {@link Values}. */
  get valuesVersion(): string {
    return this.#inputs.values.version;
  }

  /**
   * What a companion there should hold; undefined: the content of the base is not known. Rendered
   * once for each distinct set of texts (SPEC V5).
   */
  in(namespace: string, of: ObservedConfigMap): Rendered | undefined {
    const base = this.#bases.get(of.digest);
    if (base === undefined) return undefined;
    const seen = base.seen.get(namespace) ?? this.#remembered(base, this.#factsOf(namespace));
    base.seen.set(namespace, seen);
    return seen;
  }

  /**
   * Namespaces with the same texts share one content, as long as somebody holds it.
   * @throws TypeError if it is unresolved there, or not known.
   */
  contentIn(namespace: string, of: ObservedConfigMap): Content {
    const base = this.#bases.get(of.digest);
    const rendered = this.in(namespace, of);
    if (base === undefined || rendered?.digest === undefined) {
      throw new TypeError(`nothing can be rendered for ${namespace}`);
    }
    const shared = this.#contents.get(rendered)?.deref();
    if (shared !== undefined) return shared;
    const { texts } = resolveAll(base.templates, this.#factsOf(namespace));
    const content = base.templates.filledWith(texts);
    this.#contents.set(rendered, new WeakRef(content));
    return content;
  }

  /** Of every placeholder, in the order of the text. `key`: of the text at one key. */
  originsIn(namespace: string, of: ObservedConfigMap, key?: string): readonly Origin[] {
    const facts = this.#factsOf(namespace);
    const names = this.#bases.get(of.digest)?.templates.placeholders(key) ?? [];
    return names.map((name) => originOf(name, facts));
  }

  #remembered(base: Base, facts: Facts): Rendered {
    const placeholders = base.templates.placeholders();
    if (placeholders.length > MOST_PLACEHOLDERS) return tooMany(base);
    const decisive = placeholders.flatMap((name) => factFor(name, facts) ?? []);
    const key = base.common + JSON.stringify(decisive);
    const known = this.#inputs.memo.get(key);
    if (known !== undefined) return known;
    const rendered = render(base, facts);
    this.#inputs.memo.set(key, rendered);
    return rendered;
  }

  #factsOf(namespace: string): Facts {
    const seen = this.#facts.get(namespace);
    if (seen !== undefined) return seen;
    const { labelsOf, sourceNamespace, values, vocabulary } = this.#inputs;
    const facts = { namespace, labels: labelsOf(namespace), sourceNamespace, values, vocabulary };
    this.#facts.set(namespace, facts);
    return facts;
  }
}

/** A source like that is invalid, but a revision may not have been rendered when it was kept. */
function tooMany({ templates }: Base): Rendered {
  const why = `an earlier content of the source has more than ${MOST_PLACEHOLDERS} different placeholders`;
  return { unresolved: `${inWords(templates.keys)}: ${why}` };
}

function inWords(keys: readonly string[]): string {
  return keys.slice(0, MOST_NAMED).join(', ');
}

function render({ templates, digest }: Base, facts: Facts): Rendered {
  if (templates.keys.length === 0) return { digest };
  const { texts, missing } = resolveAll(templates, facts);
  if (missing.size > 0) return { unresolved: listed(missing, templates) };
  const bytes = templates.bytesWith(texts);
  if (bytes > MOST_BYTES) {
    return {
      unresolved: `${inWords(templates.keys)}: the rendered content has ${bytes} bytes, more than the ${MOST_BYTES} of a ConfigMap`,
    };
  }
  return { digest: digestOf(templates.filledWith(texts)) };
}

function resolveAll(templates: Templates, facts: Facts) {
  const texts = new Map<string, string>();
  const missing = new Map<string, string>();
  for (const name of templates.placeholders()) {
    const { text, lack } = resolve(name, facts);
    if (lack === undefined) texts.set(name, text);
    else missing.set(name, lack.why);
  }
  return { texts, missing };
}

function listed(missing: ReadonlyMap<string, string>, templates: Templates): string {
  const all = templates.keys.flatMap((key) =>
    templates.placeholders(key).flatMap((name) => {
      const why = missing.get(name);
      return why === undefined ? [] : [`${key}: ${written(name)}: ${why}`];
    }),
  );
  const more = all.length - MOST_NAMED;
  return [...all.slice(0, MOST_NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
