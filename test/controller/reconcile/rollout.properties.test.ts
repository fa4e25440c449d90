import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOf, type ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../../src/kube/api/types.ts';
import { digestOf } from '../../../src/mirror/observe/digest.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { namespace, source } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const KEY = 'home/s' as ObjectKey;
const BAKE_MS = 60_000;

type Action =
  | { readonly do: 'edit'; readonly content: string }
  | { readonly do: 'approve' | 'pin'; readonly content: string | undefined }
  | { readonly do: 'canary'; readonly namespaces: string | undefined }
  | { readonly do: Meddling; readonly which: number }
  | { readonly do: 'namespace'; readonly name: string; readonly exists: boolean }
  | { readonly do: 'time'; readonly ms: number }
  /** A new controller makes so many writes, and is gone. */
  | { readonly do: 'pass'; readonly writes: number };

/** `add`: a key. `try`: another content. */
type Meddling = 'verdict' | 'tamper' | 'add' | 'try' | 'delete' | 'delete revision';

const CONTENTS = ['a', 'b', 'c'];
const content = fc.constantFrom(...CONTENTS);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('edit' as const), content }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('approve' as const, 'pin' as const),
      content: fc.option(content, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('canary' as const),
      namespaces: fc.constantFrom('qa-*', 'qa-*', 'qa-a', 'team-a', '*', 'none', undefined),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom<Meddling>('verdict', 'tamper', 'add', 'try', 'delete', 'delete revision'),
      which: fc.nat(9),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('namespace' as const),
      name: fc.constantFrom('qa-a', 'qa-b', 'team-a', 'team-b', 'team-c'),
      exists: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(1, 999, 30_000, 62_000) }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('pass' as const), writes: fc.nat(12) }) },
);

interface Given {
  readonly content: string | undefined;
  readonly at: number;
  readonly isCondemned: boolean;
}

/** A source, its companions and revisions, and what SPEC D6 says of them in plain words. */
class Scene {
  readonly objects = new Map<string, ConfigMap>();
  readonly namespaces = new Map<string, Namespace>();
  now = 0;
  asks: Record<string, string | undefined> = {
    'keep-revisions': '3',
    'target-namespaces': 'qa-*,team-*',
    canary: 'qa-*',
    'canary-bake': '1m',
  };
  content = 'a';
  /** Contents that may be everywhere. */
  readonly released = new Set<string>();
  /** What controllers have given to companions, by their keys. */
  readonly given = new Map<string, Given>();
  #versions = 1;

  constructor() {
    for (const name of ['home', 'qa-a', 'qa-b', 'team-a', 'team-b']) {
      this.namespaces.set(name, namespace(name));
    }
    this.writeSource();
  }

  writeSource(): void {
    const asks = Object.fromEntries(Object.entries(this.asks).filter(([, value]) => value !== undefined));
    const parts = { data: { content: this.content }, resourceVersion: `s${this.version()}` };
    this.put(source(KEY, asks as StringMap, parts));
  }

  put(object: ConfigMap): void {
    this.objects.set(keyOf(object), object);
  }

  version(): number {
    this.#versions += 1;
    return this.#versions;
  }

  isCanary(name: string): boolean {
    const { canary } = this.asks;
    return canary === '*' || canary === name || (canary === 'qa-*' && name.startsWith('qa-'));
  }

  get companions(): readonly ConfigMap[] {
    return [...this.objects.values()].filter(({ metadata }) => metadata.name === 's-synced');
  }

  get revisions(): readonly ConfigMap[] {
    return [...this.objects.values()].filter(({ metadata }) => metadata.name.startsWith('s-rev-'));
  }

  /** Whether the source's content may be everywhere from now on, by what is in the cluster. */
  release(): void {
    const names = [...this.namespaces.keys()].filter((name) => name !== 'home');
    const canaries = names.filter((name) => this.isCanary(name));
    const others = names.filter((name) => !this.isCanary(name));
    const at = (name: string) => this.objects.get(`${name}/s-synced`);
    const isBaked = canaries.every((name) => {
      const given = this.given.get(`${name}/s-synced`);
      if (given?.content !== this.content || !isUntouched(at(name), given)) return false;
      return this.now >= given.at + BAKE_MS && !given.isCondemned;
    });
    const isFirst = this.revisions.length === 0 && others.every((name) => at(name) === undefined);
    const isWanted = [this.asks['canary-approve'], this.asks['pin']].includes(short(this.content));
    const hasFailed = this.revisions.some(
      ({ data, metadata }) =>
        data?.['content'] === this.content && metadata.annotations?.['workshop.io/canary-stage'] === 'failed',
    );
    const isOver = canaries.length > 0 && isBaked && !hasFailed;
    const isEverywhere =
      !this.revisions.some(({ data }) => data?.['content'] === this.content) &&
      others.some((name) => at(name) !== undefined) &&
      others.every((name) => (at(name)?.data?.['content'] ?? this.content) === this.content);
    const isFree = this.asks['canary'] === undefined || isFirst || isEverywhere;
    if (isFree || isWanted || isOver) this.released.add(this.content);
  }

