import { describe, expect, test } from 'vitest';
import type { ConfigMap, Namespace } from '../../../src/kube/api/types.ts';
import { companion, namespace, source, stripped } from '../wire.ts';
import { inWords, planFor, world } from '../world.ts';

const KEY = 'home/colors';
const TEAM_A = 'team-a/colors-synced';
const TEAM_B = 'team-b/colors-synced';
const delay = (text: string) => ({ 'delete-after': text });
const carrying = (text: string) => ({ annotations: { 'workshop.io/delete-after': text } });

interface Options {
  readonly unwantedMs?: number;
  readonly namespaces?: readonly Namespace[];
}

function plan(objects: readonly ConfigMap[], { unwantedMs = 0, namespaces }: Options = {}) {
  const all = namespaces ?? ['home', 'team-a', 'team-b'].map((name) => namespace(name));
  return planFor(KEY, { ...world(objects, all), now: 1_000_000, unwantedMs });
}

const narrowed = source(KEY, { 'target-namespaces': 'team-b', ...delay('10m') });
const staying = companion(narrowed, TEAM_B, carrying('10m'));
const leaving = companion(narrowed, TEAM_A, carrying('10m'));

describe('[D3] a companion that is no longer wanted', () => {
  test('waits until nobody has wanted it for as long as the source says', () => {
    expect(plan([narrowed, staying, leaving], { unwantedMs: 60_000 })).toContainEqual({
      action: 'none',
      companion: TEAM_A,
      state: 'delayed',
      reason: 'the source no longer targets the namespace; it is deleted after 10m without being wanted',
      until: 1_000_000 + 540_000,
    });
  });

  test.for([
    [599_999, 'delayed'],
    [600_000, 'unwanted'],
  ] as const)('after %i ms is %s', ([unwantedMs, state]) => {
    expect(plan([narrowed, staying, leaving], { unwantedMs }).map((step) => step.state)).toEqual([
      state,
      'in sync',
    ]);
  });

  test('waits without a known end if nobody measures', () => {
    const { unwantedMs: _, ...of } = { ...world([narrowed, staying, leaving]), unwantedMs: 0 };
    const step = planFor(KEY, of).find((each) => each.companion === TEAM_A);
    expect([step?.state, step && 'until' in step]).toEqual(['delayed', false]);
  });

  test('waits without a known end if the delay is malformed', () => {
    const [step] = plan([companion(narrowed, TEAM_A, carrying('soon'))]);
    expect([step?.state, step && 'until' in step]).toEqual(['delayed', false]);
  });

  const unlabelled = (text?: string) =>
    stripped(source(KEY, text === undefined ? {} : delay(text)), 'workshop.io/managed');
  const cases: Readonly<Record<string, [readonly ConfigMap[], string]>> = {
    'is deleted at once without the annotation': [
      [source(KEY, { 'target-namespaces': 'team-b' }), leaving],
      'delete, unwanted',
    ],
    'is deleted at once if the delay is zero': [
      [source(KEY, { 'target-namespaces': 'team-b', ...delay('0s') }), leaving],
      'delete, unwanted',
    ],
    'waits as it says itself when the source is gone': [[leaving], 'none, delayed'],
    'waits as the unlabelled source says, whatever it says itself': [
      [unlabelled('5m'), companion(narrowed, TEAM_A)],
      'none, delayed',
    ],
    'is deleted at once if the unlabelled source says nothing': [[unlabelled(), leaving], 'delete, unwanted'],
    'stays if the unlabelled source is malformed': [[unlabelled('10 minutes'), leaving], 'none, delayed'],
    'stays if its own annotation was made malformed': [
      [companion(narrowed, TEAM_A, carrying('soon'))],
      'none, delayed',
    ],
    '[R4] is retained at once if the source says so': [
      [source(KEY, { 'target-namespaces': 'team-b', 'deletion-policy': 'retain', ...delay('10m') }), leaving],
      'update, retained',
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [objects, expected]]) => {
    const lines = inWords(plan(objects)).filter((line) => line.startsWith(TEAM_A));
    expect(lines).toEqual([expect.stringContaining(`${TEAM_A}: ${expected}`)]);
  });

  test('[P3] is deleted at once if the namespace withdraws its consent, wanted or not', () => {
    const refusing = [namespace('home'), namespace('team-a', { accepts: '' }), namespace('team-b')];
    const wanting = source(KEY, { 'target-namespaces': 'team-a', ...delay('10m') });
    for (const of of [wanting, narrowed]) {
      const steps = plan([of, leaving], { namespaces: refusing });
      expect(steps).toContainEqual(expect.objectContaining({ companion: TEAM_A, action: 'delete' }));
    }
  });
});

test('[D3] companions carry the delay, and lose it when the source does', () => {
  const differences = (objects: readonly ConfigMap[]) =>
    plan(objects).flatMap((step) => ('differences' in step ? step.differences : []));
  const key = 'workshop.io/delete-after';
  expect(differences([narrowed, companion(narrowed, TEAM_B)])).toEqual([
    { kind: 'annotation', key, value: '10m' },
  ]);
  const without = source(KEY, { 'target-namespaces': 'team-b' });
  expect(differences([without, staying])).toEqual([{ kind: 'annotation', key, value: undefined }]);
});
