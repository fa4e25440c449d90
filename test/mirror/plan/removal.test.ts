import { describe, expect, test } from 'vitest';
import { objectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace, OwnerReference } from '../../../src/kube/api/types.ts';
import { desiredOf } from '../../../src/mirror/plan/desired.ts';
import { planOrphans } from '../../../src/mirror/plan/orphans.ts';
import { planSource } from '../../../src/mirror/plan/plan.ts';
import type { Step } from '../../../src/mirror/plan/step.ts';
import type { ClusterView } from '../../../src/mirror/plan/view.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { carryOut } from '../../controller/carry-out.ts';
import {
  companion,
  configMap,
  controllerReference,
  namespace,
  observed,
  observedNamespace,
  source,
  stripped,
  unreadableNamespace,
} from '../wire.ts';
import { boundsOf, inWords, objectAt, plan, planFor, viewOf, world } from '../world.ts';

const key = 'team-a/colors';
const retaining = { annotations: { 'workshop.io/deletion-policy': 'retain' } };

describe('[R4] a companion that its source no longer asks for, [O4] with the right reason,', () => {
  const asking = (asks: StringMap) => source(key, asks);
  const namespaces = [namespace('team-a'), namespace('team-b'), namespace('team-c')];
  const there = companion(source(key), 'team-b/colors-synced');
  const kept = companion(source(key), 'team-c/colors-synced');
  const plans = (
    asks: StringMap,
    objects: readonly ConfigMap[] = [there, kept],
    of: readonly Namespace[] = namespaces,
  ) => plan(key, world([asking(asks), ...objects], of));
  const gone = 'team-b/colors-synced: delete, unwanted; the source no longer targets the namespace';

  test('is deleted because the list was narrowed', () => {
    expect(plans({ 'target-namespaces': 'team-c' })).toEqual([gone, 'team-c/colors-synced: none, in sync; ']);
  });

  test('is deleted because an exclusion was added', () => {
    expect(plans({ 'target-namespaces': '*, !team-b, !team-a' })[0]).toBe(gone);
  });

  test('is deleted because the namespace stopped matching the selector', () => {
    expect(plans({ 'target-namespace-selector': 'env=dev' }, [there])).toEqual([gone]);
  });

  test('is deleted because the targets were removed', () => {
    expect(plans({}, [there])).toEqual([
      'team-a/colors-synced: create, missing; it did not exist',
      'team-b/colors-synced: delete, unwanted; the source no longer targets namespaces',
    ]);
  });

  test('is deleted because the companion name was changed, when the new one is created', () => {
    expect(plans({ 'target-namespaces': 'team-b', 'companion-name': 'new' }, [there])).toEqual([
      'team-b/colors-synced: delete, unwanted; companions of the source are named new now',
      'team-b/new: create, missing; it did not exist',
    ]);
  });

  test('is deleted beside the source because its name was changed', () => {
    const beside = companion(source(key), 'team-a/colors-synced');
    expect(plans({ 'companion-name': 'new' }, [beside])).toEqual([
      'team-a/colors-synced: delete, unwanted; companions of the source are named new now',
      'team-a/new: create, missing; it did not exist',
    ]);
  });

  test('is deleted even without a source reference, by its uid', () => {
    expect(plans({ 'target-namespaces': 'team-c' }, [stripped(there, 'workshop.io/source')])[0]).toBe(gone);
  });

  test('[R8] stays if it may be a copy', () => {
    expect(plans({ 'target-namespaces': 'team-c' }, [stripped(there, 'workshop.io/companion')])).toEqual([
      'team-b/colors-synced: none, conflict; the source no longer targets the namespace, but workshop.io/companion does not name it, so it may be a copy',
      'team-c/colors-synced: create, missing; it did not exist',
    ]);
  });

  test('[R8] a copy that somebody made of a companion stays', () => {
    const copy = companion(source(key), 'team-b/my-copy', {
      annotations: { 'workshop.io/companion': 'team-c/colors-synced' },
    });
    expect(plans({ 'target-namespaces': 'team-c' }, [copy, kept])).toEqual([
      'team-c/colors-synced: none, in sync; ',
    ]);
  });

  test('[R8] stays if it belongs to another source and somebody edited its reference', () => {
    const other = source('team-a/shapes', { 'target-namespaces': 'team-b' });
    const theirs = companion(other, 'team-b/shapes-synced', {
      annotations: { 'workshop.io/source': key },
    });
    expect(plans({ 'target-namespaces': 'team-c' }, [other, theirs, kept])).toEqual([
      'team-c/colors-synced: none, in sync; ',
    ]);
  });

  test('[R7] is deleted where another source wants its name', () => {
    const other = source('team-a/shapes', {
      'target-namespaces': 'team-b',
      'companion-name': 'colors-synced',
    });
    expect(plans({ 'target-namespaces': 'team-c' }, [other, there])[0]).toBe(gone);
  });

  test('stays exactly as it is when it is marked and the source asks to retain', () => {
    const marked = companion(source(key), 'team-b/colors-synced', { ...retaining, data: { other: 'x' } });
    expect(plans({ 'target-namespaces': 'team-c', 'deletion-policy': 'retain' }, [marked])).toEqual([
      'team-b/colors-synced: none, retained; the source no longer targets the namespace; its policy is retain',
      'team-c/colors-synced: create, missing; it did not exist',
    ]);
  });

  test('is marked first when the source asks to retain in the same edit', () => {
    expect(plans({ 'target-namespaces': 'team-c', 'deletion-policy': 'retain' }, [there])).toEqual([
      'team-b/colors-synced: update, retained; the source no longer targets the namespace; marking it as retained',
      'team-c/colors-synced: create, missing; it did not exist',
    ]);
  });

  test('[R10] is left alone if its namespace has already left the cache', () => {
    expect(plans({ 'target-namespaces': 'team-c' }, [there], [namespace('team-c')])[0]).toBe(
      'team-b/colors-synced: none, waiting; the namespace is gone, or has not been seen yet',
    );
  });

  test('is deleted if the source says delete, whatever the companion says', () => {
    const said = companion(source(key), 'team-b/colors-synced', retaining);
    expect(plans({ 'target-namespaces': 'team-c' }, [said])[0]).toBe(gone);
  });

  test('[R4] stays if an earlier source of the name retained it', () => {
    const earlier = source(key, {}, { uid: 'earlier' });
    const kept = companion(earlier, 'team-b/colors-synced', retaining);
    expect(plans({ 'target-namespaces': 'team-c' }, [kept])[0]).toBe(
      'team-b/colors-synced: none, retained; the source no longer targets the namespace; its policy is retain',
    );
    const plain = companion(earlier, 'team-b/colors-synced');
    expect(plans({ 'target-namespaces': 'team-c' }, [plain])[0]).toBe(gone);
  });

  test('[R10] is left alone while it is being deleted', () => {
    const going = companion(source(key), 'team-b/colors-synced', { deleting: true, finalizers: ['x/y'] });
    expect(plans({ 'target-namespaces': 'team-c' }, [going])[0]).toBe(
      'team-b/colors-synced: none, waiting; the companion is being deleted',
    );
  });

  test('[R10] is left alone in a namespace that is being deleted', () => {
    const going = [namespace('team-b', { terminating: true }), namespace('team-c')];
    expect(plans({ 'target-namespaces': 'team-c' }, [there], going)[0]).toBe(
      'team-b/colors-synced: none, waiting; the namespace is being deleted',
    );
  });

  test('[P1] is left alone where the administrator forbids writes', () => {
    const of = world(
      [asking({ 'target-namespaces': 'team-c' }), there],
      namespaces,
      boundsOf({ deny: 'team-b' }),
    );
    expect(plan(key, of)[0]).toBe(
      'team-b/colors-synced: none, refused; the source no longer targets the namespace, but the namespace is among --deny-target-namespaces',
    );
    const matched = world(
      [asking({ 'target-namespaces': 'team-b' }), there],
      namespaces,
      boundsOf({ allow: 'x' }),
    );
    expect(plan(key, matched)).toEqual([
      'team-b/colors-synced: none, refused; the namespace is not among --allow-target-namespaces',
    ]);
  });

  test('[R3] stays while the source is being deleted', () => {
    expect(plan(key, world([source(key, {}, { deleting: true }), there], namespaces))).toEqual([]);
  });

  test('[R13] stays while the request is invalid', () => {
    expect(plans({ 'target-namespaces': '' })).toEqual([]);
  });
});

