import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { observe } from '../../../src/mirror/observe/observed-config-map.ts';
import { dueAmong } from '../../../src/mirror/plan/brake.ts';
import type { Step } from '../../../src/mirror/plan/step.ts';
import type { Brake } from '../../../src/mirror/plan/view.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import {
  companion,
  configMap,
  marksOf,
  type NamespaceParts,
  namespace,
  source,
  stripped,
  vocabulary,
} from '../wire.ts';
import { planFor, viewOf, type World, world } from '../world.ts';

const KEY = 'home/colors';
const TEN: Brake = { count: 10, percent: 30 };

const team = (number: number) => `team-${number}`;
const at = (number: number, name = 'colors') => `${team(number)}/${name}-synced`;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** The companions of a source in the first `count` teams. */
function companions(of: ConfigMap, count: number, annotations: StringMap = {}): readonly ConfigMap[] {
  return numbers(count).map((number) => companion(of, at(number, of.metadata.name), { annotations }));
}

function cluster(
  objects: readonly ConfigMap[],
  options: Partial<World> = {},
  home: NamespaceParts = {},
): World {
  const namespaces = [namespace('home', home), ...numbers(40).map((number) => namespace(team(number)))];
  return { ...world(objects, namespaces), brake: TEN, ...options };
}

const held = (wave: string) => ({ 'workshop.io/held': wave });

/** As the shared SPEC defines it. */
function waveOf(...uids: readonly string[]): string {
  const text = uids.toSorted().map((uid) => `${uid}\n`);
  return createHash('sha256').update(text.join('')).digest('hex').slice(0, 8);
}

const states = (steps: readonly Step[]) => {
  const counts: Record<string, number> = {};
  for (const { action, state } of steps)
    counts[`${action} ${state}`] = (counts[`${action} ${state}`] ?? 0) + 1;
  return counts;
};

