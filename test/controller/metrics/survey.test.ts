import { expect, test } from 'vitest';
import { SOURCE_STATES, Survey } from '../../../src/controller/metrics/survey.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { COMPANION_STATES } from '../../../src/mirror/explain/inventory.ts';
import { revisionKey } from '../../../src/mirror/observe/revision.ts';
import { CANARY_STATES } from '../../../src/mirror/rollout/rollout.ts';
import { renderingOf } from '../../mirror/rendering-of.ts';
import { revisionObject } from '../../mirror/rollout/revisions.ts';
import { companion, configMap, namespace, observed, source, vocabulary } from '../../mirror/wire.ts';
import { boundsOf, viewOf, type World, world } from '../../mirror/world.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const colors = source('a/colors');

/** A survey of a world that may be replaced by a later one. */
function surveyOf(
  first: World,
  options: { readonly namespacesSynced?: boolean; readonly met?: string; readonly uncached?: boolean } = {},
) {
  const clock = new ManualClock();
  let now = first;
  const survey = new Survey({
    view: {
      settings: { vocabulary, bounds: first.bounds, brake: undefined },
      now: () => viewOf(now).now(),
      unwantedMs: () => undefined,
      unsettledMs: () => 0,
      dueFrom: () => ({ counted: new Set(), total: 0, isHeld: false }),
      configMap: (key) => viewOf(now).configMap(key),
      referrers: (of) => viewOf(now).referrers(of),
      revisions: (key) => viewOf(now).revisions(key),
      claimants: (key) => viewOf(now).claimants(key),
      valuesUsers: (key) => viewOf(now).valuesUsers(key),
      namespace: (name) => viewOf(now).namespace(name),
      namespaces: () => viewOf(now).namespaces(),
    },
    renderings: {
      prepareFromCache: async (of) =>
        options.uncached ? undefined : renderingOf(of, now.configMaps, viewOf(now)),
    },
    configMaps: {
      values: () => {
        const labelled = now.configMaps.filter(({ metadata }) => metadata.labels?.['workshop.io/managed']);
        return labelled.map(observed).values();
      },
    },
    memory: {
      isInConflict: (_source, companion) => companion === options.met,
      isBlocked: (_source, revision) => revision === options.met,
    },
    areNamespacesSynced: () => options.namespacesSynced ?? true,
    clock,
  });
  return {
    clock,
    survey,
    become: (later: World) => {
      now = later;
    },
  };
}

const asLabel = (state: string) => state.replaceAll(' ', '_');

/** The states that are not at 0. */
const some = (counts: ReadonlyMap<string, number>) =>
  Object.fromEntries([...counts].filter(([, count]) => count > 0));

const found = async (of: World, options: Parameters<typeof surveyOf>[1] = {}) => {
  const { sources, companions } = await surveyOf(of, options).survey.take();
  expect([...sources.keys()]).toEqual(SOURCE_STATES.map(asLabel));
  expect([...companions.keys()]).toEqual(COMPANION_STATES.map(asLabel));
  return [some(sources), some(companions)];
};

