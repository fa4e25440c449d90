import { expect } from 'vitest';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Facts, factsOf } from './expected-companion.ts';
import { type Action, type Ask, MARK_TAMPERINGS } from './history.ts';
import { copiedDataIfValid, Model, type ModelSource, type ModelValues } from './model.ts';
import { tamper } from './tampering.ts';
import type { World } from './world.ts';

/** The controller that a history is played on. The namespace `denied` is denied to it. */
export interface Mirror {
  /** How long (ms) it may take until all is as the model says; only a failure waits so long. */
  readonly deadlineMs: number;
  /** Idempotent. */
  start(): void;
  /** Idempotent. */
  stop(): Promise<void>;
  /** Waits until it has seen all earlier changes, and has done what there is to do. */
  settle(): Promise<void>;
  /** Somebody releases what it holds. Absent: it has no brake. */
  readonly release?: (() => Promise<void>) | undefined;
  /** Its next write gets no answer. */
  silence(): void;
}

/** Namespaces that exist from the start. */
export const HOMES = ['home', 'base', 'denied'];

/** Carries out the actions of a history, and says what should exist then. */
export class Player {
  readonly #world: World;
  readonly #model: Model;
  readonly #mirror: Mirror;

  /** `world`: with {@link HOMES}. */
  constructor(world: World, mirror: Mirror) {
    this.#world = world;
    this.#mirror = mirror;
    this.#model = new Model(world.domain, world.place.prefix);
    for (const name of HOMES) this.#model.namespaces.set(name, { env: '', consent: undefined });
  }