describe('[P3] consent withdrawn', () => {
  const of = (
    asks: StringMap,
    parts: Parameters<typeof namespace>[1],
    objects: readonly ConfigMap[],
    flags = {},
  ) => plan(key, world([source(key, asks), ...objects], [namespace('team-b', parts)], boundsOf(flags)));
  const there = companion(source(key), 'team-b/colors-synced');
  const reason = "the namespace's accept-mirrors-from does not accept team-a";
  const targets = { 'target-namespaces': 'team-b' };

  test('deletes the companion', () => {
    expect(of(targets, { accepts: '' }, [there])).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
    ]);
  });

  const stuck = {
    'is being deleted': source(key, targets, { deleting: true, finalizers: ['x/y'] }),
    'is invalid': source(key, { 'target-namespaces': '' }),
  };
  test.for(Object.entries(stuck))('deletes it even if the source %s, and nothing else', ([, object]) => {
    const namespaces = [namespace('team-b', { accepts: '' }), namespace('team-c')];
    const others = [
      companion(source(key), 'team-c/colors-synced'),
      companion(source(key), 'team-d/colors-synced'),
    ];
    expect(plan(key, world([object, there, ...others], namespaces))).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
    ]);
    const leaving = companion(source(key), 'team-b/colors-synced', { deleting: true, finalizers: ['x/y'] });
    expect(plan(key, world([object, leaving], namespaces))).toEqual([]);
  });

  test('deletes it even if the source asks to retain', () => {
    const retained = { ...targets, 'deletion-policy': 'retain' };
    expect(of(retained, { accepts: 'x' }, [there])).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
    ]);
  });

  test('deletes a retained one even if the namespace is no longer a target', () => {
    const elsewhere = { 'target-namespaces': 'x', 'deletion-policy': 'retain' };
    expect(of(elsewhere, { accepts: 'x' }, [there])).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
      'x/colors-synced: none, no namespace; namespace x does not exist',
    ]);
  });

  test('deletes nothing that is not ours', () => {
    const refused = [`team-b/colors-synced: none, refused; ${reason}`];
    expect(of(targets, { accepts: 'x' }, [])).toEqual(refused);
    expect(of(targets, { accepts: 'x' }, [companion(source('x/y'), 'team-b/colors-synced')])).toEqual(
      refused,
    );
    expect(of(targets, { accepts: 'x' }, [stripped(there, 'workshop.io/companion')])).toEqual([
      `team-b/colors-synced: none, conflict; ${reason}, but workshop.io/companion does not name it, so it may be a copy`,
    ]);
  });

  test('includes a missing consent where consent is required', () => {
    expect(of(targets, {}, [there], { requireConsent: true })).toEqual([
      'team-b/colors-synced: delete, unwanted; the namespace has no accept-mirrors-from, and --require-consent is set',
    ]);
  });

  test('[P2] does not include a Namespace that may not be read: the companion stays', () => {
    const unreadable = unreadableNamespace('team-b');
    const asking = source(key, targets);
    const view: ClusterView = { ...viewOf(world([asking, there])), namespace: () => unreadable };
    const { request } = observed(asking);
    if (!request?.ok) throw new Error('a bad request');
    expect(
      inWords(planSource(desiredOf(observed(asking), request.value, undefined, view).shape, view)),
    ).toEqual([
      'team-b/colors-synced: none, refused; the controller may not read the Namespace, so its consent is unknown',
    ]);
  });
});