const beside = companion(colors, 'a/colors-synced');
const edited: ConfigMap = { ...beside, data: { colour: 'green' } };
const wide = source('a/wide', { 'target-namespaces': 'b, c, d' });
const gone = source('a/gone');
const numbered = source('a/colors', { 'keep-revisions': '2' }, { data: { colour: 'new' } });
const ofNumbered = revisionObject(numbered, { colour: 'new' }, { order: 1 });
const leavingToo = { ...ofNumbered.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' };
const invalid = source('a/colors', { 'deletion-policy': 'x' });
const leaving = source('a/colors', {}, { deleting: true });
const named = source(
  'a/colors',
  { 'render-keys': '*', 'values-from': 'v' },
  { data: { k: '$(mirror.value.k)' } },
);
const filled = companion({ ...named, data: { k: 'x' } }, 'a/colors-synced');
const options = configMap('a/v', { labels: { 'workshop.io/managed': 'values' }, data: { k: 'x' } });
const kept = { annotations: { 'workshop.io/deletion-policy': 'retain' } };

test.each<[string, World, object, object, Parameters<typeof surveyOf>[1]?]>([
  ['nothing', world([]), {}, {}],
  ['in sync', world([colors, beside]), { in_sync: 1 }, { in_sync: 1 }],
  ['missing', world([colors]), { unsynced: 1 }, { missing: 1 }],
  ['drifted', world([colors, edited]), { unsynced: 1 }, { drifted: 1 }],
  ['invalid: left as it is', world([invalid, edited]), { invalid: 1 }, { invalid: 1 }],
  ['its source is being deleted', world([leaving, beside]), { waiting: 1 }, { waiting: 1 }],
  [
    'a source has the name',
    world([colors, source('a/colors-synced', { 'target-namespaces': 'b' })], [namespace('a')]),
    { conflict: 1, in_sync: 1 },
    { conflict: 1, missing: 1 },
  ],
  [
    'an object is there that only a write meets',
    world([colors, configMap('a/colors-synced')]),
    { conflict: 1 },
    { conflict: 1 },
    { met: 'a/colors-synced' },
  ],
  [
    '[D4] an object has a revision’s name that only a write meets',
    world([numbered, companion(colors, 'a/colors-synced')]),
    { conflict: 1 },
    { conflict: 1 },
    { met: revisionKey(observed(numbered), observed(numbered).digest) },
  ],
  [
    '[D4] its revision is only being deleted',
    world([numbered, companion(colors, 'a/colors-synced'), { ...ofNumbered, metadata: leavingToo }]),
    { unsynced: 1 },
    { drifted: 1 },
  ],
  [
    'a conflict that is over',
    world([colors, beside]),
    { in_sync: 1 },
    { in_sync: 1 },
    { met: 'a/colors-synced' },
  ],
  ['its source is gone', world([companion(gone, 'b/gone-synced')]), {}, { orphaned: 1 }],
  ['gone, and kept', world([companion(gone, 'b/gone-synced', kept)]), {}, { retained: 1 }],
  ['gone, and garbage collection comes', world([companion(gone, 'a/gone-synced')]), {}, { waiting: 1 }],
  [
    'each namespace by itself, and one that is no longer a target',
    world(
      [wide, companion(wide, 'b/wide-synced'), companion(wide, 'e/wide-synced')],
      [namespace('a'), namespace('b'), namespace('c', { accepts: '' }), namespace('e')],
    ),
    { unsynced: 1 },
    { in_sync: 1, refused: 1, missing: 1, orphaned: 1 },
  ],
  [
    'the Namespaces are not known',
    world([wide, companion(wide, 'b/wide-synced')]),
    { waiting: 1 },
    { waiting: 1 },
    { namespacesSynced: false },
  ],
  [
    'its source is not among --namespaces',
    world([companion(gone, 'b/gone-synced')], [namespace('b')], boundsOf({ namespaces: ['b'] })),
    {},
    { refused: 1 },
  ],
  [
    'a copy of a companion is nobody’s',
    world([
      colors,
      beside,
      companion(colors, 'b/copy', { annotations: { 'workshop.io/companion': 'a/colors-synced' } }),
    ]),
    { in_sync: 1 },
    { in_sync: 1, orphaned: 1 },
  ],
  ['[V3] values are no companions', world([named, filled, options]), { in_sync: 1 }, { in_sync: 1 }],
  ['[V4] a value is missing', world([named, filled]), { invalid: 1 }, { invalid: 1 }],
  [
    '[V2] its content is not in the cache',
    world([named, filled, options]),
    { waiting: 1 },
    { waiting: 1 },
    { uncached: true },
  ],
])('[O1] every companion is in exactly one state: %s', async (_, of, sources, companions, options) => {
  expect(await found(of, options)).toEqual([sources, companions]);
});

test('[O1] the oldest unsynced companion counts from the survey that first found it, until it is written', async () => {
  const { clock, survey, become } = surveyOf(world([colors, edited]));
  expect((await survey.take()).oldestUnsyncedMs).toBe(0);
  await clock.advance(30_000);
  expect((await survey.take()).oldestUnsyncedMs).toBe(30_000);
  const editedAgain = { ...edited, metadata: { ...edited.metadata, resourceVersion: '9' } };
  become(world([colors, editedAgain]));
  expect((await survey.take()).oldestUnsyncedMs).toBe(0);
  await clock.advance(5_000);
  expect((await survey.take()).oldestUnsyncedMs).toBe(5_000);
  become(world([colors, beside]));
  expect((await survey.take()).oldestUnsyncedMs).toBe(0);
});

test('[O1] those who ask during a survey get its findings', async () => {
  const { survey } = surveyOf(world([colors]));
  const [first, second] = await Promise.all([survey.take(), survey.take()]);
  expect(second).toBe(first);
  expect(await survey.take()).not.toBe(first);
});

test('[D6] [O1] sources with a canary are counted by how far their content is; revisions are no companions', async () => {
  const asks = { 'keep-revisions': '5', canary: 'a' };
  const trying = (of: ConfigMap, stage?: 'trying' | 'failed') => [
    of,
    companion(of, `${of.metadata.namespace}/${of.metadata.name}-synced`),
    revisionObject(of, { colour: 'blue' }, { order: 1 }),
    revisionObject(of, { colour: 'red' }, { order: 2, stage }),
  ];
  const objects = [
    ...trying(source('a/one', { ...asks, 'canary-bake': 'manual' }), 'trying'),
    ...trying(source('a/two', asks), 'failed'),
    ...trying(source('a/three', asks)),
    ...trying(source('a/four', { ...asks, pin: '00000000' }), 'trying'),
    ...trying(source('a/five', { 'keep-revisions': '5' })),
  ];
  const { survey } = surveyOf(world(objects));
  const { canaries, companions } = await survey.take();
  expect([...canaries].filter(([, count]) => count > 0)).toEqual([
    ['waiting_for_approval', 1],
    ['failed', 1],
    ['done', 1],
  ]);
  expect([...canaries.keys()]).toEqual(CANARY_STATES.map((state) => state.replaceAll(' ', '_')));
  expect([...companions.values()].reduce((sum, count) => sum + count, 0)).toBe(5);
});
