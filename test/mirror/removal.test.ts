import { describe, expect, test } from 'vitest';
import type { ConfigMap, Namespace } from '../../src/kube/api/types.ts';
import { companionShape } from '../../src/mirror/companion/companion.ts';
import { planSource } from '../../src/mirror/plan/plan.ts';
import type { ClusterView } from '../../src/mirror/plan/view.ts';
import {
  companion,
  configMap,
  controllerReference,
  namespace,
  observed,
  type StringMap,
  source,
  stripped,
  unreadableNamespace,
  vocabulary,
} from './wire.ts';
import { boundsOf, inWords, planFor, viewOf, type World, world } from './world.ts';

const plan = (key: string, of: World) => inWords(planFor(key, of));
const key = 'team-a/colors';
const retaining = { annotations: { 'workshop.io/deletion-policy': 'retain' } };

describe('[R4] a companion that its source no longer needs', () => {
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

  test('[R8] stays when it does not say that it is no copy', () => {
    expect(plans({ 'target-namespaces': 'team-c' }, [stripped(there, 'workshop.io/companion')])).toEqual([
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

  test('stays when the source asks to retain: marked first, then as it is', () => {
    const asks = { 'target-namespaces': 'team-c', 'deletion-policy': 'retain' };
    expect(plans(asks, [there])[0]).toBe(
      'team-b/colors-synced: update, retained; the source no longer targets the namespace; marking it as retained',
    );
    const marked = companion(source(key), 'team-b/colors-synced', retaining);
    expect(plans(asks, [marked])[0]).toBe(
      'team-b/colors-synced: none, retained; the source no longer targets the namespace; its policy is retain',
    );
  });

  test('[R3] beside the source loses its owner reference when it is retained, and nobody else’s', () => {
    const other = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'y' };
    const owners = [controllerReference(source(key)), other];
    const beside = companion(source(key), 'team-a/colors-synced', { owners });
    const asks = { 'target-namespaces': 'team-c', 'deletion-policy': 'retain' };
    const [step] = planFor(key, world([asking(asks), beside], namespaces)).filter(
      ({ action }) => action === 'update',
    );
    expect(step).toMatchObject({
      companion: 'team-a/colors-synced',
      state: 'retained',
      differences: [
        { kind: 'annotation', key: 'workshop.io/deletion-policy', value: 'retain' },
        { kind: 'owner references', value: [other] },
      ],
    });
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
    const elsewhere = { 'target-namespaces': 'x-*', 'deletion-policy': 'retain' };
    expect(of(elsewhere, { accepts: 'x' }, [there])).toEqual([
      `team-b/colors-synced: delete, unwanted; ${reason}`,
    ]);
  });

  test('takes nothing away that is not ours', () => {
    const refused = [`team-b/colors-synced: none, refused; ${reason}`];
    expect(of(targets, { accepts: 'x' }, [])).toEqual(refused);
    expect(of(targets, { accepts: 'x' }, [companion(source('x/y'), 'team-b/colors-synced')])).toEqual(
      refused,
    );
    expect(of(targets, { accepts: 'x' }, [stripped(there, 'workshop.io/companion')])).toEqual(refused);
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
    expect(plan(key, world([policy('retain')]))).toEqual([
      'team-b/colors-synced: none, retained; the source is gone; its policy is retain',
    ]);
    expect(plan(key, world([policy('Delete')]))[0]).toContain(': update, retained');
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

  test('goes though the source has been made anew meanwhile', () => {
    const anew = stripped(source(key, {}, { uid: 'new' }), 'workshop.io/managed');
    expect(plan(key, world([anew, there]))[0]).toContain(': delete, unwanted');
  });

  test('stays when the source, as it is now, says retain, whatever the companion says', () => {
    expect(plan(key, world([unlabelled({ 'deletion-policy': 'retain' }), there]))).toEqual([
      'team-b/colors-synced: update, retained; the source is no longer labelled; marking it as retained',
    ]);
    const said = companion(source(key), 'team-b/colors-synced', retaining);
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

describe('[P3] [P2] where consent is malformed or cannot be read', () => {
  const there = companion(source(key), 'team-b/colors-synced');
  const typo = namespace('team-b', { accepts: 'Team-A' });
  const plans = (objects: readonly ConfigMap[]) => plan(key, world([...objects, there], [typo]));

  test('a companion stays when its source targets the namespace, no longer does, is unlabelled, or is gone', () => {
    const unlabelled = stripped(source(key), 'workshop.io/managed');
    const worlds = [
      [source(key, { 'target-namespaces': 'team-*' })],
      [source(key, { 'target-namespaces': 'x-*' })],
      [unlabelled],
      [],
    ];
    for (const objects of worlds) {
      expect(plans(objects)).toEqual([
        expect.stringMatching(/^team-b\/colors-synced: none, refused; .*malformed/),
      ]);
    }
  });

  test('nothing new is created', () => {
    const asks = { 'target-namespaces': 'team-b', 'companion-name': 'new' };
    expect(plan(key, world([source(key, asks)], [typo]))).toEqual([
      expect.stringMatching(/^team-b\/new: none, refused; .*malformed/),
    ]);
  });
});
