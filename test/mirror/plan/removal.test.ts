import { describe, expect, test } from 'vitest';
import { objectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace, OwnerReference } from '../../../src/kube/api/types.ts';
import { companionShape } from '../../../src/mirror/companion/companion.ts';
import { planSource } from '../../../src/mirror/plan/plan.ts';
import { planOrphans } from '../../../src/mirror/plan/removal.ts';
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
  vocabulary,
} from '../wire.ts';
import { boundsOf, inWords, objectAt, planFor, viewOf, type World, world } from '../world.ts';

const plan = (key: string, of: World) => inWords(planFor(key, of));
const key = 'team-a/colors';
const retaining = { annotations: { 'workshop.io/deletion-policy': 'retain' } };

describe('[R4] a companion that its source no longer asks for, [O4] with the true reason,', () => {
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

  test('because the list was narrowed, goes', () => {
    expect(plans({ 'target-namespaces': 'team-c' })).toEqual([gone, 'team-c/colors-synced: none, in sync; ']);
  });

  test('because an exclusion was added, goes', () => {
    expect(plans({ 'target-namespaces': '*, !team-b, !team-a' })[0]).toBe(gone);
  });

  test('because the namespace stopped matching the selector, goes', () => {
    expect(plans({ 'target-namespace-selector': 'env=dev' }, [there])).toEqual([gone]);
  });

  test('because the targets were removed, goes', () => {
    expect(plans({}, [there])).toEqual([
      'team-a/colors-synced: create, missing; it did not exist',
      'team-b/colors-synced: delete, unwanted; the source no longer targets namespaces',
    ]);
  });

  test('because the companion name was changed, goes when the new one comes', () => {
    expect(plans({ 'target-namespaces': 'team-b', 'companion-name': 'new' }, [there])).toEqual([
      'team-b/colors-synced: delete, unwanted; companions of the source are named new now',
      'team-b/new: create, missing; it did not exist',
    ]);
  });

  test('beside the source, because its name was changed, goes', () => {
    const beside = companion(source(key), 'team-a/colors-synced');
    expect(plans({ 'companion-name': 'new' }, [beside])).toEqual([
      'team-a/colors-synced: delete, unwanted; companions of the source are named new now',
      'team-a/new: create, missing; it did not exist',
    ]);
  });

  test('goes though its source reference was stripped: its uid leads home', () => {
    expect(plans({ 'target-namespaces': 'team-c' }, [stripped(there, 'workshop.io/source')])[0]).toBe(gone);
  });

  test('[R8] stays when it does not say that it is not a copy', () => {
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

  test('[R8] of another source stays when somebody has edited its reference to name this one', () => {
    const other = source('team-a/shapes', { 'target-namespaces': 'team-b' });
    const theirs = companion(other, 'team-b/shapes-synced', {
      annotations: { 'workshop.io/source': key },
    });
    expect(plans({ 'target-namespaces': 'team-c' }, [other, theirs, kept])).toEqual([
      'team-c/colors-synced: none, in sync; ',
    ]);
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

  test('[R10] is left alone where the namespace has left the cache before it', () => {
    expect(plans({ 'target-namespaces': 'team-c' }, [there], [namespace('team-c')])[0]).toBe(
      'team-b/colors-synced: none, waiting; the namespace is gone, or has not been seen yet',
    );
  });

  test('goes when the source asks to delete, whatever the companion says', () => {
    const said = companion(source(key), 'team-b/colors-synced', retaining);
    expect(plans({ 'target-namespaces': 'team-c' }, [said])[0]).toBe(gone);
  });

  test('[R10] is waited for when it is being deleted', () => {
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

  test('[P1] is left alone where the administrator does not let us write', () => {
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

  test('[R13] stays while the request is bad', () => {
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

  test('takes the companion away', () => {
    expect(of(targets, { accepts: '' }, [there])).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
    ]);
  });

  test('takes it away though the source asks to retain', () => {
    const retained = { ...targets, 'deletion-policy': 'retain' };
    expect(of(retained, { accepts: 'x' }, [there])).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
    ]);
  });

  test('takes a retained one away though the namespace is no longer asked for', () => {
    const elsewhere = { 'target-namespaces': 'x', 'deletion-policy': 'retain' };
    expect(of(elsewhere, { accepts: 'x' }, [there])).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
      'x/colors-synced: none, no namespace; namespace x does not exist',
    ]);
  });

  test('takes nothing away that is not ours', () => {
    const refused = [`team-b/colors-synced: none, refused; ${reason}`];
    expect(of(targets, { accepts: 'x' }, [])).toEqual(refused);
    expect(of(targets, { accepts: 'x' }, [companion(source('x/y'), 'team-b/colors-synced')])).toEqual(
      refused,
    );
    expect(of(targets, { accepts: 'x' }, [stripped(there, 'workshop.io/companion')])).toEqual([
      `team-b/colors-synced: none, conflict; ${reason}, but workshop.io/companion does not name it, so it may be a copy`,
    ]);
  });

  test('is also never having consented, where consent is required', () => {
    expect(of(targets, {}, [there], { requireConsent: true })).toEqual([
      'team-b/colors-synced: delete, unwanted; the namespace has no accept-mirrors-from, and --require-consent is set',
    ]);
  });

  test('[P2] is not that the Namespace may not be read: the companion stays', () => {
    const unreadable = unreadableNamespace('team-b');
    const asking = source(key, targets);
    const view: ClusterView = { ...viewOf(world([asking, there])), namespace: () => unreadable };
    const { request } = observed(asking);
    if (!request?.ok) throw new Error('a bad request');
    expect(inWords(planSource(companionShape(observed(asking), request.value, vocabulary), view))).toEqual([
      'team-b/colors-synced: none, refused; the controller may not read the Namespace, so its consent is unknown',
    ]);
  });
});

describe('what is in a namespace stays as it is while it is unknown what the namespace accepts:', () => {
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
      ? planSource(companionShape(asking, asking.request.value, vocabulary), view)
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
  test.for(Object.entries(leaving))(
    '[P3] an empty value is well formed, and a retained companion goes %s',
    async ([, of]) => {
      const retained = companion(source(key), teamB, retaining);
      const objects = of === undefined ? [retained] : [of, retained];
      const after = await carryOut(
        key,
        world(objects, [namespace('team-a'), namespace('team-b', { accepts: '' })]),
      );
      expect(objectAt(after, teamB)).toBeUndefined();
    },
  );
});

describe('[R4] a companion that stays because of retain', () => {
  const beside = 'team-a/colors-synced';
  const other: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'x' };
  const retain = { 'deletion-policy': 'retain' };
  const namespaces = [namespace('team-a'), namespace('team-b')];
  const narrowed = source(key, { 'target-namespaces': 'team-b', ...retain });
  const unlabelled = stripped(source(key, retain), 'workshop.io/managed');

  /** The object at `at` after everything that is planned, which is nothing more the second time. */
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
        resourceVersion: '101',
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

  // [R6] calls it ours, and a mark is no delete, so [R8] does not stand against it.
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

  test('that has the annotation loses the owner reference alone', () => {
    const marked = companion(source(key), beside, retaining);
    expect(planFor(key, world([unlabelled, marked], namespaces))).toMatchObject([
      { action: 'update', state: 'retained', differences: [{ kind: 'owner references', value: [] }] },
    ]);
  });

  test('in another namespace loses an owner reference to its source, by which it would be collected', async () => {
    const owned = companion(source(key), 'team-b/colors-synced', {
      ...retaining,
      owners: [controllerReference(source(key)), other],
    });
    const after = await kept(unlabelled, owned, 'team-b/colors-synced');
    expect(after?.metadata.ownerReferences).toEqual([other]);
  });

  test('is adopted when it is desired again, and marked as the source says then', async () => {
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

describe('[R6] what the source controls beside it, and what names another object as itself,', () => {
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

  test.for(Object.entries(leaving))('is healed, and goes when the source is %s then', async ([, of]) => {
    const healed = objectAt(await carryOut(key, world([source(key), misnamed], namespaces)), beside);
    if (healed === undefined) throw new Error('it is gone');
    expect(healed.metadata.annotations).toHaveProperty(['workshop.io/companion'], beside);
    const after = await carryOut(key, world([of, healed], namespaces));
    expect(objectAt(after, beside)).toBeUndefined();
  });
});

describe('[R3] what a vanished source left behind', () => {
  const colors = source(key);
  const there = companion(colors, 'team-b/colors-synced');
  const beside = companion(colors, 'team-a/colors-synced');

  test('goes', () => {
    expect(plan(key, world([there]))).toEqual(['team-b/colors-synced: delete, unwanted; the source is gone']);
  });

  test('beside it is left to the garbage collector', () => {
    expect(plan(key, world([beside]))).toEqual([
      'team-a/colors-synced: none, waiting; the source is gone; garbage collection deletes its companion',
    ]);
  });

  test('beside it goes when it has lost its owner reference', () => {
    const unowned = companion(colors, 'team-a/colors-synced', { owners: [] });
    expect(plan(key, world([unowned]))).toEqual([
      'team-a/colors-synced: delete, unwanted; the source is gone',
    ]);
  });

  test('in another namespace goes though it has an owner reference, by which nothing is collected there', () => {
    const owned = companion(colors, 'team-b/colors-synced', { owners: [controllerReference(colors)] });
    expect(plan(key, world([owned]))).toEqual(['team-b/colors-synced: delete, unwanted; the source is gone']);
  });

  test('stays when it says itself that it is to be retained, or says what is neither', () => {
    const policy = (value: string) =>
      companion(colors, 'team-b/colors-synced', { annotations: { 'workshop.io/deletion-policy': value } });
    const retained = ['team-b/colors-synced: none, retained; the source is gone; its policy is retain'];
    expect(plan(key, world([policy('retain')]))).toEqual(retained);
    expect(plan(key, world([policy('Delete')]))).toEqual([
      'team-b/colors-synced: update, retained; the source is gone; marking it as retained',
    ]);
    expect(plan(key, world([policy('delete')]))[0]).toContain(': delete, unwanted');
  });

  test('[R8] stays when it is not ours, or a copy', () => {
    const objects = [
      configMap('team-b/a', { labels: { 'workshop.io/managed': 'companion' } }),
      companion(source('team-a/shapes'), 'team-b/b'),
      companion(colors, 'team-b/c', { annotations: { 'workshop.io/companion': 'team-b/colors-synced' } }),
      stripped(companion(colors, 'team-b/d'), 'workshop.io/companion'),
      stripped(companion(colors, 'team-b/e'), 'workshop.io/source'),
    ];
    expect(plan(key, world(objects))).toEqual([]);
  });

  test('[P1] stays where we may not write, and [R10] where the namespace is going', () => {
    const denied = world([there], [], boundsOf({ deny: 'team-b' }));
    expect(plan(key, denied)).toEqual([
      'team-b/colors-synced: none, refused; the source is gone, but the namespace is among --deny-target-namespaces',
    ]);
    expect(plan(key, world([there], [namespace('team-b', { terminating: true })]))).toEqual([
      'team-b/colors-synced: none, waiting; the namespace is being deleted',
    ]);
  });

  test('[P2] is not our business when its source was in a namespace that we do not watch', () => {
    expect(plan(key, world([there], [], boundsOf({ namespaces: ['team-b'] })))).toEqual([]);
  });
});

describe('[R4] what an unlabelled source left behind', () => {
  const unlabelled = (asks: StringMap = {}) => stripped(source(key, asks), 'workshop.io/managed');
  const there = companion(source(key), 'team-b/colors-synced');
  const beside = companion(source(key), 'team-a/colors-synced');

  test('goes, beside it and elsewhere, since its owner is still there and nothing else collects it', () => {
    expect(plan(key, world([unlabelled(), there, beside]))).toEqual([
      'team-a/colors-synced: delete, unwanted; the source is no longer labelled',
      'team-b/colors-synced: delete, unwanted; the source is no longer labelled',
    ]);
  });

  test('goes though the source has been recreated meanwhile', () => {
    const recreated = stripped(source(key, {}, { uid: 'new' }), 'workshop.io/managed');
    expect(plan(key, world([recreated, there]))[0]).toContain(': delete, unwanted');
  });

  test('stays when the source, as it is now, says retain, whatever the companion says', () => {
    expect(plan(key, world([unlabelled({ 'deletion-policy': 'retain' }), there]))).toEqual([
      'team-b/colors-synced: update, retained; the source is no longer labelled; marking it as retained',
    ]);
    const said = companion(source(key), 'team-b/colors-synced', retaining);
    expect(plan(key, world([unlabelled({ 'deletion-policy': 'retain' }), said]))).toEqual([
      'team-b/colors-synced: none, retained; the source is no longer labelled; its policy is retain',
    ]);
    expect(plan(key, world([unlabelled(), said]))[0]).toContain(': delete, unwanted');
  });

  test('stays when the source says what is neither delete nor retain', () => {
    expect(plan(key, world([unlabelled({ 'deletion-policy': '' }), there]))[0]).toContain(
      ': update, retained',
    );
  });

  test('[M8] is never the source itself, though it bears the marks of a companion', () => {
    const marked = companion(source(key), key, { uid: `uid of ${key}` });
    expect(plan(key, world([marked, there]))).toEqual([
      'team-b/colors-synced: delete, unwanted; the source is no longer labelled',
    ]);
  });
});