describe('companions in a namespace stay as they are while its consent is unknown:', () => {
  const teamB = 'team-b/colors-synced';
  const drifted = companion(source(key), teamB, { data: {}, labels: { 'workshop.io/managed': 'x' } });
  const there = companion(source(key), teamB);
  const retain = { 'deletion-policy': 'retain' };
  const unlabelled = stripped(source(key), 'workshop.io/managed');
  /** The source, the object at the companion's key, and how the step's reason begins. */
  const cases: Readonly<
    Record<string, readonly [of: ConfigMap | undefined, object: ConfigMap | undefined, reason: string]>
  > = {
    'nothing is created': [source(key, { 'target-namespaces': 'team-b' }), undefined, 'the '],
    'nothing is healed': [source(key, { 'target-namespaces': 'team-b' }), drifted, 'the '],
    'narrowed targets delete nothing': [
      source(key, { 'target-namespaces': 'team-a' }),
      there,
      'the source no longer targets the namespace, but the ',
    ],
    'narrowed targets mark nothing to be retained': [
      source(key, { 'target-namespaces': 'team-a', ...retain }),
      there,
      'the source no longer targets the namespace, but the ',
    ],
    'an unlabelled source deletes nothing': [unlabelled, there, 'the source is no longer labelled, but the '],
    'a source that is gone deletes nothing': [undefined, there, 'the source is gone, but the '],
  };
  const says = {
    '[P3] malformed': [
      observedNamespace('team-b', { accepts: 'team-.*' }),
      "namespace's accept-mirrors-from is malformed, so nothing new is accepted: ",
    ],
    '[P2] unreadable': [unreadableNamespace('team-b'), 'controller may not read the Namespace'],
  } as const;
  for (const [kind, [teamBNamespace, why]] of Object.entries(says)) {
    test.for(Object.entries(cases))(`${kind}: %s`, ([, [of, object, reason]]) => {
      const objects = [of, object].filter((each) => each !== undefined);
      const namespaces = [namespace('team-a')];
      const view = viewOf(world(objects, namespaces));
      const seeing: ClusterView = {
        ...view,
        namespace: (name) => (name === 'team-b' ? teamBNamespace : view.namespace(name)),
      };
      const steps = planIn(seeing, of).filter((step) => step.companion === teamB);
      expect(steps).toMatchObject([{ action: 'none', state: 'refused' }]);
      expect(steps[0]?.reason).toMatch(new RegExp(`^${reason}${why}`));
    });
  }

  function planIn(view: ClusterView, of: ConfigMap | undefined): readonly Step[] {
    const asking = of && observed(of);
    return asking?.request?.ok
      ? planSource(desiredOf(asking, asking.request.value, undefined, view).shape, view)
      : planOrphans(objectKey('team-a', 'colors'), asking, view);
  }

  const leaving: Readonly<Record<string, ConfigMap | undefined>> = {
    'while the source targets it': source(key, { 'target-namespaces': 'team-b', ...retain }),
    'when the source is narrowed': source(key, { 'target-namespaces': 'team-a', ...retain }),
    'when the source is renamed': source(key, {
      'target-namespaces': 'team-b',
      'companion-name': 'new',
      ...retain,
    }),
    'when the source is unlabelled': stripped(source(key, retain), 'workshop.io/managed'),
    'when the source is gone': undefined,
  };
  test.for(Object.entries(leaving))('[P3] an empty value deletes a retained companion %s', async ([, of]) => {
    const retained = companion(source(key), teamB, retaining);
    const objects = of === undefined ? [retained] : [of, retained];
    const after = await carryOut(
      key,
      world(objects, [namespace('team-a'), namespace('team-b', { accepts: '' })]),
    );
    expect(objectAt(after, teamB)).toBeUndefined();
  });
});