describe('[D1] the brake', () => {
  const typo = source(KEY, { 'target-namespaces': 'taem-*' });

  test('holds all deletions of a source, with one mark, when they reach both limits', () => {
    const there = companions(typo, 30);
    const steps = planFor(KEY, cluster(there.concat(typo)));
    expect(states(steps)).toEqual({ 'update held': 30 });
    const wave = waveOf(...there.map(({ metadata }) => metadata.uid));
    for (const step of steps) {
      expect(step).toMatchObject({
        wave,
        reason: `the source no longer targets the namespace; its deletion is held (wave ${wave})`,
        differences: [{ kind: 'annotation', key: 'workshop.io/held', value: wave }],
      });
    }
    const marked = companions(typo, 30, held(wave));
    expect(states(planFor(KEY, cluster([typo, ...marked])))).toEqual({ 'none held': 30 });
  });

  const shapes = source('home/shapes', { 'target-namespaces': 'team-*' });
  const narrowed = source(KEY, { 'target-namespaces': 'team-1*' });
  const cases: Readonly<Record<string, [objects: readonly ConfigMap[], held: boolean, Partial<World>?]>> = {
    'lets one deletion less than the number pass': [[typo, ...companions(typo, 9)], false],
    'holds that number': [[typo, ...companions(typo, 10)], true],
    'lets a smaller share pass': [[typo, ...companions(typo, 12), shapes, ...companions(shapes, 29)], false],
    'holds the share': [[typo, ...companions(typo, 12), shapes, ...companions(shapes, 28)], true],
    'counts what is still wanted as there': [
      [narrowed, ...companions(narrowed, 20)],
      false,
      { brake: { count: 9, percent: 46 } },
    ],
    'does not count copies of companions as there: they are none [R6]': [
      [
        typo,
        ...companions(typo, 12),
        ...numbers(40).map((number) =>
          configMap(`backup/copy-${number}`, { ...marksOf(typo, at(0)), data: { colour: 'red' } }),
        ),
      ],
      true,
    ],
    'nor what claims to be a companion, and no source wants': [
      [
        typo,
        ...companions(typo, 12),
        ...numbers(40).map((number) => {
          const marks = { 'workshop.io/deletion-policy': 'retain' };
          return companion(source('home/gone'), at(number, 'gone'), { annotations: marks });
        }),
      ],
      true,
    ],
    'does not count the companions of sources in other namespaces': [
      [
        typo,
        ...companions(typo, 12),
        source('away/shapes', { 'target-namespaces': 'team-*' }),
        ...companions(source('away/shapes'), 40),
      ],
      true,
    ],
    'counts deletions of the last 60 s': [
      [typo, ...companions(typo, 2)],
      true,
      { recentDeletions: new Map([['home', numbers(8).map((number) => `gone ${number}`)]]) },
    ],
    'counts a deletion under way once': [
      [typo, ...companions(typo, 9)],
      false,
      { recentDeletions: new Map([['home', companions(typo, 9).map(({ metadata }) => metadata.uid)]]) },
    ],
    'counts a companion that was to be deleted, and is wanted again, once': [
      [narrowed, ...companions(narrowed, 20)],
      true,
      {
        brake: { count: 10, percent: 100 },
        recentDeletions: new Map([
          ['home', [1, ...numbers(10).map((number) => number + 10)].map((number) => `uid of ${at(number)}`)],
        ]),
      },
    ],
    'does not count those for sources in other namespaces': [
      [typo, ...companions(typo, 2)],
      false,
      { recentDeletions: new Map([['away', numbers(20).map(String)]]) },
    ],
    'holds nothing if it is off': [[typo, ...companions(typo, 30)], false, { brake: undefined }],
    'at 0 percent goes by the number alone': [
      [typo, ...companions(typo, 10), shapes, ...companions(shapes, 40)],
      true,
      { brake: { count: 10, percent: 0 } },
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [objects, isHeld, options]]) => {
    const steps = planFor(KEY, cluster(objects, options));
    const unwanted = steps.filter(({ state }) => state === 'held' || state === 'unwanted');
    expect(new Set(unwanted.map(({ state }) => state))).toEqual(new Set([isHeld ? 'held' : 'unwanted']));
  });

  describe('counts what is due for other sources, as far as the cache knows:', () => {
    const others: Readonly<Record<string, (name: string) => readonly ConfigMap[]>> = {
      'sources that are gone': () => [],
      'sources that were narrowed': (name) => [source(`home/${name}`, { 'target-namespaces': 'taem-*' })],
      'sources that were unlabelled': (name) => [stripped(source(`home/${name}`), 'workshop.io/managed')],
      'sources that were renamed': (name) => [
        source(`home/${name}`, { 'target-namespaces': 'team-*', 'companion-name': 'new' }),
      ],
    };
    test.for(Object.entries(others))('%s', ([, others]) => {
      const objects = numbers(20).flatMap((number) => {
        const name = `s${number}`;
        return [...others(name), companion(source(`home/${name}`), at(number, name))];
      });
      const steps = planFor('home/s0', cluster(objects)).filter(({ state }) => state !== 'missing');
      expect(states(steps)).toMatchObject({ 'update held': 1 });
    });

    const harmless: Readonly<Record<string, (name: string) => readonly ConfigMap[]>> = {
      'but not what is wanted': (name) => [source(`home/${name}`, { 'target-namespaces': 'team-*' })],
      'but not what an invalid source has': (name) => [source(`home/${name}`, { 'target-namespaces': '' })],
      'but not what a source that is being deleted has': (name) => [
        source(`home/${name}`, { 'target-namespaces': 'x' }, { deleting: true }),
      ],
      'but not what is delayed': (name) => [
        source(`home/${name}`, { 'target-namespaces': 'x', 'delete-after': '10m' }),
      ],
      'but not what is retained': (name) => [
        source(`home/${name}`, { 'target-namespaces': 'x', 'deletion-policy': 'retain' }),
      ],
    };
    test.for(Object.entries(harmless))('%s', ([, others]) => {
      const objects = numbers(20).flatMap((number) => {
        const name = `s${number}`;
        return [...others(name), companion(source(`home/${name}`), at(number, name))];
      });
      const gone = companion(source(KEY), at(0));
      const brake = { count: 2, percent: 0 };
      expect(states(planFor(KEY, cluster([...objects, gone], { brake, unwantedMs: 0 })))).toEqual({
        'delete unwanted': 1,
      });
    });
  });

  const staying = { 'deletion-policy': 'retain', 'delete-after': '10m' };
  test.for(Object.entries(staying))(
    'does not count what a source that is gone leaves with %s',
    ([ask, value]) => {
      const of = source('home/gone');
      const marks = { annotations: { [`workshop.io/${ask}`]: value } };
      const left = numbers(20).map((number) => companion(of, at(number, 'gone'), marks));
      const brake = { count: 2, percent: 0 };
      const objects = [typo, companion(typo, at(0)), ...left];
      expect(states(planFor(KEY, cluster(objects, { brake, unwantedMs: 0 })))).toEqual({
        'delete unwanted': 1,
      });
    },
  );

  test('holds the rest with what is held beside an unlabelled source', () => {
    const beside = companion(typo, 'home/colors-synced', { annotations: held('0123abcd') });
    const objects = [stripped(typo, 'workshop.io/managed'), beside, companion(typo, at(1))];
    expect(states(planFor(KEY, cluster(objects)))).toEqual({ 'update held': 2 });
  });

  test('holds whatever else is due while something is held, whichever leader decided that', () => {
    const old = companion(source('home/old'), at(0, 'old'), { annotations: held('0123abcd') });
    const one = companion(typo, at(1));
    expect(states(planFor(KEY, cluster([typo, one, old])))).toEqual({ 'update held': 1 });
    const unmarked = companion(source('home/old'), at(0, 'old'));
    expect(states(planFor(KEY, cluster([typo, one, unmarked])))).toEqual({ 'delete unwanted': 1 });
  });

  test('is triggered by a forged mark, but not from a namespace that refuses the source', () => {
    const marks = marksOf(typo, 'evil/fake');
    const annotations = { ...marks.annotations, ...held('00000000') };
    const fake = configMap('evil/fake', { ...marks, annotations });
    const statesIf = (evil: NamespaceParts) => {
      const namespaces = [namespace('home'), namespace(team(1)), namespace('evil', evil)];
      return states(planFor(KEY, cluster([typo, companion(typo, at(1)), fake], { namespaces })));
    };
    expect(statesIf({})).toEqual({ 'update held': 2 });
    expect(statesIf({ accepts: 'elsewhere' })).toEqual({ 'delete unwanted': 2 });
  });

  test('[D2] lets a wave pass that is allowed before it is marked, so that no later plan deletes it', () => {
    const there = companions(typo, 12);
    const wave = waveOf(...there.map(({ metadata }) => metadata.uid));
    const allowing = source(KEY, { 'target-namespaces': 'taem-*', 'allow-deletes': wave });
    expect(states(planFor(KEY, cluster([allowing, ...there])))).toEqual({ 'delete unwanted': 12 });
    expect(states(planFor(KEY, cluster([allowing, ...there, companion(typo, at(20))])))).toEqual({
      'update held': 13,
    });
  });

  test('takes no notice of a mark on a companion that is wanted again', () => {
    const wanting = source('home/old', { 'target-namespaces': team(0) });
    const old = companion(wanting, at(0, 'old'), { annotations: held('0123abcd') });
    expect(states(planFor(KEY, cluster([typo, companion(typo, at(1)), wanting, old])))).toEqual({
      'delete unwanted': 1,
    });
  });

  test('holds what is marked also when it is off, or delayed', () => {
    const marked = companions(typo, 3, held('0123abcd'));
    const options = { brake: undefined };
    expect(states(planFor(KEY, cluster([typo, ...marked], options)))).toEqual({ 'none held': 3 });
    const slow = source(KEY, { 'target-namespaces': 'taem-*', 'delete-after': '10m' });
    expect(states(planFor(KEY, cluster([slow, ...marked], { unwantedMs: 0 })))).toEqual({ 'none held': 3 });
  });

  test('marks all with a new wave when there are more, and keeps the wave when there are fewer', () => {
    const marked = companions(typo, 10, held('0123abcd'));
    expect(states(planFor(KEY, cluster([typo, ...marked.slice(3)])))).toEqual({ 'none held': 7 });
    const more = [...marked, companion(typo, at(20))];
    const steps = planFor(KEY, cluster([typo, ...more]));
    expect(states(steps)).toEqual({ 'update held': 11 });
    expect(steps[0]).toMatchObject({ wave: waveOf(...more.map(({ metadata }) => metadata.uid)) });
  });

  test('replaces a mark that is no wave', () => {
    const marked = companions(typo, 10, held('whatever'));
    expect(states(planFor(KEY, cluster([typo, ...marked])))).toEqual({ 'update held': 10 });
  });

  test('never holds a deletion because of withdrawn consent', () => {
    const refusing = numbers(30).map((number) => namespace(team(number), { accepts: '' }));
    const namespaces = [namespace('home'), ...refusing];
    const steps = planFor(KEY, cluster([typo, ...companions(typo, 30, held('0123abcd'))], { namespaces }));
    expect(states(steps)).toEqual({ 'delete unwanted': 30 });
  });

  test('[R12] never holds the replacement of an immutable companion', () => {
    const wanting = source(KEY, { 'target-namespaces': 'team-*' });
    const old = numbers(40).map((number) =>
      companion(wanting, at(number), { immutable: true, data: { a: 'b' } }),
    );
    expect(states(planFor(KEY, cluster([wanting, ...old])))).toEqual({ 'replace drifted': 40 });
  });

  test('[M5] the mark goes when the companion is wanted again, or [R4] retained', () => {
    const wanting = source(KEY, { 'target-namespaces': team(0) });
    const marked = companion(wanting, at(0), { annotations: held('0123abcd') });
    const gone = { kind: 'annotation', key: 'workshop.io/held', value: undefined };
    expect(planFor(KEY, cluster([wanting, marked]))).toMatchObject([
      { action: 'update', differences: [gone] },
    ]);
    const keeping = source(KEY, { 'target-namespaces': team(1), 'deletion-policy': 'retain' });
    const step = planFor(KEY, cluster([keeping, marked])).find(({ companion }) => companion === at(0));
    expect(step).toMatchObject({ state: 'retained', differences: expect.arrayContaining([gone]) });
  });
});