  async act(action: Action): Promise<void> {
    const isMark = action.do === 'tamper' && MARK_TAMPERINGS.some((how) => how === action.how);
    // A request to retain may come before or after an earlier delete, so settle first.
    // What cannot be rendered stays as it is, so the controller must have seen how it is.
    if (isMark || asksToRetain(action) || this.#mayUnresolve(action)) await this.settle();
    await this.#carryOut(action);
    // If the past counts, it must be settled. A stop lasts for one more action.
    if (isMark || (this.#model.remembers && action.do !== 'stop')) await this.settle();
  }

  /** Compares with the model. */
  async settle(): Promise<void> {
    this.#mirror.start();
    await this.#matches();
    await this.#mirror.settle();
    this.#model.settled = await this.#matches();
  }

  /** Releases what is held until nothing is, and exactly what is wanted exists. */
  async releaseAll(): Promise<void> {
    await waitFor(
      async () => {
        await this.#mirror.release?.();
        await this.#compare({ isHeldAllowed: false });
        return true;
      },
      {
        deadlineMs: 2 * this.#mirror.deadlineMs,
        describe: () => `nothing held; ${this.#world.whatWasLogged()}`,
      },
    );
  }

  async #carryOut(action: Action): Promise<void> {
    switch (action.do) {
      case 'create':
        return this.#create(action);
      case 'recreate':
        await this.#delete(action.source);
        if (asksToRetain(action) || this.#mayUnresolve(action)) await this.settle();
        return this.#create(action);
      case 'edit':
        return this.#edit(action.source, (source) => ({ ...source, data: action.data }));
      case 'ask':
        return this.#edit(action.source, (source) =>
          source.labelled ? { ...source, ask: { ...source.ask, ...action.ask } } : source,
        );
      case 'label':
      case 'unlabel':
        return this.#edit(action.source, (source) => ({ ...source, labelled: action.do === 'label' }));
      case 'delete':
        return this.#delete(action.source);
      case 'tamper':
        return this.#tamper(action);
      case 'values':
        return this.#setValues(action);
      case 'block':
        return this.#block(action);
      case 'unblock':
        return this.#unblock(action.blocker);
      case 'namespace':
      case 'consent':
        return this.#changeNamespace(action);
      case 'delete namespace':
        return this.#deleteNamespace(action.name);
      case 'stop':
        return this.#mirror.stop();
      case 'restart':
        await this.#mirror.stop();
        return this.#mirror.start();
      case 'settle':
        return this.settle();
      case 'release':
        return this.#mirror.release?.();
      case 'silence':
        return this.#mirror.silence();
    }
  }

  /** Whether there may be a placeholder afterwards that cannot be resolved. */
  #mayUnresolve(action: Action): boolean {
    const sources = [...this.#model.sources.values()];
    if ('ask' in action && action.ask.renderKeys !== undefined) return true;
    if (!sources.some(({ ask }) => ask.renderKeys !== undefined)) return false;
    switch (action.do) {
      case 'values':
        return !action.labelled || action.data?.['x'] === undefined || action.data?.['y'] === undefined;
      case 'namespace':
        return action.env === '';
      case 'create':
      case 'recreate':
      case 'edit':
        return Object.values(action.data).some((text) => text.includes('$('));
      default:
        return ['ask', 'label', 'consent', 'unblock'].includes(action.do);
    }
  }

  async #setValues({ name, data, labelled }: Extract<Action, { do: 'values' }>): Promise<void> {
    const key = this.#world.full(`home/${name}`);
    const before = this.#model.values.get(name);
    if (data === undefined) {
      this.#model.values.delete(name);
      return this.#world.person.delete(key);
    }
    const values = this.#writtenValues(name, { data, labelled });
    this.#model.values.set(name, { data, labelled });
    if (before === undefined) await this.#world.person.create(values);
    else {
      await this.#world.person.edit(key, (there) => ({
        ...there,
        data,
        metadata: { ...there.metadata, labels: values.metadata.labels },
      }));
    }
  }

  #writtenValues(name: string, { data, labelled }: ModelValues) {
    const labels = labelled ? this.#world.ours({ managed: 'values' }) : {};
    return { metadata: { namespace: this.#world.full('home'), name, labels }, data };
  }

  async #create({ source: key, data, ask }: Extract<Action, { do: 'create' | 'recreate' }>): Promise<void> {
    const source = { key, data, ask, labelled: true, uid: '' };
    if (this.#model.sources.has(key) || isRefused(source)) return;
    try {
      const { metadata } = await this.#world.person.create(this.#written(source));
      this.#model.sources.set(key, { ...source, uid: metadata.uid });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #edit(key: string, change: (source: ModelSource) => ModelSource): Promise<void> {
    const source = this.#model.sources.get(key);
    if (source === undefined) return;
    const changed = change(source);
    if (isRefused(changed)) return;
    const { data, metadata } = this.#written(changed);
    await this.#world.person.edit(this.#world.full(key), (there) => ({
      ...there,
      data,
      metadata: { ...there.metadata, labels: metadata.labels, annotations: metadata.annotations },
    }));
    this.#model.sources.set(key, changed);
  }

  async #delete(key: string): Promise<void> {
    if (!this.#model.sources.delete(key)) return;
    await this.#world.person.delete(this.#world.full(key));
  }

  #written({ key, data, ask, labelled }: ModelSource) {
    const [namespace = '', name = ''] = key.split('/');
    return {
      metadata: {
        namespace: this.#world.full(namespace),
        name,
        labels: { team: 'red', ...(labelled ? this.#world.ours({ managed: 'true' }) : {}) },
        annotations: this.#world.ours(this.#annotations(ask)),
      },
      data,
    };
  }

  #factsOfSource(source: ModelSource): Facts {
    const { data, metadata } = this.#written(source);
    const { labels, annotations } = metadata;
    return { data, binaryData: {}, labels, annotations, owners: [] };
  }

  #annotations({
    deleteAfter,
    targets,
    selector,
    companionName,
    includeKeys,
    renameKeys,
    renderKeys,
    valuesFrom,
    copyLabels,
    policy,
  }: Ask) {
    const inWorld = targets?.replaceAll(/[a-z]+(-[a-z*])?/g, (name) => this.#world.full(name));
    const all = {
      'target-namespaces': inWorld,
      'target-namespace-selector': selector,
      'companion-name': companionName,
      'include-keys': includeKeys,
      'rename-keys': renameKeys,
      'render-keys': renderKeys,
      'values-from': valuesFrom,
      'copy-labels': copyLabels,
      'deletion-policy': policy,
      'delete-after': deleteAfter,
    };
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }

  async #tamper({ companion, how }: Extract<Action, { do: 'tamper' }>): Promise<void> {
    const { sources, blockers, settled } = this.#model;
    const unresolved = this.#model.unresolved();
    const keys = [...this.#model.claims()].flatMap(([key, claimants]) => {
      const holder = settled.get(key)?.source;
      const isOurs = holder === undefined || claimants.some((source) => source.key === holder);
      return isOurs && !sources.has(key) && !blockers.has(key) && !unresolved.has(key) ? [key] : [];
    });
    const key = keys[companion % Math.max(1, keys.length)];
    if (key !== undefined) await tamper(this.#world, key, how);
  }

  async #block({ key, labelled }: Extract<Action, { do: 'block' }>): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    if (!this.#model.namespaces.has(namespace) || this.#model.sources.has(key)) return;
    const labels = labelled ? this.#world.ours({ managed: 'companion' }) : { team: 'blue' };
    try {
      const there = await this.#world.person.create({
        metadata: { namespace: this.#world.full(namespace), name, labels },
        data: { foreign: 'yes' },
      });
      this.#model.blockers.set(key, factsOf(there));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #unblock(blocker: number): Promise<void> {
    const keys = [...this.#model.blockers.keys()];
    const key = keys[blocker % Math.max(1, keys.length)];
    if (key === undefined) return;
    this.#model.blockers.delete(key);
    await this.#world.person.delete(this.#world.full(key));
  }

  async #changeNamespace(action: Extract<Action, { do: 'namespace' | 'consent' }>): Promise<void> {
    const { name } = action;
    const before = this.#model.namespaces.get(name);
    if (before === undefined) {
      if (action.do === 'consent') return;
      // Created complete: a companion that is wanted for a moment may be retained.
      await this.#world.createNamespace(name, action.env === '' ? {} : { labels: { env: action.env } });
      this.#model.namespaces.set(name, { env: action.env, consent: undefined });
      return;
    }
    const { env, consent } = {
      ...before,
      ...(action.do === 'consent' ? { consent: action.to } : { env: action.env }),
    };
    const metadata = {
      labels: { env: env === '' ? null : env },
      annotations: {
        [`${this.#world.domain}/accept-mirrors-from`]:
          consent?.replaceAll(/[a-z]+/g, (word) => this.#world.full(word)) ?? null,
      },
    };
    await this.#world.person.patchNamespace(this.#world.full(name), { metadata });
    this.#model.namespaces.set(name, { env, consent });
  }

  async #deleteNamespace(name: string): Promise<void> {
    if (!this.#model.namespaces.delete(name)) return;
    for (const key of [...this.#model.blockers.keys()]) {
      if (key.startsWith(`${name}/`)) this.#model.blockers.delete(key);
    }
    await this.#world.person.deleteNamespace(this.#world.full(name));
    const there = () => this.#world.person.namespace(this.#world.full(name));
    await waitFor(async () => (await there()) === undefined, { deadlineMs: this.#mirror.deadlineMs });
  }

  /** Waits until exactly what the model says exists; resolves to the companions. */
  #matches(): Promise<Model['settled']> {
    const { deadlineMs, release } = this.#mirror;
    return waitFor(() => this.#compare({ isHeldAllowed: release !== undefined }), {
      deadlineMs,
      describe: () => `what the model says; ${this.#world.whatWasLogged()}`,
    });
  }

  async #compare({ isHeldAllowed }: { isHeldAllowed: boolean }): Promise<Model['settled']> {
    const there = await this.#there();
    const isHeld = (key: string) => {
      const facts = there.get(key);
      if (facts?.annotations[`${this.#world.domain}/held`] === undefined) return false;
      return isHeldAllowed && this.#model.mayBeHeld(key, facts);
    };
    const optional = this.#model.optional();
    const expected = [...this.#model.expected()].filter(
      ([key]) => !isHeld(key) && (!optional.has(key) || there.has(key)),
    );
    const others = [...there.keys()].filter((key) => !isHeld(key));
    expect(others.sort()).toEqual(expected.map(([key]) => key).sort());
    for (const [key, alternatives] of expected) expect(alternatives, key).toContainEqual(there.get(key));
    return this.#companionsAmong(there);
  }

  /** Every ConfigMap except sources. Those are checked here: nobody may have changed them. */
  async #there(): Promise<ReadonlyMap<string, Facts>> {
    const namespaces = [...this.#model.namespaces.keys()];
    const lists = await Promise.all(
      namespaces.map((name) => this.#world.person.configMaps(this.#world.full(name))),
    );
    const there = new Map<string, Facts>();
    for (const object of lists.flat()) {
      const { namespace, name } = object.metadata;
      const key = `${namespace}/${name}`.slice(this.#world.place.prefix.length);
      const source = this.#model.sources.get(key);
      const values = this.#model.values.get(key.replace(/^home\//, ''));
      if (values !== undefined) {
        const { metadata, data } = this.#writtenValues(name, values);
        const { labels } = metadata;
        expect(factsOf(object)).toEqual({ data, binaryData: {}, labels, annotations: {}, owners: [] });
      } else if (source !== undefined) expect(factsOf(object)).toEqual(this.#factsOfSource(source));
      else if (!name.startsWith('barrier') && name !== 'kube-root-ca.crt')
        there.set(key, withoutForeign(factsOf(object)));
    }
    return there;
  }

  #companionsAmong(there: ReadonlyMap<string, Facts>): Model['settled'] {
    const { domain, place } = this.#world;
    return new Map(
      [...there].flatMap(([key, facts]) => {
        const source = facts.annotations[`${domain}/source`]?.slice(place.prefix.length);
        return source === undefined ? [] : [[key, { source, facts }] as const];
      }),
    );
  }
}

function asksToRetain(action: Action): boolean {
  return 'ask' in action && action.ask.policy === 'retain';
}

/** An invalid request (SPEC R13) leaves everything as it happens to be. */
function isRefused(source: ModelSource): boolean {
  const { key, ask } = source;
  return ask.companionName === key.split('/')[1] || copiedDataIfValid(source) === undefined;
}

/** What others put on a companion stays on it. The model ignores that. */
function withoutForeign(facts: Facts): Facts {
  const own = (entries: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(entries).filter(([key]) => key !== 'foreign'));
  return { ...facts, labels: own(facts.labels), annotations: own(facts.annotations) };
}