describe('[R4] a companion that stays because of retain', () => {
  const beside = 'team-a/colors-synced';
  const other: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'x' };
  const retain = { 'deletion-policy': 'retain' };
  const namespaces = [namespace('team-a'), namespace('team-b')];
  const narrowed = source(key, { 'target-namespaces': 'team-b', ...retain });
  const unlabelled = stripped(source(key, retain), 'workshop.io/managed');

  /** The object at `at` after the planned steps. A second plan must have none. */
  async function kept(of: ConfigMap, object: ConfigMap, at: string): Promise<ConfigMap | undefined> {
    const after = await carryOut(key, world([of, object], namespaces));
    expect(await carryOut(key, after)).toEqual(after);
    return objectAt(after, at);
  }

  test.for([
    ['whose targets were narrowed', narrowed],
    ['that was unlabelled', unlabelled],
  ] as const)('of a source %s says so, and no deletion of the source takes it', async ([, of]) => {
    const mine = companion(source(key), beside, {
      data: { mine: 'x' },
      owners: [other, controllerReference(source(key))],
    });
    const after = await kept(of, mine, beside);
    expect(after).toEqual({
      ...mine,
      metadata: {
        ...mine.metadata,
        resourceVersion: expect.any(String),
        annotations: { ...mine.metadata.annotations, 'workshop.io/deletion-policy': 'retain' },
        ownerReferences: [other],
      },
    });
    if (after === undefined) throw new Error('it has not been kept');
    expect(planFor(key, world([after], namespaces))).toMatchObject([{ action: 'none', state: 'retained' }]);
  });

  const undesiring: Readonly<Record<string, StringMap>> = {
    'narrows the targets': { 'target-namespaces': 'team-a' },
    'adds an exclusion': { 'target-namespaces': '*, !team-b' },
    'changes the selector': { 'target-namespace-selector': 'env=dev' },
    'removes the targets': {},
    'changes the companion name': { 'target-namespaces': 'team-b', 'companion-name': 'new' },
  };
  test.for(Object.entries(undesiring))('by the edit that %s is marked first', async ([, asks]) => {
    const there = companion(source(key), 'team-b/colors-synced', { data: { mine: 'x' } });
    const after = await kept(source(key, { ...asks, ...retain }), there, 'team-b/colors-synced');
    expect(after?.metadata.annotations).toEqual({ ...there.metadata.annotations, ...retaining.annotations });
    expect(after?.data).toEqual({ mine: 'x' });
  });

  test('is marked in place when it is immutable, not replaced', async () => {
    const immutable = companion(source(key), beside, { immutable: true, data: { mine: 'x' } });
    expect(await kept(narrowed, immutable, beside)).toMatchObject({
      metadata: { uid: immutable.metadata.uid, annotations: retaining.annotations },
      immutable: true,
      data: { mine: 'x' },
    });
  });

  // It is ours by [R6], and a mark is no delete, so [R8] allows it.
  const unnamed = {
    'is not its own name': companion(source(key), beside, {
      annotations: { 'workshop.io/companion': 'team-b/x' },
    }),
    'was stripped': stripped(companion(source(key), beside), 'workshop.io/companion'),
  };
  for (const [what, mine] of Object.entries(unnamed)) {
    test.for([
      ['whose targets were narrowed', narrowed],
      ['that was unlabelled', unlabelled],
    ] as const)(`[R6] is marked though its companion annotation ${what}, of a source %s`, async ([, of]) => {
      const after = await kept(of, mine, beside);
      expect(after?.metadata.annotations).toMatchObject(retaining.annotations);
      expect(after?.metadata.ownerReferences ?? []).toEqual([]);
    });
  }

  test('that has the annotation loses only the owner reference', () => {
    const marked = companion(source(key), beside, retaining);
    expect(planFor(key, world([unlabelled, marked], namespaces))).toMatchObject([
      { action: 'update', state: 'retained', differences: [{ kind: 'owner references', value: [] }] },
    ]);
  });

  test('in another namespace loses an owner reference to its source', async () => {
    const owned = companion(source(key), 'team-b/colors-synced', {
      ...retaining,
      owners: [controllerReference(source(key)), other],
    });
    const after = await kept(unlabelled, owned, 'team-b/colors-synced');
    expect(after?.metadata.ownerReferences).toEqual([other]);
  });

  test('is adopted when the source wants it again, and marked as the source then says', async () => {
    const marked = companion(source(key), beside, { ...retaining, owners: [other], data: { old: 'x' } });
    expect(await kept(source(key), marked, beside)).toEqual({
      ...companion(source(key), beside, { owners: [other, controllerReference(source(key))] }),
      metadata: {
        ...companion(source(key), beside, { owners: [other, controllerReference(source(key))] }).metadata,
        resourceVersion: '101',
      },
    });
    const stillRetained = await kept(source(key, retain), marked, beside);
    expect(stillRetained?.metadata.ownerReferences).toEqual([other]);
    expect(stillRetained?.metadata.annotations).toMatchObject(retaining.annotations);
  });

  test('is not marked while it is being deleted', () => {
    const going = companion(source(key), beside, { deleting: true, finalizers: ['x/y'] });
    expect(planFor(key, world([unlabelled, going], namespaces))).toMatchObject([
      { action: 'none', state: 'waiting' },
    ]);
  });
});

