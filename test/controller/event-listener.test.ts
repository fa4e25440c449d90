import { expect, test } from 'vitest';
import { eventListener } from '../../src/controller/event-listener.ts';
import type { Happening, ProblemChanged } from '../../src/controller/memory/happening.ts';
import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../src/kube/api/types.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { Occurrence } from '../../src/recorder/occurrence.ts';
import { EventRecorder } from '../../src/recorder/recorder.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { revisionObject } from '../mirror/rollout/revisions.ts';
import { companion, namespace, observed, source } from '../mirror/wire.ts';
import { boundsOf, viewOf, world } from '../mirror/world.ts';
import { MemoryEvents } from '../recorder/memory-events.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Executor } from './executor.ts';
import { MemoryApi } from './memory-api.ts';

const KEY = 'home/colors' as ObjectKey;
const BESIDE = 'home/colors-synced' as ObjectKey;

type Told = readonly [type: string, reason: string, note: string];

/** Passes over what an API holds, and the Events about them. */
class Scene {
  readonly api: MemoryApi;
  readonly occurrences: Occurrence[] = [];
  readonly #listener = eventListener((occurrence) => this.occurrences.push(occurrence));
  readonly #namespaces: readonly Namespace[];

  constructor(objects: readonly ConfigMap[], namespaces: readonly Namespace[] = [namespace('home')]) {
    this.api = new MemoryApi(objects);
    this.#namespaces = namespaces;
  }