  /** Objects as they are after at most so many writes of a new controller. */
  async pass(writes: number): Promise<void> {
    this.release();
    const before = new Map(this.objects);
    const seen = { ...world([...this.objects.values()], [...this.namespaces.values()]), now: this.now };
    const api = new MemoryApi(seen.configMaps, 1000 + this.version() * 100, () => new Date(this.now));
    let left = writes;
    const executor = new Executor(api, viewOf(seen));
    await executor.clock.advance(this.now - executor.clock.wallTime().getTime());
    api.beforeWrite = async () => {
      if (left === 0) throw new Error('gone');
      left -= 1;
    };
    await executor.pass(KEY);
    this.objects.clear();
    for (const [key, object] of api.objects) this.objects.set(key, object);
    for (const companion of this.companions) {
      this.#note(companion, before.get(keyOf(companion)));
      this.#check(companion, before.get(keyOf(companion)));
    }
    for (const { type, ...happening } of executor.happenings) {
      if (type === 'written') expect(happening).not.toMatchObject({ result: 'failed', action: 'delete' });
    }
  }

  #note(companion: ConfigMap, before: ConfigMap | undefined): void {
    if (companion === before) return;
    const key = keyOf(companion);
    const content = companion.data?.['content'];
    const last = before && this.given.get(key);
    const isSame = last?.content === content;
    const isCondemned = isSame && last?.isCondemned === true;
    const at = isSame && last && isUntouched(before, last) ? last.at : this.now;
    this.given.set(key, { content, at, isCondemned });
  }

  #check({ data, metadata }: ConfigMap, before: ConfigMap | undefined): void {
    const held = data?.['content'] ?? '';
    if (before?.data?.['content'] === held) return;
    const name = metadata.namespace ?? '';
    const pinned = CONTENTS.filter((each) => short(each) === this.asks['pin']);
    const allowed = [...this.released, ...pinned, ...(this.isCanary(name) ? [this.content] : [])];
    expect(allowed, `${name} got ${held}`).toContain(held);
  }
}

/** Whether it holds what it was given, and nothing else. */
function isUntouched(companion: ConfigMap | undefined, { content }: Given): boolean {
  const data = companion?.data;
  return data?.['content'] === content && Object.keys(data ?? {}).length === 1;
}

function short(text: string): string {
  return digestOf({ data: { content: text }, binaryData: {} }).slice(0, 8);
}

const START = Date.parse('2026-01-01T00:00:00.000Z');

async function play(scene: Scene, action: Action): Promise<void> {
  switch (action.do) {
    case 'edit':
      scene.content = action.content;
      return scene.writeSource();
    case 'approve':
      scene.asks['canary-approve'] = action.content && short(action.content);
      return scene.writeSource();
    case 'pin':
      scene.asks['pin'] = action.content && short(action.content);
      return scene.writeSource();
    case 'canary':
      scene.asks['canary'] = action.namespaces;
      return scene.writeSource();
    case 'namespace':
      if (action.exists) scene.namespaces.set(action.name, namespace(action.name));
      else scene.namespaces.delete(action.name);
      if (!action.exists) scene.objects.delete(`${action.name}/s-synced`);
      return;
    case 'time':
      scene.now += action.ms;
      return;
    case 'pass':
      return scene.pass(action.writes);
    default:
      return meddle(scene, action);
  }
}

function meddle(scene: Scene, { do: what, which }: Extract<Action, { readonly which: number }>): void {
  const among = what === 'delete revision' ? scene.revisions : scene.companions;
  const object = among[which % Math.max(1, among.length)];
  if (object === undefined) return;
  const { metadata } = object;
  const key = keyOf(object);
  if (what === 'delete' || what === 'delete revision') {
    scene.objects.delete(key);
    return;
  }
  const given = scene.given.get(key);
  if (given !== undefined && what === 'verdict') scene.given.set(key, { ...given, isCondemned: true });
  const annotations = {
    ...metadata.annotations,
    ...(what === 'verdict' && { 'workshop.io/verdict': 'bad' }),
  };
  const data = { ...object.data, ...MEDDLED[what] };
  scene.put({
    ...object,
    data,
    metadata: { ...metadata, annotations, resourceVersion: `m${scene.version()}` },
  });
}

const MEDDLED: Readonly<Partial<Record<Meddling, StringMap>>> = {
  tamper: { content: 'z' },
  add: { extra: 'z' },
  try: { content: 'b' },
};

test('[D6] whatever happens, nobody but a canary gets a content that was not released', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
      const scene = new Scene();
      scene.now = START;
      for (const each of actions) await play(scene, each);
    }),
    { numRuns: 500 },
  );
});

test('[D6] whatever has happened, with time and without a bad verdict all companions get the content', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), async (actions) => {
      const scene = new Scene();
      scene.now = START;
      for (const each of actions) await play(scene, each);
      scene.asks = { ...scene.asks, canary: 'qa-*', pin: undefined, 'canary-approve': undefined };
      scene.namespaces.set('qa-a', namespace('qa-a'));
      // One that has never failed.
      scene.content = 'new';
      scene.writeSource();
      for (const object of scene.companions) {
        const { 'workshop.io/verdict': _, ...annotations } = object.metadata.annotations ?? {};
        scene.put({ ...object, metadata: { ...object.metadata, annotations } });
      }
      for (let round = 0; round < 4; round += 1) await scene.pass(100);
      scene.now += BAKE_MS + 1000;
      for (let round = 0; round < 3; round += 1) await scene.pass(100);
      const names = [...scene.namespaces.keys()].filter((name) => name !== 'home').sort();
      expect(scene.companions.map(({ metadata }) => metadata.namespace).sort()).toEqual(names);
      for (const { data, metadata } of scene.companions) {
        expect([metadata.namespace, data]).toEqual([metadata.namespace, { content: 'new' }]);
        expect(metadata.annotations).not.toHaveProperty('workshop.io/canary-failed');
      }
      expect(scene.revisions.length).toBeLessThanOrEqual(4);
      const before = new Map(scene.objects);
      await scene.pass(100);
      expect(scene.objects).toEqual(before);
    }),
    { numRuns: 200 },
  );
});
