import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { desiredOf } from '../../../src/mirror/plan/desired.ts';
import { planSource } from '../../../src/mirror/plan/plan.ts';
import type { ClusterView } from '../../../src/mirror/plan/view.ts';
import { carryOut } from '../../controller/carry-out.ts';
import { companion, configMap, controllerReference, namespace, observed, source, stripped } from '../wire.ts';
import { boundsOf, inWords, isWrite, objectAt, plan, planFor, viewOf, world } from '../world.ts';

describe('[M1] a source without targets', () => {
  const colors = source('team-a/colors');
  const settled = companion(colors, 'team-a/colors-synced');
  const at = 'team-a/colors-synced';

  test('gets one companion, beside it', () => {
    expect(plan('team-a/colors', world([colors]))).toEqual([`${at}: create, missing; it did not exist`]);
  });

  test('needs nothing more when it has it', () => {
    expect(plan('team-a/colors', world([colors, settled]))).toEqual([`${at}: none, in sync; `]);
  });

  test('gets a complete companion', async () => {
    const { creationTimestamp: _, ...metadata } = settled.metadata;
    expect(objectAt(await carryOut('team-a/colors', world([colors])), at)).toEqual({
      ...settled,
      metadata: { ...metadata, uid: `new uid of ${at}`, resourceVersion: '101' },
    });
  });

  test('[P1] gets its companion even in a denied namespace', () => {
    const of = world([source('kube-system/x')], [], boundsOf({ allow: '', requireConsent: true }));
    expect(plan('kube-system/x', of)).toEqual(['kube-system/x-synced: create, missing; it did not exist']);
  });

  test('[M5] has drift healed, and the reason names the differences', () => {
    const drifted = companion(colors, at, {
      data: {},
      labels: { 'app.kubernetes.io/managed-by': 'x' },
      owners: [],
    });
    expect(plan('team-a/colors', world([colors, stripped(drifted, 'workshop.io/source')]))).toEqual([
      `${at}: update, drifted; differs in content, label app.kubernetes.io/managed-by, annotation workshop.io/source, owner references`,
    ]);
  });

  test('[M5] keeps an immutable companion while only its metadata must change', () => {
    const immutable = companion(colors, at, { immutable: true, owners: [] });
    expect(plan('team-a/colors', world([colors, immutable]))).toEqual([
      `${at}: update, drifted; differs in owner references`,
    ]);
    expect(plan('team-a/colors', world([colors, { ...settled, immutable: true }]))).toEqual([
      `${at}: none, in sync; `,
    ]);
  });

  test('[R12] has an immutable companion replaced when its content must change', async () => {
    const immutable = companion(colors, at, { immutable: true, data: { colour: 'blue' } });
    expect(plan('team-a/colors', world([colors, immutable]))).toEqual([
      `${at}: replace, drifted; differs in content`,
    ]);
    const both = companion(colors, at, { immutable: true, data: {}, owners: [] });
    expect(planFor('team-a/colors', world([colors, both]))).toMatchObject([{ action: 'replace' }]);
    const after = objectAt(await carryOut('team-a/colors', world([colors, immutable])), at);
    expect([after?.data, after?.immutable]).toEqual([{ colour: 'red' }, undefined]);
  });

  test('[R10] waits for a companion that is being deleted', () => {
    const going = companion(colors, at, { deleting: true, finalizers: ['x/y'], data: {} });
    expect(plan('team-a/colors', world([colors, going]))).toEqual([
      `${at}: none, waiting; the companion is being deleted, and will be recreated`,
    ]);
  });

  test('[R3] gets nothing while it is being deleted', () => {
    expect(plan('team-a/colors', world([source('team-a/colors', {}, { deleting: true })]))).toEqual([]);
  });

  test('[R6] adopts the companion that the workshop’s Go controller made', async () => {
    const made = configMap(at, { data: { colour: 'red' }, owners: [controllerReference(colors)] });
    const labelled = {
      ...made,
      metadata: { ...made.metadata, labels: { 'workshop.io/managed': 'companion' } },
    };
    expect(planFor('team-a/colors', world([colors, labelled]))).toMatchObject([{ action: 'update' }]);
    // The watch does not show it without the label, so the create meets it.
    expect(objectAt(await carryOut('team-a/colors', world([colors, made])), at)).toMatchObject({
      metadata: { uid: made.metadata.uid, labels: { 'workshop.io/managed': 'companion' } },
    });
  });

  test.for(['team-b/colors-synced', 'nonsense', ''])(
    '[R6] heals the annotation %j of a companion that it controls',
    async (text) => {
      const annotations = { 'workshop.io/companion': text, 'workshop.io/source': 'x/y' };
      const tampered = companion(colors, at, { annotations });
      expect(plan('team-a/colors', world([colors, tampered]))).toEqual([
        `${at}: update, drifted; differs in annotation workshop.io/source, annotation workshop.io/companion`,
      ]);
      const after = objectAt(await carryOut('team-a/colors', world([colors, tampered])), at);
      expect(after?.metadata).toEqual({ ...settled.metadata, resourceVersion: '101' });
    },
  );

  test('[R11] adopts the companion of an earlier source of its name', async () => {
    const recreated = source('team-a/colors', {}, { uid: 'new' });
    const after = await carryOut('team-a/colors', world([recreated, settled]));
    expect(objectAt(after, at)?.metadata).toMatchObject({
      uid: settled.metadata.uid,
      annotations: { 'workshop.io/source-uid': 'new' },
      ownerReferences: [controllerReference(recreated)],
    });
    expect(planFor('team-a/colors', after).filter(isWrite)).toEqual([]);
  });
});