  /** One pass of a controller that has just started. `disturbed`: somebody changed it. */
  async pass(options: { readonly disturbed?: ObjectKey; readonly deny?: string } = {}): Promise<void> {
    const { disturbed, deny = '' } = options;
    const bounds = boundsOf({ deny });
    const executor = new Executor(
      this.api,
      viewOf(world([...this.api.objects.values()], this.#namespaces, bounds)),
    );
    if (disturbed !== undefined) executor.memory.disturbed(KEY, disturbed);
    await executor.pass(KEY);
    for (const happening of executor.happenings) this.hear(happening);
  }

  hear(happening: Happening): void {
    this.#listener(happening);
  }

  get told(): readonly Told[] {
    return this.occurrences.map(({ type, reason, note }) => [type, reason, note]);
  }
}

const edited = (manager: string): ConfigMap => {
  const of = companion(source(KEY), BESIDE, { data: { sky: 'green' } });
  return { ...of, metadata: { ...of.metadata, managedFields: [{ manager, time: '2026-01-02T03:04:05Z' }] } };
};

test('[O3] Mirrored says on the source how many companions are in sync', async () => {
  const scene = new Scene([source(KEY)]);
  await scene.pass();
  expect(scene.occurrences).toEqual([
    {
      regarding: expect.objectContaining({ kind: 'ConfigMap', namespace: 'home', name: 'colors' }),
      type: 'Normal',
      reason: 'Mirrored',
      action: 'Mirror',
      note: '1 companion in sync',
    },
  ]);
});

test('[O3] [D2] what was held and is released by a person: Mirrored says what is left', async () => {
  const scene = new Scene([source(KEY), companion(source(KEY), BESIDE)]);
  const about = { source: KEY, subject: KEY, object: observed(source(KEY)), reason: '', editedBy: undefined };
  const held = { type: 'problem', kind: 'deletes held', namespaceUid: undefined, ...about } as const;
  scene.hear({ ...held, state: 'began' });
  await scene.pass();
  expect(scene.told.map(([, reason]) => reason)).toEqual(['DeletesHeld']);
  scene.hear({ ...held, state: 'resolved' });
  await scene.pass();
  expect(scene.told.slice(1)).toEqual([['Normal', 'Mirrored', '1 companion in sync']]);
});

test('[O3] a start over settled companions, or a pass that changes none, makes no Event', async () => {
  const scene = new Scene([source(KEY), companion(source(KEY), BESIDE)]);
  await scene.pass();
  expect(scene.told).toEqual([]);
});

test('[O3] an edit of the source makes no Event, since its companions are the same', async () => {
  const before = companion(source(KEY), BESIDE);
  const scene = new Scene([{ ...source(KEY), data: { sky: 'grey' } }, before]);
  await scene.pass();
  expect(scene.api.objects.get(BESIDE)?.data).toEqual({ sky: 'grey' });
  expect(scene.told).toEqual([]);
});

test('[O3] Healed names the field manager of the edit, also when nobody watched it', async () => {
  const note = 'companion home/colors-synced healed after an edit by kubectl-edit: differs in content';
  for (const options of [{ disturbed: BESIDE }, {}]) {
    const scene = new Scene([source(KEY), edited('kubectl-edit')]);
    await scene.pass(options);
    expect(scene.told).toEqual([['Normal', 'Healed', note]]);
  }
});

test('[O3] 10,000 heals of 100 sources in a minute are 100 Events, a few requests a second, and all counted', async () => {
  const [clock, api, stop] = [new ManualClock(), new MemoryEvents(), new AbortController()];
  const deps = {
    api,
    controller: 'example.com/painter',
    instance: 'here',
    random: () => 0,
    isBusy: () => false,
  };
  const recorder = new EventRecorder({ ...deps, clock, log: new RecordedLog() });
  const running = recorder.run(stop.signal);
  const hear = eventListener((occurrence) => recorder.record(occurrence));
  const sources = Array.from({ length: 100 }, (_, number) => observed(source(`home/source-${number}`)));
  for (let round = 0; round < 100; round++) {
    for (const object of sources) {
      const { key } = object;
      const what = { source: key, object, companion: `${key}-synced` as ObjectKey, reason: 'differs' };
      hear({
        type: 'written',
        ...what,
        durationMs: 1,
        action: 'update',
        result: 'ok',
        heal: { editedBy: 'kubectl' },
      });
    }
    await clock.advance(600);
  }
  expect(api.requests.length).toBeLessThanOrEqual(100 + 10 * 60);
  await clock.advance(60_000);
  expect(api.events.size).toBe(100);
  expect(api.told.reduce((sum, [, , count]) => sum + count, 0)).toBe(10_000);
  expect(recorder.dropped).toBe(0);
  stop.abort();
  await running;
});

test('[O3] Healed says so when somebody deleted a companion', async () => {
  const scene = new Scene([source(KEY)]);
  await scene.pass({ disturbed: BESIDE });
  expect(scene.told).toEqual([
    ['Normal', 'Healed', 'companion home/colors-synced recreated after it was deleted'],
  ]);
});

test('[O3] companions in conflict, refused or without a namespace are reported and counted', async () => {
  const other: ConfigMap = { metadata: { ...source('team-a/colors-synced').metadata, labels: {} } };
  const asks = { 'target-namespaces': 'team-a, team-b, prod, gone' };
  const scene = new Scene(
    [source(KEY, asks), other],
    ['home', 'team-a', 'team-b', 'prod'].map((name) => namespace(name)),
  );
  await scene.pass({ deny: 'prod' });
  expect(scene.told.toSorted()).toEqual([
    ['Normal', 'Mirrored', '1 companion in sync, 1 in conflict, 1 refused, 1 without a namespace'],
    [
      'Warning',
      'Conflict',
      'companion team-a/colors-synced: a ConfigMap with this name exists and is not managed by mirror-controller',
    ],
    ['Warning', 'Refused', expect.stringMatching(/^companion prod\/colors-synced: /)],
    ['Warning', 'TargetMissing', 'companion gone/colors-synced: namespace gone does not exist'],
  ]);
});

test('[O3] Mirrored waits for what failed, and WriteFailed says why', async () => {
  const asks = { 'target-namespaces': 'team-*' };
  const scene = new Scene(
    [source(KEY, asks)],
    ['home', 'team-a', 'team-b'].map((name) => namespace(name)),
  );
  scene.api.beforeWrite = async (key) => {
    if (key.startsWith('team-b/')) throw new ApiError('no quota', { status: 403, reason: 'Forbidden' });
  };
  await scene.pass();
  scene.api.beforeWrite = async () => undefined;
  await scene.pass();
  await scene.pass();
  expect(scene.told).toEqual([
    ['Warning', 'WriteFailed', 'companion team-b/colors-synced: 403 Forbidden: no quota'],
    ['Normal', 'Mirrored', '2 companions in sync'],
  ]);
});

const UNFINISHED = ['missing', 'drifted', 'unwanted', 'waiting'] as const;
test.for(UNFINISHED)('[O3] Mirrored waits while a companion is %s', (state) => {
  const scene = new Scene([]);
  const about = { source: KEY, object: observed(source(KEY)), durationMs: 1 };
  const reconciled = { type: 'reconciled', result: 'ok', ...about } as const;
  const result = { action: 'create', reason: '', result: 'ok', heal: undefined } as const;
  scene.hear({ type: 'written', companion: BESIDE, ...result, ...about });
  scene.hear({ ...reconciled, companions: { 'in sync': 1, [state]: 1 }, inSync: false });
  expect(scene.told).toEqual([]);
  scene.hear({ ...reconciled, companions: { 'in sync': 1 }, inSync: true });
  expect(scene.told).toEqual([['Normal', 'Mirrored', '1 companion in sync']]);
});

test('[O3] what happened to a source that is gone makes no Event about one of its name', () => {
  const scene = new Scene([]);
  const about = { source: KEY, durationMs: 1, companion: BESIDE, reason: '', heal: undefined };
  const reconciled = { type: 'reconciled', result: 'ok', source: KEY, durationMs: 1 } as const;
  scene.hear({ type: 'written', action: 'create', result: 'ok', object: observed(source(KEY)), ...about });
  scene.hear({ ...reconciled, object: undefined, companions: { unwanted: 1 }, inSync: false });
  scene.hear({ ...reconciled, object: observed(source(KEY)), companions: { 'in sync': 1 }, inSync: true });
  expect(scene.told).toEqual([]);
});

test('[O3] InvalidAnnotation is about a malformed annotation, or an unknown one', async () => {
  const malformed = new Scene([source(KEY, { 'deletion-policy': 'x' })]);
  await malformed.pass();
  expect(malformed.told).toEqual([
    ['Warning', 'InvalidAnnotation', expect.stringContaining('deletion-policy')],
  ]);
  const unknown = new Scene([source(KEY, { 'include-key': '*' }), companion(source(KEY), BESIDE)]);
  await unknown.pass();
  expect(unknown.told).toEqual([['Warning', 'InvalidAnnotation', expect.stringContaining('did you mean')]]);
});

test('[O3] Fighting names the other client; the end of a problem makes no Event', () => {
  const scene = new Scene([]);
  const fight: ProblemChanged = {
    ...{ type: 'problem', state: 'began', kind: 'fighting', source: KEY, object: observed(source(KEY)) },
    ...{ subject: BESIDE, reason: '', editedBy: 'flux', namespaceUid: undefined },
  };
  scene.hear(fight);
  scene.hear({ ...fight, state: 'resolved' });
  const note = 'companion home/colors-synced: flux keeps changing it; backing off';
  expect(scene.told).toEqual([['Warning', 'Fighting', note]]);
});

test('[D1] DeletesHeld says how to release them, on the source or, when it is gone, on its Namespace', async () => {
  const of = source(KEY, { 'target-namespaces': 'home' });
  const there = companion(of, 'team-a/colors-synced', { annotations: { 'workshop.io/held': '0123abcd' } });
  const namespaces = [namespace('home'), namespace('team-a')];
  const release = (where: string) =>
    `1 deletion is held (wave 0123abcd); if that is intended: mirror-controller release ${KEY}, or annotate ${where} with workshop.io/allow-deletes=0123abcd`;
  const present = new Scene([of, companion(of, BESIDE), there], namespaces);
  await present.pass();
  expect(present.told).toEqual([['Warning', 'DeletesHeld', release('it')]]);
  for (const uid of ['uid of home', 'home']) {
    const gone = new Scene([there], uid === 'home' ? namespaces.slice(1) : namespaces);
    await gone.pass();
    expect(gone.told).toEqual([['Warning', 'DeletesHeld', `${KEY}: ${release('Namespace home')}`]]);
    expect(gone.occurrences[0]?.regarding).toEqual({
      apiVersion: 'v1',
      kind: 'Namespace',
      name: 'home',
      uid,
    });
  }
});

test('[O3] a source that is gone or unlabelled gets no Event', async () => {
  const gone = new Scene(
    [companion(source(KEY), 'team-a/colors-synced')],
    [namespace('home'), namespace('team-a')],
  );
  await gone.pass();
  expect(gone.api.objects.size).toBe(0);
  const { labels: _, ...metadata } = source(KEY).metadata;
  const unlabelled = new Scene([{ ...source(KEY), metadata }, companion(source(KEY), BESIDE)]);
  await unlabelled.pass();
  expect([...unlabelled.api.objects.keys()]).toEqual([KEY]);
  expect([...gone.told, ...unlabelled.told]).toEqual([]);
});

test('[D5] [D6] Events say that new content waits, has failed, or cannot be pinned', async () => {
  const asks = { 'keep-revisions': '5', 'target-namespaces': '*', canary: 'home', 'canary-bake': 'manual' };
  const of = source(KEY, asks, { data: { sky: 'green' } });
  const digest = observed(of).digest.slice(0, 8);
  const held = companion(of, BESIDE);
  const revisions = (stage: 'trying' | 'failed') => [
    revisionObject(of, { sky: 'red' }, { order: 1 }),
    revisionObject(of, { sky: 'green' }, { order: 2, stage }),
  ];
  const waiting = new Scene([of, held, ...revisions('trying')]);
  await waiting.pass();
  const waits = `content ${digest} is in 1 canary and waits for workshop.io/canary-approve=${digest}`;
  expect(waiting.told).toEqual([['Normal', 'CanaryWaiting', waits]]);
  const failed = new Scene([of, held, ...revisions('failed')]);
  await failed.pass();
  expect(failed.told).toEqual([
    ['Warning', 'CanaryFailed', expect.stringContaining(`content ${digest} failed in a canary`)],
  ]);
  const pinned = new Scene([source(KEY, { ...asks, pin: '00000000' }), ...revisions('trying')]);
  await pinned.pass();
  expect(pinned.told).toEqual([
    ['Warning', 'RevisionMissing', expect.stringContaining('pinned to revision 00000000, which does not')],
  ]);
});

test('[D4] RevisionNotKept names the revision that cannot be kept', async () => {
  const of = source(KEY, { 'keep-revisions': '5' });
  const revision = revisionObject(of, { colour: 'red' }, { order: 1 });
  const namesake = { ...revision, metadata: { ...revision.metadata, labels: {}, ownerReferences: [] } };
  const scene = new Scene([of, namesake]);
  await scene.pass();
  const name = `home/${revision.metadata.name}`;
  const note = `revision ${name}: a ConfigMap with this name exists and is not a revision of the source`;
  expect(scene.told).toEqual([['Warning', 'RevisionNotKept', note]]);
});