describe('[R6] a companion beside the source that carries the name of another object', () => {
  const beside = 'team-a/colors-synced';
  const misnamed = companion(source(key), beside, { annotations: { 'workshop.io/companion': 'team-b/x' } });
  const namespaces = [namespace('team-a'), namespace('team-b')];
  const leaving = {
    narrowed: source(key, { 'target-namespaces': 'team-b' }),
    unlabelled: stripped(source(key), 'workshop.io/managed'),
  };

  test.for(Object.entries(leaving))('[R8] stays when the source is %s before the heal', async ([, of]) => {
    const after = await carryOut(key, world([of, misnamed], namespaces));
    expect(objectAt(after, beside)).toEqual(misnamed);
  });

  test.for(Object.entries(leaving))('is healed, and deleted if the source is %s then', async ([, of]) => {
    const healed = objectAt(await carryOut(key, world([source(key), misnamed], namespaces)), beside);
    if (healed === undefined) throw new Error('it is gone');
    expect(healed.metadata.annotations).toHaveProperty(['workshop.io/companion'], beside);
    const after = await carryOut(key, world([of, healed], namespaces));
    expect(objectAt(after, beside)).toBeUndefined();
  });
});

describe('[R3] the companion of a source that is gone', () => {
  const colors = source(key);
  const there = companion(colors, 'team-b/colors-synced');
  const beside = companion(colors, 'team-a/colors-synced');

  test('is deleted', () => {
    expect(plan(key, world([there]))).toEqual(['team-b/colors-synced: delete, unwanted; the source is gone']);
  });

  test('is left to garbage collection beside the source', () => {
    expect(plan(key, world([beside]))).toEqual([
      'team-a/colors-synced: none, waiting; the source is gone; garbage collection deletes its companion',
    ]);
  });

  test('is deleted beside the source if it has lost its owner reference', () => {
    const unowned = companion(colors, 'team-a/colors-synced', { owners: [] });
    expect(plan(key, world([unowned]))).toEqual([
      'team-a/colors-synced: delete, unwanted; the source is gone',
    ]);
  });

  test('is deleted in another namespace even with an owner reference, which has no effect there', () => {
    const owned = companion(colors, 'team-b/colors-synced', { owners: [controllerReference(colors)] });
    expect(plan(key, world([owned]))).toEqual(['team-b/colors-synced: delete, unwanted; the source is gone']);
  });

  test('stays if its own policy is retain or unknown', () => {
    const policy = (value: string) =>
      companion(colors, 'team-b/colors-synced', { annotations: { 'workshop.io/deletion-policy': value } });
    const retained = ['team-b/colors-synced: none, retained; the source is gone; its policy is retain'];
    expect(plan(key, world([policy('retain')]))).toEqual(retained);
    expect(plan(key, world([policy('Delete')]))).toEqual([
      'team-b/colors-synced: update, retained; the source is gone; marking it as retained',
    ]);
    expect(plan(key, world([policy('delete')]))[0]).toContain(': delete, unwanted');
  });

  test('[R8] stays if it is not ours, or a copy', () => {
    const objects = [
      configMap('team-b/a', { labels: { 'workshop.io/managed': 'companion' } }),
      companion(source('team-a/shapes'), 'team-b/b'),
      companion(colors, 'team-b/c', { annotations: { 'workshop.io/companion': 'team-b/colors-synced' } }),
      stripped(companion(colors, 'team-b/d'), 'workshop.io/companion'),
      stripped(companion(colors, 'team-b/e'), 'workshop.io/source'),
    ];
    expect(plan(key, world(objects))).toEqual([]);
  });

  test('[P1] stays where we may not write, and [R10] where the namespace is being deleted', () => {
    const denied = world([there], [], boundsOf({ deny: 'team-b' }));
    expect(plan(key, denied)).toEqual([
      'team-b/colors-synced: none, refused; the source is gone, but the namespace is among --deny-target-namespaces',
    ]);
    expect(plan(key, world([there], [namespace('team-b', { terminating: true })]))).toEqual([
      'team-b/colors-synced: none, waiting; the namespace is being deleted',
    ]);
  });

  test('[P2] is left alone if its source was in a namespace that we do not watch', () => {
    expect(plan(key, world([there], [], boundsOf({ namespaces: ['team-b'] })))).toEqual([]);
  });
});