test('[O4] a source without targets waits while its namespace is being deleted, and the reason says so', () => {
  const colors = source('team-a/colors');
  const namespaces = [namespace('team-a', { terminating: true })];
  const waits = 'team-a/colors-synced: none, waiting; the namespace is being deleted';
  expect(plan('team-a/colors', world([colors], namespaces))).toEqual([waits]);
  const leaving = companion(colors, 'team-a/colors-synced', { deleting: true });
  expect(plan('team-a/colors', world([colors, leaving], namespaces))).toEqual([waits]);
});

test('[R4] a companion beside a source with targets is not deleted before its Namespace has been seen', () => {
  const colors = source('team-a/colors', { 'target-namespaces': 'team-*' });
  const beside = companion(colors, 'team-a/colors-synced');
  const waits = 'team-a/colors-synced: none, waiting; the namespace has not been seen yet';
  expect(plan('team-a/colors', world([colors, beside], [namespace('team-b')]))).toContain(waits);
});

describe('[R13] a source whose selection of keys', () => {
  const at = 'team-a/colors-synced';
  const drifted = companion(source('team-a/colors'), at, { data: { colour: 'blue' }, owners: [] });
  const left = companion(source('team-a/colors'), 'team-b/colors-synced');
  const passed = (asking: ConfigMap) =>
    carryOut('team-a/colors', world([asking, drifted, left], [namespace('team-a'), namespace('team-b')]));

  test.for([{ 'include-keys': 'colours' }, { 'exclude-keys': '*' }])(
    'is of no key, %j, has its companions neither healed nor deleted',
    async (asks) => {
      const of = await passed(source('team-a/colors', asks));
      expect(objectAt(of, at)).toEqual(drifted);
      expect(objectAt(of, 'team-b/colors-synced')).toEqual(left);
    },
  );

  test.for([{ 'include-keys': 'colours' }, { 'exclude-keys': '*' }])(
    'is of no key, %j, has them synced while it has no key to select',
    async (asks) => {
      const of = await passed(source('team-a/colors', asks, { data: {} }));
      expect(objectAt(of, at)?.data ?? {}).toEqual({});
      expect(objectAt(of, 'team-b/colors-synced')).toBeUndefined();
    },
  );
});

describe('[R6] an unrelated object at the name is a conflict', () => {
  const colors = source('team-a/colors');
  const at = 'team-a/colors-synced';
  const conflict = (reason: string) => [`${at}: none, conflict; ${reason}`];
  const unrelated = 'a ConfigMap with this name exists and is not managed by mirror-controller';
  const cases = {
    'a source of that name': [source(at), 'a source has this name'],
    'a source of that name with a bad request': [
      source(at, { 'deletion-policy': '' }),
      'a source has this name',
    ],
    'a companion of another source': [companion(source('b/c'), at), 'it is the companion of b/c'],
    'a ConfigMap that has only the label': [
      configMap(at, { labels: { 'workshop.io/managed': 'companion' } }),
      unrelated,
    ],
    'a copy of a companion of the same source': [
      companion(colors, at, {
        annotations: { 'workshop.io/companion': 'team-b/colors-synced' },
        owners: [],
      }),
      unrelated,
    ],
  } as const;
  test.for(Object.entries(cases))('%s', ([, [object, reason]]) => {
    expect(plan('team-a/colors', world([colors, object]))).toEqual(conflict(reason));
  });

  test('a ConfigMap that the watch does not show stays as it is', async () => {
    const hidden = configMap(at, { data: { mine: 'x' } });
    const after = await carryOut('team-a/colors', world([colors, hidden]));
    expect(objectAt(after, at)).toEqual(hidden);
  });

  test('the other namespaces are not affected', () => {
    const wide = source('team-a/colors', { 'target-namespaces': 'b, c' });
    const namespaces = [namespace('b'), namespace('c')];
    expect(
      plan('team-a/colors', world([wide, companion(source('x/y'), 'b/colors-synced')], namespaces)),
    ).toEqual([
      'b/colors-synced: none, conflict; it is the companion of x/y',
      'c/colors-synced: create, missing; it did not exist',
    ]);
  });
});