test('[D2] a list of allowed waves is split once, however many companions are held', () => {
  const waves = numbers(28_000).map((number) => number.toString(16).padStart(8, '0'));
  const of = source(KEY, { 'target-namespaces': 'taem-*', 'allow-deletes': waves.join() });
  const view = viewOf(cluster([of]));
  const one = observe(companions(of, 1, held('ffffffff'))[0] as ConfigMap, vocabulary);
  const begunAt = performance.now();
  const { isHeld } = dueAmong(Array(1000).fill(one), new Set(), view);
  // To split it for each takes 5 s or more.
  expect(performance.now() - begunAt).toBeLessThan(1000);
  expect(isHeld).toBe(true);
});

describe('[D2] held deletions are made when their wave is allowed', () => {
  const asks = { 'target-namespaces': 'taem-*' };
  const wave = '0123abcd';
  const marked = companions(source(KEY), 12, held(wave));
  const gone = { 'delete unwanted': 12 };
  const kept = { 'none held': 12 };
  const cases: Readonly<
    Record<string, [of: ConfigMap | undefined, home: string | undefined, expected: object]>
  > = {
    'on the source': [source(KEY, { ...asks, 'allow-deletes': wave }), undefined, gone],
    'among several': [source(KEY, { ...asks, 'allow-deletes': `deadbeef, ${wave}` }), undefined, gone],
    'not another wave': [source(KEY, { ...asks, 'allow-deletes': 'deadbeef' }), undefined, kept],
    'not an empty one': [source(KEY, { ...asks, 'allow-deletes': '' }), undefined, kept],
    'not on the Namespace of a source that is there': [source(KEY, asks), wave, kept],
    'on the Namespace of a source that is gone': [undefined, wave, gone],
    'on the Namespace of an unlabelled source': [stripped(source(KEY), 'workshop.io/managed'), wave, gone],
    'on an unlabelled source': [
      stripped(source(KEY, { 'allow-deletes': wave }), 'workshop.io/managed'),
      undefined,
      gone,
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [of, home, expected]]) => {
    const annotations = home === undefined ? {} : { 'workshop.io/allow-deletes': home };
    const objects = of === undefined ? marked : [of, ...marked];
    const steps = planFor(KEY, cluster(objects, {}, { annotations }));
    expect(states(steps)).toEqual(expected);
    // They were asked for, so the next ones are not held because of them.
    for (const step of steps) if (step.action === 'delete') expect(step.counts).toBe(false);
  });

  test.for(['', ' ', ',', 'deadbeef, ', 'deadbeef\n'])('but "%s" allows no unmarked one', (text) => {
    const unmarked = companions(source(KEY), 12);
    const ofSource = planFor(KEY, cluster([source(KEY, { ...asks, 'allow-deletes': text }), ...unmarked]));
    expect(states(ofSource)).toEqual({ 'update held': 12 });
    const annotations = { 'workshop.io/allow-deletes': text };
    expect(states(planFor(KEY, cluster(unmarked, {}, { annotations })))).toEqual({ 'update held': 12 });
  });

  test('while others that came later stay held, under a wave of their own', () => {
    const of = source(KEY, { ...asks, 'allow-deletes': wave });
    const later = companion(of, at(30));
    const old = companion(source('home/old'), at(0, 'old'), { annotations: held('77777777') });
    const steps = planFor(KEY, cluster([of, ...marked, later, old]));
    expect(states(steps)).toEqual({ 'delete unwanted': 12, 'update held': 1 });
    expect(steps.find(({ state }) => state === 'held')).toMatchObject({ wave: waveOf(later.metadata.uid) });
  });
});