describe('[R4] the companion of an unlabelled source', () => {
  const unlabelled = (asks: StringMap = {}) => stripped(source(key, asks), 'workshop.io/managed');
  const there = companion(source(key), 'team-b/colors-synced');
  const beside = companion(source(key), 'team-a/colors-synced');

  test('is deleted beside the source, too, because its owner still exists', () => {
    expect(plan(key, world([unlabelled(), there, beside]))).toEqual([
      'team-a/colors-synced: delete, unwanted; the source is no longer labelled',
      'team-b/colors-synced: delete, unwanted; the source is no longer labelled',
    ]);
  });

  test('is deleted even if the source has been recreated meanwhile', () => {
    const recreated = stripped(source(key, {}, { uid: 'new' }), 'workshop.io/managed');
    expect(plan(key, world([recreated, there]))[0]).toContain(': delete, unwanted');
  });

  test('stays if the live source says retain, whatever the companion says', () => {
    expect(plan(key, world([unlabelled({ 'deletion-policy': 'retain' }), there]))).toEqual([
      'team-b/colors-synced: update, retained; the source is no longer labelled; marking it as retained',
    ]);
    const said = companion(source(key), 'team-b/colors-synced', retaining);
    expect(plan(key, world([unlabelled({ 'deletion-policy': 'retain' }), said]))).toEqual([
      'team-b/colors-synced: none, retained; the source is no longer labelled; its policy is retain',
    ]);
    expect(plan(key, world([unlabelled(), said]))[0]).toContain(': delete, unwanted');
  });

  test('[R4] stays if an earlier object of the name retained it', () => {
    const kept = companion(source(key, {}, { uid: 'earlier' }), 'team-b/colors-synced', retaining);
    expect(plan(key, world([unlabelled(), kept]))).toEqual([
      'team-b/colors-synced: none, retained; the source is no longer labelled; its policy is retain',
    ]);
  });

  test('stays if the source’s policy is neither delete nor retain', () => {
    expect(plan(key, world([unlabelled({ 'deletion-policy': '' }), there]))[0]).toContain(
      ': update, retained',
    );
  });

  test('[M8] is never the source itself, even with the marks of a companion', () => {
    const marked = companion(source(key), key, { uid: `uid of ${key}` });
    expect(plan(key, world([marked, there]))).toEqual([
      'team-b/colors-synced: delete, unwanted; the source is no longer labelled',
    ]);
  });
});
