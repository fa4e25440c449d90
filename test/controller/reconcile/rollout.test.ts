import { describe, expect, test } from 'vitest';
import { keyOf, type ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { ApiError, NetworkError } from '../../../src/kube/errors.ts';
import { shortChecksum } from '../../../src/mirror/observe/revision.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { revisionObject } from '../../mirror/rollout/revisions.ts';
import { companion, namespace, observed, source, stripped } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const KEY = 'home/colors' as ObjectKey;
const CANARY = 'qa-a/colors-synced' as ObjectKey;
const OTHER = 'team-a/colors-synced' as ObjectKey;
const RED = { sky: 'red' };
const GREEN = { sky: 'green' };
const BLUE = { sky: 'blue' };

const MANY = Array.from({ length: 13 }, (_, number) => `eu-${number}`);
const NAMESPACES = ['home', 'qa-a', 'team-a', 'team-b', ...MANY].map((name) => namespace(name));
const FORBIDDEN = new ApiError('forbidden', { status: 403, reason: 'Forbidden' });

/** A green source that was red before, with these annotations. */
function greenSource(asks: StringMap = {}): ConfigMap {
  const targets = { 'target-namespaces': 'qa-*, team-a', 'keep-revisions': '5', ...asks };
  return source(KEY, targets, { data: GREEN });
}

/** The controller sees what the API holds now. */
function setUp(objects: readonly ConfigMap[]) {
  const api = new MemoryApi(objects, 100, () => running.clock.wallTime());
  const view = viewOf(world([...api.objects.values()], NAMESPACES));
  const running: Executor = new Executor(api, view);
  const see = () => void Object.assign(view, viewOf(world([...api.objects.values()], NAMESPACES)));
  return { api, running, see };
}

describe('[D6] a canary that failed', () => {
  const green = greenSource({ canary: 'qa-*', 'canary-bake': '1h' });
  const red = { ...green, data: RED };
  const kept = revisionObject(green, RED, { order: 1 });
  const tried = revisionObject(green, GREEN, { order: 2, stage: 'trying' });
  const condemned = companion(green, CANARY, { annotations: { 'workshop.io/verdict': 'bad' } });

  test('goes back only after its revision says so: else the verdict would be lost with a crash', async () => {
    const { api, running, see } = setUp([green, kept, tried, condemned, companion(red, OTHER)]);
    const revision = `home/colors-rev-${shortChecksum(observed(green).digest)}` as ObjectKey;
    api.beforeWrite = async (key) => {
      if (key === revision) throw FORBIDDEN;
    };
    await running.pass(KEY);
    expect(api.objects.get(CANARY)).toEqual(condemned);
    api.beforeWrite = async () => undefined;
    await running.clock.advance(50);
    await running.pass(KEY);
    see();
    expect(api.objects.get(revision)?.metadata.annotations).toMatchObject({
      'workshop.io/canary-stage': 'failed',
    });
    await running.pass(KEY);
    expect(api.objects.get(CANARY)?.data).toEqual(RED);
    expect(api.objects.get(CANARY)?.metadata.annotations).not.toHaveProperty('workshop.io/verdict');
  });
});

describe('[D6] the stage of a content', () => {
  const green = greenSource({ canary: 'qa-*', 'canary-bake': '1h' });
  const red = { ...green, data: RED };
  const kept = revisionObject(green, RED, { order: 1 });
  const revision = `home/colors-rev-${shortChecksum(observed(green).digest)}` as ObjectKey;
  const stageAfter = async (...objects: readonly ConfigMap[]) => {
    const { api, running } = setUp([green, kept, ...objects]);
    await running.pass(KEY);
    return api.objects.get(revision)?.metadata.annotations?.['workshop.io/canary-stage'];
  };
  const inCanary = companion(green, CANARY);

  test('is that of a new one if others hold another', async () => {
    expect(await stageAfter(inCanary, companion(red, OTHER))).toBe('trying');
  });

  const holders: Readonly<Record<string, ConfigMap>> = {
    'as written': companion(green, OTHER),
    'though somebody has edited it there': companion(green, OTHER, { data: BLUE }),
    'though its checksum was removed there': stripped(companion(green, OTHER), 'workshop.io/source-checksum'),
  };
  test.for(Object.entries(holders))(
    'is over if all others hold it, %s, and its revision is gone',
    async ([, other]) => {
      expect(await stageAfter(inCanary, other)).toBeUndefined();
    },
  );

  test('[R6] does not depend on a verdict on a companion of another source', async () => {
    const verdict = { 'workshop.io/verdict': 'bad', 'workshop.io/source-checksum': observed(green).digest };
    const tried = revisionObject(green, GREEN, { order: 2, stage: 'trying' });
    const unrelated = companion(source('home/shapes'), CANARY, { annotations: verdict });
    expect(await stageAfter(tried, unrelated, companion(red, OTHER))).toBe('trying');
  });
});

describe('[D6] a canary that somebody has changed', () => {
  const green = greenSource({ canary: 'qa-*', 'canary-bake': '1h' });
  const red = { ...green, data: RED };
  const kept = revisionObject(green, RED, { order: 1 });
  const tried = revisionObject(green, GREEN, { order: 2, stage: 'trying' });
  const canary = (of: ConfigMap, data: StringMap, annotations: StringMap = {}): ConfigMap => {
    const object = companion(of, CANARY, { data, annotations });
    const managedFields = [{ manager: 'mirror-controller', time: '2020-01-01T00:00:00Z' }];
    return { ...object, metadata: { ...object.metadata, managedFields } };
  };
  const run = (changed: ConfigMap) => {
    const { api, running, see } = setUp([green, kept, tried, changed, companion(red, OTHER)]);
    const settle = async () => {
      for (let passes = 0; passes < 5; passes += 1) {
        await running.pass(KEY);
        see();
      }
    };
    const contents = () => [api.objects.get(CANARY)?.data, api.objects.get(OTHER)?.data];
    return { api, running, settle, contents };
  };

  test.for([
    ['a heal that only removes a key restarts its bake', canary(green, { ...GREEN, extra: 'x' })],
    ['what somebody tried by hand has its bake once it is the content', canary(red, GREEN)],
  ] as const)('%s', async ([, changed]) => {
    const { api, running, settle, contents } = run(changed);
    await settle();
    expect(contents()).toEqual([GREEN, RED]);
    expect(api.objects.get(CANARY)?.metadata.annotations).toMatchObject({
      'workshop.io/source-checksum': observed(green).digest,
    });
    await running.clock.advance(3_600_000 - 1);
    await settle();
    expect(contents()).toEqual([GREEN, RED]);
    await running.clock.advance(2_000);
    await settle();
    expect(contents()).toEqual([GREEN, GREEN]);
  });

  test('still counts when it has a bad verdict', async () => {
    const { settle, contents } = run(
      canary(green, { ...GREEN, extra: 'x' }, { 'workshop.io/verdict': 'bad' }),
    );
    await settle();
    expect(contents()).toEqual([RED, RED]);
  });

  test.for(['fail', 'bd', 'good', ''])(
    '[R13] the verdict %j has no effect, which is reported once',
    async (word) => {
      const { running, settle, contents } = run(
        canary(green, { ...GREEN, extra: 'x' }, { 'workshop.io/verdict': word }),
      );
      const reasons = () =>
        running.log.told.flatMap(({ message, reason }) =>
          message === 'source needs attention' ? [reason] : [],
        );
      await settle();
      const reason = `workshop.io/verdict "${word}" on ${CANARY} has no effect; write "bad" if the content failed`;
      expect([contents(), reasons()]).toEqual([[GREEN, RED], [reason]]);
      await running.clock.advance(3_602_000);
      await settle();
      expect([contents(), reasons()]).toEqual([[GREEN, GREEN], [reason]]);
    },
  );
});

test('[D6] the end of a pass over canaries does not stop the next one, or each would write only a few', async () => {
  const green = greenSource({ 'target-namespaces': 'eu-*', canary: 'eu-*', 'canary-bake': '1h' });
  const red = { ...green, data: RED };
  const kept = revisionObject(green, RED, { order: 1 });
  const tried = revisionObject(green, GREEN, { order: 2, stage: 'trying' });
  const canaries = MANY.map((name) => companion(red, `${name}/colors-synced`));
  const { api, running, see } = setUp([green, kept, tried, ...canaries]);
  const { queue, writes, writer, reconciler } = running;
  const begin = async () => {
    queue.add(KEY);
    await queue.get();
    const pass = reconciler.reconcile(KEY);
    await new Promise(setImmediate);
    return pass.then(() => queue.done(KEY));
  };
  const answers: (() => void)[] = [];
  const first = begin();
  const [slow, ...others] = await Promise.all(canaries.map(() => writes.get()));
  api.beforeWrite = () => new Promise((resolve) => answers.push(resolve));
  const unanswered = slow && writer.write(slow).then(() => writes.done(slow));
  await new Promise(setImmediate);
  api.beforeWrite = async () => undefined;
  for (const write of others) {
    if (write === undefined) continue;
    await writer.write(write);
    writes.done(write);
  }
  await first;
  // Somebody undoes what was written, and the next pass begins before the last answer.
  const undone = others.flatMap((write) => api.objects.get(write?.step.companion as ObjectKey) ?? []);
  for (const object of undone) api.objects.set(keyOf(object), { ...object, data: RED });
  see();
  const second = begin();
  await new Promise(setImmediate);
  answers[0]?.();
  await unanswered;
  await running.carryOut();
  await second;
  expect(canaries.map((canary) => api.objects.get(keyOf(canary))?.data)).toEqual(canaries.map(() => GREEN));
});

test('[D4] [D5] what has lost its owner reference is not a revision: a pin to it changes no companion', async () => {
  const green = greenSource({ pin: shortChecksum(observed({ ...greenSource(), data: RED }).digest) });
  const { ownerReferences: _, ...metadata } = revisionObject(green, RED, { order: 1 }).metadata;
  const lost = { ...revisionObject(green, RED, { order: 1 }), metadata };
  const there = companion(green, OTHER);
  const { api, running, see } = setUp([green, lost, there]);
  await running.pass(KEY);
  see();
  await running.pass(KEY);
  expect(api.objects.get(OTHER)).toEqual(there);
  expect(api.objects.get(CANARY)).toBeUndefined();
});

describe('[D4] while the content cannot be kept', () => {
  const refuse = (api: MemoryApi) => {
    api.beforeWrite = async (key) => {
      if (key.startsWith('home/colors-rev-')) throw FORBIDDEN;
    };
  };

  test('no companion is created or updated, but what is no longer wanted is deleted', async () => {
    const green = greenSource();
    const red = { ...green, data: RED };
    const stays = companion(red, OTHER);
    const { api, running } = setUp([green, stays, companion(red, 'team-b/colors-synced')]);
    refuse(api);
    await running.pass(KEY);
    expect([...api.objects.keys()]).toEqual([KEY, OTHER]);
    expect(api.objects.get(OTHER)).toEqual(stays);
  });
});

describe('[D4] [D7] while a source that settles keeps changing', () => {
  const green = greenSource({ settle: '2s' });
  const before = { ...green, data: RED };
  const kept = revisionObject(green, RED, { order: 1 });
  const running = (...others: readonly ConfigMap[]) => {
    const set = setUp([green, kept, ...others]);
    set.running.versions.changed(observed(before), observed(green));
    return set;
  };
  const revisionsIn = ({ api }: ReturnType<typeof setUp>) =>
    [...api.objects.keys()].filter((key) => key.startsWith('home/colors-rev-')).length;

  test('its content is not kept, so that it does not push out what companions hold', async () => {
    const set = running(companion(before, CANARY), companion(before, OTHER));
    await set.running.pass(KEY);
    expect(revisionsIn(set)).toBe(1);
    await set.running.clock.advance(2_000);
    await set.running.pass(KEY);
    expect(revisionsIn(set)).toBe(2);
  });

  test('nor is a kept one that comes back the newest, so that undo leads to what companions held', async () => {
    const blue = revisionObject(green, BLUE, { order: 2 });
    const old = revisionObject(green, GREEN, { order: 1 });
    const held = companion({ ...green, data: BLUE }, OTHER);
    const set = setUp([greenSource({ settle: '2s', 'target-namespaces': 'team-a' }), old, blue, held]);
    set.running.versions.changed(observed({ ...green, data: BLUE }), observed(green));
    await set.running.pass(KEY);
    set.see();
    const key = `home/colors-rev-${shortChecksum(observed(green).digest)}` as ObjectKey;
    const order = () => set.api.objects.get(key)?.metadata.annotations?.['workshop.io/revision'];
    expect(order()).toBe('1');
    await set.running.clock.advance(2_000);
    await set.running.pass(KEY);
    expect(order()).toBe('3');
  });

  test('but it is kept before a new companion gets it', async () => {
    const set = running(companion(before, OTHER));
    await set.running.pass(KEY);
    expect(revisionsIn(set)).toBe(2);
  });

  test('also before one gets it that may be there unseen, while an older source has its name', async () => {
    const older = source(
      'away/colors',
      { 'target-namespaces': 'qa-a' },
      { createdAt: '2025-01-01T00:00:00Z' },
    );
    const set = running(older, companion(before, OTHER));
    await set.running.pass(KEY);
    expect(revisionsIn(set)).toBe(2);
  });
});

test('[R12] [D6] what a replaced companion had is forgotten once its successor is there, whichever content it holds', async () => {
  const green = greenSource({ canary: 'qa-*', 'canary-bake': '1h' });
  const kept = revisionObject(green, RED, { order: 1 });
  const tried = revisionObject(green, GREEN, { order: 2, stage: 'trying' });
  const changed = companion({ ...green, data: RED }, OTHER, {
    data: BLUE,
    immutable: true,
    annotations: { note: 'mine' },
  });
  const { api, running, see } = setUp([green, kept, tried, companion(green, CANARY), changed]);
  const note = () => api.objects.get(OTHER)?.metadata.annotations?.['note'];
  const create = api.create.bind(api);
  api.create = async (body) => {
    await create(body);
    throw new NetworkError('no reply', { code: 'ECONNRESET' });
  };
  await running.pass(KEY);
  api.create = create;
  see();
  expect([api.objects.get(OTHER)?.data, note()]).toEqual([RED, 'mine']);
  await running.pass(KEY);
  api.objects.delete(OTHER);
  see();
  await running.pass(KEY);
  expect([api.objects.get(OTHER)?.data, note()]).toEqual([RED, undefined]);
});

test('[D4] a revision that is deleted does not lead to another pass: that would drop the present one', async () => {
  const green = greenSource({ 'keep-revisions': '1' });
  const kept = [RED, BLUE, GREEN].map((data, index) => revisionObject(green, data, { order: index + 1 }));
  const { api, running } = setUp([green, ...kept]);
  await running.pass(KEY);
  const isThere = ({ metadata }: ConfigMap) => api.objects.has(`home/${metadata.name}` as ObjectKey);
  expect(kept.map(isThere)).toEqual([false, true, true]);
  expect([api.objects.has(OTHER), running.queue.length]).toEqual([true, 0]);
});
