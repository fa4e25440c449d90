import type { ConfigMap } from '../../src/kube/api/types.ts';
import { expectedCompanion, type Facts } from './expected-companion.ts';
import type { Ask, Data } from './history.ts';

/**
 * What should exist by SPEC, without the code under test, for the few things that a history can do.
 * Names of namespaces and keys are short, without the prefix of the world.
 */
export interface ModelSource {
  readonly key: string;
  readonly data: Data;
  readonly ask: Ask;
  readonly labelled: boolean;
  /** As the server made it. */
  readonly uid: string;
}

/** A ConfigMap of `home` that sources may take values from. */
export interface ModelValues {
  readonly data: Data;
  readonly labelled: boolean;
}

export interface ModelNamespace {
  readonly env: string;
  readonly consent: string | undefined;
}

/** A companion that existed when all was last settled. */
export interface SettledCompanion {
  /** Key of its source. */
  readonly source: string;
  readonly facts: Facts;
}

export class Model {
  readonly sources = new Map<string, ModelSource>();
  readonly namespaces = new Map<string, ModelNamespace>();
  /** By name. */
  readonly values = new Map<string, ModelValues>();
  /** ConfigMaps of others, by key, as they wrote them. */
  readonly blockers = new Map<string, Facts>();
  settled: ReadonlyMap<string, SettledCompanion> = new Map();
  readonly #domain: string;
  readonly #prefix: string;

  constructor(domain: string, prefix: string) {
    this.#domain = domain;
    this.#prefix = prefix;
  }

  /** Whether what happens next depends on what exists now, not only on what is requested. */
  get remembers(): boolean {
    const policy = `${this.#domain}/deletion-policy`;
    return (
      [...this.sources.values()].some(({ ask }) => ask.policy === 'retain') ||
      [...this.settled.values()].some(({ facts }) => facts.annotations[policy] === 'retain') ||
      this.unresolved().size > 0
    );
  }

  /** Keys at which a source asks for a companion that cannot be rendered (SPEC V4). */
  unresolved(): ReadonlySet<string> {
    const keys = [...this.claims()].flatMap(([key, claimants]) =>
      claimants.some((source) => this.companionOf(source, key) === undefined) ? [key] : [],
    );
    return new Set(keys);
  }

  /** By key: the sources that ask for a companion there and may have it. */
  claims(): ReadonlyMap<string, readonly ModelSource[]> {
    const claims = new Map<string, ModelSource[]>();
    for (const source of this.sources.values()) {
      if (!source.labelled) continue;
      for (const namespace of this.#namespacesOf(source)) {
        const key = `${namespace}/${companionName(source, this.#prefix)}`;
        if (key !== source.key) claims.set(key, [...(claims.get(key) ?? []), source]);
      }
    }
    return claims;
  }

  /**
   * By key, what may exist there; of several facts any one. Nothing else may exist. Sources are not
   * in it, and nothing else may be at their keys.
   */
  expected(): ReadonlyMap<string, readonly Facts[]> {
    const expected = new Map<string, readonly Facts[]>();
    for (const [key, claimants] of this.claims()) {
      if (this.sources.has(key)) continue;
      const holder = this.settled.get(key);
      const kept = holder && this.#isKept(key, holder);
      if (kept && !claimants.some((source) => source.key === holder.source))
        expected.set(key, [holder.facts]);
      else expected.set(key, this.#outcomes(key, claimants));
    }
    for (const [key, holder] of this.settled) {
      if (!expected.has(key) && !this.sources.has(key) && this.#isKept(key, holder)) {
        expected.set(key, [holder.facts]);
      }
    }
    for (const [key, facts] of this.blockers) expected.set(key, [facts]);
    return new Map([...expected].filter(([, facts]) => facts.length > 0));
  }

  /** Whether a companion may be held at the key (SPEC D1): its source must not want it. */
  mayBeHeld(key: string, facts: Facts): boolean {
    const source = facts.annotations[`${this.#domain}/source`]?.slice(this.#prefix.length);
    const claimants = this.claims().get(key) ?? [];
    return source?.startsWith('home/') === true && !claimants.some((claimant) => claimant.key === source);
  }

  /**
   * Keys of {@link Model.expected} at which there may be nothing, too: a source that cannot be
   * rendered may come first and keep the name free.
   */
  optional(): ReadonlySet<string> {
    const claims = this.claims();
    return new Set([...this.unresolved()].filter((key) => !this.#holderAmong(claims.get(key) ?? [], key)));
  }

  #outcomes(key: string, claimants: readonly ModelSource[]): readonly Facts[] {
    const holder = this.#holderAmong(claimants, key);
    if (holder !== undefined && this.companionOf(holder, key) === undefined) {
      return [this.settled.get(key)?.facts].filter((facts) => facts !== undefined);
    }
    return claimants.flatMap((source) => this.companionOf(source, key) ?? []);
  }

  #holderAmong(claimants: readonly ModelSource[], key: string): ModelSource | undefined {
    return claimants.find((source) => source.key === this.settled.get(key)?.source);
  }

  /** Undefined: it cannot be rendered. */
  companionOf(source: ModelSource, key: string): Facts | undefined {
    const { ask } = source;
    const data = this.#rendered(source, key.split('/')[0] ?? '');
    if (data === undefined) return undefined;
    const full = this.#prefix + source.key;
    const [namespace = '', name = ''] = full.split('/');
    const copies = ask.copyLabels === 'team';
    return expectedCompanion({
      domain: this.#domain,
      source: { metadata: { namespace, name, uid: source.uid } } as ConfigMap,
      key: this.#prefix + key,
      data,
      binaryData: {},
      retained: ask.policy === 'retain',
      ...(copies && { labels: { team: 'red' } }),
      annotations: {
        ...(copies && { [`${this.#domain}/copied-metadata`]: '{"labels":["team"],"annotations":[]}' }),
        ...(ask.deleteAfter && { [`${this.#domain}/delete-after`]: ask.deleteAfter }),
      },
    });
  }

  #rendered(source: ModelSource, namespace: string): Data | undefined {
    const { renderKeys, valuesFrom } = source.ask;
    const own = source.key.split('/')[0] ?? '';
    const maps = (valuesFrom?.split(',') ?? []).map((name) => {
      const found = own === 'home' ? this.values.get(name) : undefined;
      return found?.labelled ? found.data : undefined;
    });
    const values = maps.length === 0 || maps.includes(undefined) ? {} : Object.assign({}, ...maps);
    const texts: Readonly<Record<string, string | undefined>> = {
      namespace: this.#prefix + namespace,
      'source-namespace': this.#prefix + own,
      'label.env': this.namespaces.get(namespace)?.env || undefined,
      'value.x': values.x,
      'value.y': values.y,
    };
    let isWhole = true;
    const rendered = Object.entries(copiedData(source)).map(([key, text]) => {
      if (!isRendered(key, renderKeys)) return [key, text];
      // A function, because "$" means something in a text to replace by.
      const filled = text.replace(/\$\(mirror\.([^)\n]*)\)/g, (_, name: string) => {
        isWhole &&= texts[name] !== undefined;
        return texts[name] ?? '';
      });
      return [key, filled];
    });
    return isWhole ? Object.fromEntries(rendered) : undefined;
  }