describe('[R7] two sources for one name', () => {
  const asks = { 'target-namespaces': 'prod', 'companion-name': 'shared' };
  const older = source('z/old', asks, { createdAt: '2026-01-01T00:00:00Z' });
  const younger = source('a/new', asks, { createdAt: '2026-01-01T00:00:01Z' });
  const prod = [namespace('prod')];

  test('the older source gets a free name, and the other one’s reason names it', () => {
    const of = world([older, younger], prod);
    expect(plan('z/old', of)).toEqual(['prod/shared: create, missing; it did not exist']);
    expect(plan('a/new', of)).toEqual([
      'prod/shared: defer, conflict; source z/old wants the same name and comes first',
    ]);
  });

  test('the source that has the name keeps it, even if it is younger', () => {
    const of = world([older, younger, companion(younger, 'prod/shared')], prod);
    expect(plan('z/old', of)).toEqual(['prod/shared: none, conflict; it is the companion of a/new']);
    expect(plan('a/new', of)).toEqual(['prod/shared: none, in sync; ']);
  });

  test('when the older source is gone the other gets the name', () => {
    expect(plan('a/new', world([younger], prod))).toEqual(['prod/shared: create, missing; it did not exist']);
  });
});

describe('[M2] a source with targets', () => {
  const colors = source('team-a/colors', {
    'target-namespaces': 'team-*, !team-x',
    'target-namespace-selector': 'env=dev',
  });
  const namespaces = [
    namespace('team-a'),
    namespace('team-b'),
    namespace('team-x', { labels: { env: 'dev' } }),
    namespace('qa', { labels: { env: 'dev' } }),
    namespace('prod'),
    namespace('kube-dev', { labels: { env: 'dev' } }),
    namespace('team-closed', { accepts: 'x' }),
    namespace('team-going', { terminating: true }),
  ];

  test('gets a companion in every matching, active and permitted namespace, and a reason for each other one', () => {
    expect(plan('team-a/colors', world([colors], namespaces))).toEqual([
      'kube-dev/colors-synced: none, refused; the namespace is among --deny-target-namespaces',
      'qa/colors-synced: create, missing; it did not exist',
      'team-a/colors-synced: create, missing; it did not exist',
      'team-b/colors-synced: create, missing; it did not exist',
      "team-closed/colors-synced: none, refused; the namespace's accept-mirrors-from does not accept team-a",
      'team-going/colors-synced: none, waiting; the namespace is being deleted',
    ]);
  });

  test('gets no owner reference outside its own namespace', async () => {
    const after = await carryOut('team-a/colors', world([colors], namespaces));
    const owners = (key: string) => objectAt(after, key)?.metadata.ownerReferences;
    expect(owners('team-b/colors-synced')).toBeUndefined();
    expect(owners('team-a/colors-synced')).toEqual([controllerReference(colors)]);
  });

  test('[R13] gets a report of named namespaces that do not exist, unless the bounds exclude them', () => {
    const asking = source('team-a/colors', {
      'target-namespaces': 'nowhere, !not-there, not-there, kube-x, te*',
    });
    const of = world([asking], [namespace('team-b')]);
    expect(plan('team-a/colors', of)).toEqual([
      'kube-x/colors-synced: none, refused; the namespace is among --deny-target-namespaces',
      'nowhere/colors-synced: none, no namespace; namespace nowhere does not exist',
      'team-b/colors-synced: create, missing; it did not exist',
    ]);
    const bounded = world([asking], [], boundsOf({ namespaces: ['team-a', 'nowhere'] }));
    expect(plan('team-a/colors', bounded)).toEqual([
      'kube-x/colors-synced: none, refused; the namespace is not among --namespaces',
      'nowhere/colors-synced: none, no namespace; namespace nowhere does not exist',
    ]);
  });

  test('[R13] leaves alone what the cache still has in a named namespace that is gone', () => {
    const asking = source('team-a/colors', { 'target-namespaces': 'team-b' });
    const of = world([asking, companion(asking, 'team-b/colors-synced', { data: {} })], []);
    expect(plan('team-a/colors', of)).toEqual([
      'team-b/colors-synced: none, no namespace; namespace team-b does not exist',
    ]);
  });

  test('with exact names costs a lookup each, not a search of all namespaces', () => {
    const asking = source('team-a/colors', { 'target-namespaces': 'team-b, !team-x*' });
    const view: ClusterView = {
      ...viewOf(world([asking], namespaces)),
      namespaces: () => {
        throw new Error('all namespaces were asked for');
      },
    };
    const { request } = observed(asking);
    if (!request?.ok) throw new Error('a bad request');
    expect(
      inWords(planSource(desiredOf(observed(asking), request.value, undefined, view).shape, view)),
    ).toHaveLength(1);
  });

  test('[M8] whose companions have its own name is never written', async () => {
    const own = source('team-a/colors', { 'target-namespaces': '*', 'companion-name': '{name}' });
    const before = world([own], [namespace('team-a'), namespace('team-b')]);
    expect(plan('team-a/colors', before)).toEqual(['team-b/colors: create, missing; it did not exist']);
    expect(objectAt(await carryOut('team-a/colors', before), 'team-a/colors')).toBe(own);
  });
});
