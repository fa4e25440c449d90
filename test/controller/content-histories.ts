import fc from 'fast-check';
import { expect } from 'vitest';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { ContentModel } from './content-model.ts';
import { fastClock } from './fast-clock.ts';
import { revisionOf, shortOf } from './rolling.ts';
import type { RunningController } from './running-controller.ts';
import { World } from './world.ts';

const CONTENTS = ['a', 'b', 'c', 'd'];
const VALUES = ['x', 'y'];
const content = fc.constantFrom(...CONTENTS);
const perhaps = fc.option(content, { nil: undefined, freq: 2 });
const name = fc.constantFrom('qa-a', 'qa-b', 'team-a', 'team-b');

type Action =
  | { readonly do: 'edit'; readonly to: string }
  | { readonly do: 'pin' | 'approve'; readonly to: string | undefined }
  | { readonly do: 'keep'; readonly count: number | undefined }
  | { readonly do: 'canary'; readonly on: boolean }
  | { readonly do: 'tamper' | 'delete' | 'condemn' | 'namespace'; readonly name: string }
  | { readonly do: 'delete revision'; readonly of: string }
  | { readonly do: 'value'; readonly to: string | undefined }
  | { readonly do: 'stop' | 'start' }
  | { readonly do: 'fault'; readonly kind: 'no-answer' | 'lost-reply' };

const weighted = <T extends Action>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const action: fc.Arbitrary<Action> = fc.oneof(
  weighted(6, fc.record({ do: fc.constant('edit' as const), to: content })),
  weighted(3, fc.record({ do: fc.constantFrom('pin' as const, 'approve' as const), to: perhaps })),
  weighted(1, fc.record({ do: fc.constant('keep' as const), count: fc.constantFrom(undefined, 1, 2, 3) })),
  weighted(2, fc.record({ do: fc.constant('canary' as const), on: fc.boolean() })),
  weighted(
    4,
    fc.record({
      do: fc.constantFrom('tamper' as const, 'delete' as const, 'condemn' as const, 'namespace' as const),
      name,
    }),
  ),
  weighted(2, fc.record({ do: fc.constant('delete revision' as const), of: content })),
  weighted(3, fc.record({ do: fc.constant('value' as const), to: fc.constantFrom(...VALUES, undefined) })),
  weighted(3, fc.record({ do: fc.constantFrom('stop' as const, 'start' as const) })),
  weighted(
    1,
    fc.record({
      do: fc.constant('fault' as const),
      kind: fc.constantFrom('no-answer' as const, 'lost-reply' as const),
    }),
  ),
);

/** Which contents have a placeholder: none, some or all. */
const templates = fc.constantFrom([], ['a', 'b'], CONTENTS);

/**
 * Random histories of one source that keeps revisions, with pins, a canary and values. What is done while
 * the controller is stopped meets the next one all at once. A failure prints seed and history.
 */
export function checkContentHistories(server: TestServer, runs: number): Promise<void> {
  const histories = fc.array(action, { minLength: 4, maxLength: 16 });
  const property = fc.asyncProperty(histories, templates, (...all) => play(server, ...all));
  return fc.assert(property, { numRuns: runs, endOnFailure: true });
}

async function play(
  server: TestServer,
  history: readonly Action[],
  withPlaceholder: readonly string[],
): Promise<void> {
  await using world = await World.open(server, ['qa-a', 'team-a', 'team-b']);
  await using proxy = await startFaultProxy({ upstream: world.place.access, tls: false });
  const player = new Player(world, proxy, withPlaceholder);
  await player.begin();
  await player.settle();
  for (const each of history) await player.act(each);
  await player.settle();
}

class Player {
  readonly #world: World;
  readonly #proxy: FaultProxy;
  readonly #model: ContentModel;
  #controller: RunningController | undefined;

  constructor(world: World, proxy: FaultProxy, withPlaceholder: readonly string[]) {
    this.#world = world;
    this.#proxy = proxy;
    this.#model = new ContentModel(withPlaceholder);
  }

  async begin(): Promise<void> {
    const metadata = { namespace: this.#world.full('home'), name: 'options' };
    const labels = this.#world.ours({ managed: 'values' });
    await this.#world.person.create({ metadata: { ...metadata, labels }, data: this.#values() });
    await this.#world.createSource({ data: this.#data(this.#model.content), asks: this.#asks() });
  }

  #data(content: string): StringMap {
    return { content: this.#model.texts(content).template };
  }

  #values(): StringMap {
    const { value } = this.#model;
    return value === undefined ? {} : { v: value };
  }