/** Sources: how many companions each has, and how many of them it no longer wants. */
const drawnSource = fc.record({ there: fc.nat(8), unwanted: fc.nat(8), isGone: fc.boolean() });

function drawnObjects(drawn: readonly { there: number; unwanted: number; isGone: boolean }[]) {
  const sources = drawn.map(({ there, unwanted, isGone }, index) => {
    const due = isGone ? there : Math.min(there, unwanted);
    const wanted = numbers(there - due).map((number) => team(number));
    const of = source(`home/s${index}`, { 'target-namespaces': ['x', ...wanted].join(',') });
    return { due, there, objects: [...(isGone ? [] : [of]), ...companions(of, there)] };
  });
  const sum = (each: 'due' | 'there') => sources.reduce((total, of) => total + of[each], 0);
  return { objects: sources.flatMap(({ objects }) => objects), due: sum('due'), there: sum('there') };
}

test('[D1] deletions that somebody has released neither count nor hold others', () => {
  const released = source('home/shapes', { 'target-namespaces': 'nowhere', 'allow-deletes': 'aaaaaaaa' });
  const narrowed = source(KEY, { 'target-namespaces': team(1) });
  const objects = [
    released,
    ...companions(released, 12, held('aaaaaaaa')),
    narrowed,
    ...companions(narrowed, 3).slice(1),
  ];
  const step = planFor(KEY, cluster(objects)).find(({ companion: key }) => key === at(2));
  expect(step?.action).toBe('delete');
});

test('[D1] either all that is due for the sources of a namespace is held, or nothing, however it is spread', () => {
  const drawn = fc.record({
    sources: fc.array(drawnSource, { minLength: 1, maxLength: 6 }),
    recent: fc.nat(6),
    count: fc.integer({ min: 1, max: 12 }),
    percent: fc.nat(100),
  });
  fc.assert(
    fc.property(drawn, ({ sources, recent, count, percent }) => {
      const { objects, due, there } = drawnObjects(sources);
      const recentDeletions = new Map([['home', numbers(recent).map(String)]]);
      const of = cluster(objects, { brake: { count, percent }, recentDeletions });
      const isOver = due + recent >= count && (due + recent) * 100 >= percent * (there + recent);
      const steps = sources.flatMap((_, index) => planFor(`home/s${index}`, of));
      const unwanted = steps.filter(({ state }) => state === 'held' || state === 'unwanted');
      expect(unwanted).toHaveLength(due);
      expect(unwanted.every(({ state }) => state === (isOver ? 'held' : 'unwanted'))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