  #namespacesOf(source: ModelSource): readonly string[] {
    const { targets, selector } = source.ask;
    const own = source.key.split('/')[0] ?? '';
    if (targets === undefined && selector === undefined) return [own];
    return [...this.namespaces].flatMap(([name, { env, consent }]) => {
      const listed = targets !== undefined && LISTS[targets]?.(name);
      const selected = selector !== undefined && SELECTORS[selector]?.(env);
      const excluded = targets === '*,!team-a' && name === 'team-a';
      if ((!listed && !selected) || excluded) return [];
      return name === own || (name !== 'denied' && accepts(consent, own)) ? [name] : [];
    });
  }

  /** Whether a companion that its source does not ask for is retained (SPEC R4). */
  #isKept(key: string, { source: sourceKey, facts }: SettledCompanion): boolean {
    const namespace = key.split('/')[0] ?? '';
    const observed = this.namespaces.get(namespace);
    if (observed === undefined) return false;
    const from = sourceKey.split('/')[0] ?? '';
    if (namespace !== from && !accepts(observed.consent, from)) return false;
    const source = this.sources.get(sourceKey);
    // That of a companion counts if its source is gone, or is not the one that it was made for.
    const isOfThis = facts.annotations[`${this.#domain}/source-uid`] === source?.uid;
    const isRetained = facts.annotations[`${this.#domain}/deletion-policy`] === 'retain';
    return source?.ask.policy === 'retain' || (isRetained && !isOfThis);
  }
}

/** Under the keys of the companion; undefined: the request is invalid (SPEC V1, R13). */
export function copiedDataIfValid({ data, ask }: ModelSource): Data | undefined {
  const selected = Object.keys(data).filter((name) => isSelected(name, ask));
  if (selected.length === 0 && Object.keys(data).length > 0) return undefined;
  const renames = new Map(
    (ask.renameKeys?.split(',') ?? []).map((each) => each.split('=') as [string, string]),
  );
  if ([...renames.keys()].some((name) => !selected.includes(name))) return undefined;
  const names = selected.map((name) => renames.get(name) ?? name);
  if (new Set(names).size < names.length) return undefined;
  return Object.fromEntries(selected.map((name, at) => [names[at] ?? '', data[name] ?? '']));
}

function copiedData(source: ModelSource): Data {
  const data = copiedDataIfValid(source);
  if (data === undefined) throw new Error('an invalid request has no model');
  return data;
}

function isRendered(key: string, renderKeys: string | undefined): boolean {
  if (renderKeys === undefined) return false;
  return renderKeys === '*' || (renderKeys === 'k*' ? key.startsWith('k') : key === renderKeys);
}

function isSelected(name: string, { includeKeys }: Ask): boolean {
  if (includeKeys === undefined) return true;
  return includeKeys === 'k*' ? name.startsWith('k') : name === 'k1';
}

function companionName({ key, ask }: ModelSource, prefix: string): string {
  const [namespace, name] = key.split('/');
  if (ask.companionName === undefined) return `${name}-synced`;
  return ask.companionName === '{namespace}-{name}' ? `${prefix}${namespace}-${name}` : ask.companionName;
}

const LISTS: Readonly<Record<string, (name: string) => boolean>> = {
  'team-*': (name) => name.startsWith('team-'),
  'team-a,team-b': (name) => name === 'team-a' || name === 'team-b',
  '*': () => true,
  '*,!team-a': (name) => name !== 'team-a',
  home: (name) => name === 'home',
  'denied,team-c': (name) => name === 'denied' || name === 'team-c',
};

const SELECTORS: Readonly<Record<string, (env: string) => boolean>> = {
  'env=dev': (env) => env === 'dev',
  'env in (dev,qa)': (env) => env === 'dev' || env === 'qa',
  '!env': (env) => env === '',
  'env!=dev': (env) => env !== 'dev',
};

function accepts(consent: string | undefined, from: string): boolean {
  if (consent === undefined || consent === '*' || consent === from) return true;
  return consent === 'h*' && from === 'home';
}