  #asks(): StringMap {
    const { keep, pin, canary, approved } = this.#model;
    const full = (short: string) => this.#world.full(short);
    return {
      'render-keys': '*',
      'values-from': 'options',
      'target-namespaces': `${full('qa-*')},${full('team-*')}`,
      ...(keep !== undefined && { 'keep-revisions': String(keep) }),
      ...(pin !== undefined && { pin: shortOf(this.#data(pin)) }),
      ...(canary && { canary: full('qa-*'), 'canary-bake': 'manual' }),
      ...(approved !== undefined && { 'canary-approve': shortOf(this.#data(approved)) }),
    };
  }

  async act(action: Action): Promise<void> {
    await this.#carryOut(action);
    const isRunning = this.#controller !== undefined || action.do === 'start';
    if (isRunning && action.do !== 'fault') await this.settle();
  }

  async settle(): Promise<void> {
    this.#controller ??= this.#world.start(
      {},
      { clock: fastClock(50), cluster: { server: this.#proxy.url } },
    );
    this.#model.settle();
    await this.#matches();
    await this.#world.settle(this.#controller, { namespaces: true });
    await this.#matches();
  }

  async #carryOut(action: Action): Promise<void> {
    const model = this.#model;
    switch (action.do) {
      case 'edit':
        model.content = action.to;
        return this.#writeSource();
      case 'pin':
        model.pin = action.to;
        return this.#writeSource();
      case 'approve':
        model.approved = action.to;
        return this.#writeSource();
      case 'keep':
        model.keep = action.count;
        return this.#writeSource();
      case 'canary':
        model.canary = action.on;
        return this.#writeSource();
      case 'value':
        model.value = action.to;
        await this.#world.person.edit(this.#world.full('home/options'), (values) => ({
          ...values,
          data: this.#values(),
        }));
        return;
      case 'delete revision':
        if (!model.kept.delete(action.of)) return;
        return this.#world.person.delete(this.#world.full(revisionOf(this.#data(action.of))));
      case 'stop':
        await this.#controller?.stop();
        this.#controller = undefined;
        return;
      case 'fault': {
        const match = { method: ['POST', 'PATCH', 'DELETE'], path: /\/configmaps\/?.*/ };
        this.#proxy.inject({ match, fault: { kind: action.kind }, times: 1 });
        return;
      }
      case 'start':
        return;
      case 'namespace':
        return this.#toggleNamespace(action.name);
      default:
        return this.#meddle(action);
    }
  }

  async #writeSource(): Promise<void> {
    const annotations = this.#world.ours(this.#asks());
    const data = this.#data(this.#model.content);
    await this.#world.person.edit(this.#world.full('home/colors'), (source) => ({
      ...source,
      data,
      metadata: { ...source.metadata, annotations },
    }));
  }

  async #toggleNamespace(short: string): Promise<void> {
    const { namespaces } = this.#model;
    const full = this.#world.full(short);
    if (!namespaces.delete(short)) {
      namespaces.add(short);
      return this.#world.createNamespace(short);
    }
    await this.#world.person.deleteNamespace(full);
    await waitFor(async () => (await this.#world.person.namespace(full)) === undefined);
  }

  async #meddle({ do: what, name: short }: Extract<Action, { readonly name: string }>): Promise<void> {
    const { companions } = this.#model;
    const held = companions.get(short);
    if (held === undefined) return;
    // While the controller is stopped, what should exist may not be there yet.
    if ((await this.#world.configMap(`${short}/colors-synced`)) === undefined) return;
    const key = this.#world.full(`${short}/colors-synced`);
    const { person } = this.#world;
    if (what === 'delete') {
      companions.delete(short);
      await person.delete(key);
    }
    if (what === 'tamper') {
      companions.set(short, { ...held, content: undefined });
      await person.patch(key, { data: { content: 'by hand' } });
    }
    if (what === 'condemn') {
      companions.set(short, { ...held, isCondemned: true });
      await person.patch(key, { metadata: { annotations: this.#world.ours({ verdict: 'bad' }) } });
    }
  }

  #matches(): Promise<unknown> {
    return waitFor(
      async () => {
        const [companions, revisions] = await Promise.all([this.#companions(), this.#revisions()]);
        expect(companions).toEqual(this.#expectedCompanions());
        expect(revisions).toEqual(
          [...this.#model.kept].map(([content, stage]) => [this.#data(content)['content'], stage]),
        );
        return true;
      },
      { deadlineMs: 20_000, describe: () => `what the model says; ${this.#world.whatWasLogged()}` },
    );
  }

  #expectedCompanions(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...this.#model.companions].map(([short, held]) => {
        const { content, written, value, isNamed, isCondemned, isFailed } = held;
        const text = this.#model.texts(written).rendered(value) ?? '';
        const name = isNamed ? shortOf(this.#data(written)) : undefined;
        const marks = [isCondemned, isFailed];
        return [short, [content ? text : 'by hand', shortOf({ content: text }), name, ...marks].join()];
      }),
    );
  }

  async #companions(): Promise<Readonly<Record<string, string>>> {
    const found = await Promise.all(
      [...this.#model.namespaces].map(async (short) => {
        const companion = await this.#world.configMap(`${short}/colors-synced`);
        if (companion === undefined) return [];
        const ours = (key: string) => companion.metadata.annotations?.[`${this.#world.domain}/${key}`];
        const checksum = ours('source-checksum')?.slice(0, 8);
        const marks = [ours('verdict') !== undefined, ours('canary-failed') !== undefined];
        const content = companion.data?.['content'];
        return [[short, [content, checksum, ours('rendered-from'), ...marks].join()] as const];
      }),
    );
    return Object.fromEntries(found.flat());
  }

  async #revisions(): Promise<readonly (readonly [string | undefined, string | undefined])[]> {
    const { domain, person } = this.#world;
    const all = await person.configMaps(this.#world.full('home'), `${domain}/managed=revision`);
    const ours = (at: number, key: string) => all[at]?.metadata.annotations?.[`${domain}/${key}`];
    return all
      .map((object, at) => ({
        order: Number(ours(at, 'revision')),
        row: [object.data?.['content'], ours(at, 'canary-stage')] as const,
      }))
      .sort((one, other) => one.order - other.order)
      .map(({ row }) => row);
  }
}
