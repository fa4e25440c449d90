import { expect, test } from 'vitest';
import { Renderings } from '../../../src/controller/write/renderings.ts';
import { SourceBodies } from '../../../src/controller/write/source-bodies.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../../src/kube/api/types.ts';
import { digestOf } from '../../../src/mirror/observe/digest.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { revision, revisionObject } from '../../mirror/rollout/revisions.ts';
import { configMap, namespace, observed, source } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { MemoryApi } from '../memory-api.ts';

/** Renders `home/app` with an empty cache. Each look at the clock takes 10 ms. */
function setUp(objects: readonly ConfigMap[], namespaces: readonly Namespace[] = []) {
  const counts = { turns: 0 };
  const reads: ObjectKey[] = [];
  const api = new MemoryApi(objects);
  const get = (key: ObjectKey) => {
    reads.push(key);
    return api.get(key);
  };
  let now = 0;
  const clock = {
    now: () => {
      now += 10;
      return now;
    },
    wallTime: () => new Date(now),
    setTimer: (_: number, callback: () => void) => {
      counts.turns += 1;
      queueMicrotask(callback);
      return { cancel: () => undefined };
    },
  };
  const renderings = new Renderings({
    view: viewOf(world(objects, namespaces)),
    bodies: new SourceBodies({ get }, 0),
    clock,
  });
  return { renderings, reads, counts };
}

const asks = { 'target-namespaces': 'team-*', 'render-keys': '*', 'values-from': 'options' };
const teams = (count: number, labels: StringMap = {}) =>
  Array.from({ length: count }, (_, at) => namespace(`team-${at}`, { labels: { ...labels, at: `${at}` } }));

test('[V5] nothing is read for a source without placeholders, and no values that it does not use', async () => {
  const values = configMap('home/options', { labels: { 'workshop.io/managed': 'values' }, data: { a: '1' } });
  const prepared = async (asking: StringMap, text: string) => {
    const object = source('home/app', asking, { data: { k: text } });
    const { renderings, reads } = setUp([object, values], teams(3));
    return { rendering: await renderings.prepare(observed(object)), reads };
  };
  const nothing = { rendering: undefined, reads: [] };
  expect(await prepared({ 'target-namespaces': 'team-*' }, '$(mirror.namespace)')).toEqual(nothing);
  expect(await prepared(asks, 'plain')).toEqual(nothing);
  expect((await prepared(asks, '$(mirror.namespace)')).reads).toEqual(['home/app']);
  expect((await prepared(asks, '$(mirror.value.a)')).reads).toEqual(['home/app', 'home/options']);
});

test('[V5] what was rendered for a namespace is known to the next pass, unless it was too much', async () => {
  const labels = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`l${at}`, 'x'.repeat(63)]));
  const text = Object.keys(labels).map((label) => `$(mirror.label.${label})`);
  const object = source('home/app', asks, { data: { k: `$(mirror.namespace)${text.join('')}` } });
  const passes = async (count: number) => {
    const { renderings } = setUp([object], teams(count, labels));
    const [first, second] = [
      await renderings.prepare(observed(object)),
      await renderings.prepare(observed(object)),
    ];
    return (name: string) => first?.in(name, observed(object)) === second?.in(name, observed(object));
  };
  expect((await passes(10))('team-0')).toBe(true);
  // 8 MiB hold some 1,200 of these, and all are needed in turn.
  expect((await passes(1500))('team-0')).toBe(false);
});

test('[V5] [W2] a source and the revision that is in use are rendered in turns of the event loop', async () => {
  const former = { k: 'former $(mirror.label.at)' };
  const pin = digestOf({ data: former, binaryData: {} }).slice(0, 8);
  const turns = async (more: StringMap) => {
    const object = source('home/app', { ...asks, ...more }, { data: { k: '$(mirror.label.at)' } });
    const objects = [object, revisionObject(object, former, { order: 1 })];
    const { renderings, counts } = setUp(objects, teams(20));
    const rendering = await renderings.prepare(observed(object));
    const { turns: prepared } = counts;
    expect(rendering?.in('team-7', revision(object, former, { order: 1 }))?.digest).toBe(
      more['pin'] === pin ? digestOf({ data: { k: 'former 7' }, binaryData: {} }) : undefined,
    );
    return prepared;
  };
  // One turn parses, and each target takes one.
  expect(await turns({})).toBe(1 + 20);
  expect(await turns({ 'keep-revisions': '2', pin })).toBe(1 + 40);
});
