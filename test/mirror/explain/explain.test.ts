import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { objectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../../src/kube/api/types.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { inventoryOf } from '../inventory-of.ts';
import { randomWorld } from '../random-world.ts';
import { revisionObject } from '../rollout/revisions.ts';
import { companion, configMap, namespace, observed, source, stripped } from '../wire.ts';
import { boundsOf, type World, world } from '../world.ts';
import { explain, inWords } from './ask.ts';

/** Of the view. */
const NOW = new Date(world([]).now ?? 0).toISOString();

const targets = { 'target-namespaces': 'team-*, !team-z' };
const colors = source('home/colors', targets);
const spaces = [namespace('home'), namespace('team-a'), namespace('team-z')];
const settled = companion(colors, 'team-a/colors-synced');
const ask = (objects: readonly ConfigMap[], target = 'team-a', namespaces: readonly Namespace[] = spaces) =>
  inWords(explain('home/colors', target, world(objects, namespaces)));
/** The last check, and the remedy. */
const end = (...args: Parameters<typeof ask>) => ask(...args).slice(-2);

describe('[C8] explain', () => {
  test('walks to the end when all is well, with the evidence of each check', () => {
    expect(ask([colors, settled])).toEqual([
      'label: workshop.io/managed=true',
      'annotations: target-namespaces: team-*, !team-z',
      'target: "team-*" in target-namespaces matches team-a',
      "bounds: allowed by the controller's flags",
      'namespace: team-a exists',
      'consent: team-a has no accept-mirrors-from, so it accepts all namespaces',
      "name: team-a/colors-synced is this source's companion",
      'content: as the source wants it',
    ]);
  });

  test('never suggests a list of namespaces that would be too long', () => {
    const full = Array.from({ length: 10_000 }, (_, at) => `ns-${at}`).join(',');
    const advice = 'name fewer namespaces, or write prefixes that end in "*", such as "team-*".';
    for (const list of [`${full},!team-a`, `${full},one-more`]) {
      expect(end([source('home/colors', { 'target-namespaces': list })])[1]).toBe(
        'Correct the annotation workshop.io/target-namespaces. Until then companions stay as they are.',
      );
    }
    expect(end([source('home/colors', { 'target-namespaces': full })])).toEqual([
      'target: nothing in the target annotations matches team-a',
      `Shorten workshop.io/target-namespaces, and add team-a: ${advice}`,
    ]);
    const accepting = namespace('team-a', { accepts: full });
    expect(end([colors], 'team-a', [accepting])[1]).toBe(
      `Shorten workshop.io/accept-mirrors-from of Namespace team-a, and add home: ${advice}`,
    );
  });

  test('[D5] [D6] says what new content waits for, and which command ends that', () => {
    const asks = { ...targets, 'keep-revisions': '5', canary: 'team-z', 'canary-bake': 'manual' };
    const green = source('home/colors', asks, { data: { sky: 'green' } });
    const red = { sky: 'red' };
    const kept = [
      revisionObject(green, red, { order: 1 }),
      revisionObject(green, { sky: 'green' }, { order: 2, stage: 'trying' }),
    ];
    const held = companion({ ...green, data: red }, 'team-a/colors-synced');
    const short = observed(green).digest.slice(0, 8);
    expect(end([green, held, ...kept])).toEqual([
      `content: content ${short} waits: no target namespace is a canary`,
      `kubectl annotate configmap colors --namespace home --overwrite workshop.io/canary-approve=${short}`,
    ]);
    const pinned = source('home/colors', { ...asks, pin: '00000000' });
    expect(end([pinned, held, ...kept])).toEqual([
      'content: pinned to revision 00000000, which does not exist',
      'kubectl annotate configmap colors --namespace home --overwrite workshop.io/pin-',
    ]);
  });

  test.for([{}, { 'keep-revisions': '5', canary: 'team-a' }])(
    '[D7] content that waits for quiet, with %o: no approval would bring it',
    (asks) => {
      const of = source('home/colors', { ...targets, settle: '5s', ...asks }, { data: { sky: 'green' } });
      const held = companion({ ...of, data: { sky: 'red' } }, 'team-a/colors-synced');
      const unsettled = { ...world([of, held], spaces), unsettledMs: 1_500 };
      expect(inWords(explain('home/colors', 'team-a', unsettled)).slice(-2)).toEqual([
        'content: its content waits until the source has been quiet for a while',
        'kubectl annotate configmap colors --namespace home --overwrite workshop.io/settle-',
      ]);
    },
  );

  test('[D4] a different object has the name of the revision that must be kept first', () => {
    const keeping = source('home/colors', { ...targets, 'keep-revisions': '1' });
    const name = `home/colors-rev-${observed(keeping).digest.slice(0, 8)}` as const;
    const inTheWay = configMap(name, { labels: { 'workshop.io/managed': 'revision' } });
    const why = `ConfigMap ${name} exists and is not a revision of the source, so companions stay as they are`;
    for (const there of [[], [companion({ ...keeping, data: {} }, 'team-a/colors-synced')]]) {
      const all = [keeping, inTheWay, ...there];
      expect(end(all)).toEqual([
        `content: ${why}`,
        'Delete that ConfigMap if nobody needs it, or keep no revisions.',
      ]);
      const entries = inventoryOf(world(all, spaces)).filter(({ source }) => source === 'home/colors');
      expect(entries).toEqual([expect.objectContaining({ state: 'conflict', action: 'none', reason: why })]);
    }
    const held = companion(keeping, 'team-a/colors-synced');
    expect(end([keeping, inTheWay, held])).toContain('content: as the source wants it');
  });

  const green = { sky: 'green' };
  const red = { sky: 'red' };
  const manual = { 'canary-bake': 'manual' };
  const stages: readonly (readonly [
    state: string,
    asks: StringMap,
    held: StringMap,
    stage: 'trying' | 'failed',
    says: string,
  ])[] = [
    ['rolling out', {}, red, 'trying', 'goes to 1 canary first'],
    ['baking', { 'canary-bake': '10m' }, green, 'trying', 'is tried in 1 canary'],
    [
      'waiting for approval',
      manual,
      green,
      'trying',
      'is in 1 canary and waits for workshop.io/canary-approve=',
    ],
    ['failed', manual, red, 'failed', 'failed in a canary'],
  ];
  test.for(stages)(
    '[D6] while the content is %s, of a companion that waits',
    ([, asks, held, stage, says]) => {
      const all = { 'target-namespaces': 'team-*', 'keep-revisions': '5', canary: 'team-z', ...asks };
      const of = source('home/colors', all, { data: green });
      const canary = companion({ ...of, data: held }, 'team-z/colors-synced');
      const managedFields = [{ manager: 'mirror-controller', operation: 'Update', time: NOW }];
      const objects = [
        of,
        { ...canary, metadata: { ...canary.metadata, managedFields } },
        companion({ ...of, data: red }, 'team-a/colors-synced'),
        revisionObject(of, red, { order: 1 }),
        revisionObject(of, green, { order: 2, stage }),
      ];
      const short = observed(of).digest.slice(0, 8);
      const [evidence = '', remedy] = end(objects);
      expect(evidence.replaceAll(short, 'X')).toBe(`content: content X ${says.replace(/=$/, '=X')}`);
      expect(remedy).toMatch(`workshop.io/canary-approve=${short}`);
    },
  );

  test('walks to the end beside the source', () => {
    const plain = source('home/colors');
    expect(ask([plain, companion(plain, 'home/colors-synced')], 'home')).toEqual([
      'label: workshop.io/managed=true',
      'annotations: none, so the companion is beside the source',
      'target: without target annotations the companion is beside the source',
      'bounds: always allowed in its own namespace',
      'namespace: home exists',
      'consent: a namespace accepts its own sources',
      "name: home/colors-synced is this source's companion",
      'content: as the source wants it',
    ]);
  });

  test('names what includes, selects and accepts', () => {
    const selecting = source('home/colors', { 'target-namespace-selector': 'env=dev' });
    const dev = [namespace('team-a', { labels: { env: 'dev' }, accepts: 'ho*, x' })];
    expect(ask([selecting], 'team-a', dev)).toEqual(
      expect.arrayContaining([
        'target: target-namespace-selector matches the labels of team-a',
        'consent: "ho*" in accept-mirrors-from of team-a matches home',
      ]),
    );
  });

  test('label: no ConfigMap, no label, a wrong value, a companion, being deleted', () => {
    expect(ask([])).toEqual([
      'label: there is no ConfigMap colors in namespace home',
      'Create it, or check its name and namespace. Names are NAMESPACE/NAME, not TYPE/NAME.',
    ]);
    const label = 'kubectl label configmap colors --namespace home --overwrite workshop.io/managed=true';
    expect(ask([stripped(colors, 'workshop.io/managed')])).toEqual([
      'label: the label workshop.io/managed is missing',
      label,
    ]);
    expect(ask([source('home/colors', {}, { labels: { 'workshop.io/managed': 'yes' } })])).toEqual([
      'label: the label workshop.io/managed is "yes", not "true"',
      label,
    ]);
    const copy = companion(source('x/y'), 'home/colors', { labels: { 'workshop.io/managed': 'true' } });
    expect(ask([copy])[0]).toBe('label: it is a companion itself, and a companion is never a source');
    expect(ask([source('home/colors', targets, { deleting: true })])[0]).toBe(
      'label: the source is being deleted',
    );
  });

  test('marks: a copy of a companion, wherever it is; deleting it is for a person to decide', () => {
    const leave = 'The controller leaves it alone. Delete it if nobody needs it.';
    for (const key of ['team-z/other', 'team-z/colors-synced', 'team-a/other', 'team-b/colors-synced']) {
      const [target = '', name = ''] = key.split('/');
      const copy = companion(colors, key, {
        annotations: { 'workshop.io/companion': 'team-a/colors-synced' },
      });
      for (const objects of [[colors, copy], [copy]]) {
        expect(inWords(explain('home/colors', target, world(objects, spaces), name))).toEqual([
          'marks: it is a copy of team-a/colors-synced',
          leave,
        ]);
      }
    }
    const lost = companion(colors, 'qa/colors-synced');
    const unmarked = stripped(stripped(lost, 'workshop.io/managed'), 'workshop.io/source-uid');
    expect(inWords(explain('home/colors', 'qa', world([colors, unmarked], spaces), 'colors-synced'))).toEqual(
      ['marks: it lacks the marks of a companion of home/colors', leave],
    );
    // The object beside its source, and one that only lost a mark, are companions.
    expect(
      inWords(explain('home/colors', 'team-a', world([colors, settled], spaces), 'colors-synced')),
    ).toEqual(ask([colors, settled]));
  });

  test('label: a source outside of --namespaces', () => {
    const of = world([colors], spaces, boundsOf({ namespaces: ['team-a'] }));
    expect(inWords(explain('home/colors', 'team-a', of))[0]).toBe(
      "label: the source's namespace is not among --namespaces",
    );
  });

  test.each([
    ['deletion-policy', 'keep', 'workshop.io/deletion-policy=retain'],
    ['target-namespaces', 'Team,team-b,!QA', "workshop.io/target-namespaces='team,team-b,!qa,team-a'"],
    ['target-namespaces', 'Team-*, ! team-a', "workshop.io/target-namespaces='team-*'"],
    ['target-namespaces', '!team-z', "workshop.io/target-namespaces='!team-z,team-a'"],
    ['companion-name', '{x}', "workshop.io/companion-name='{name}-synced'"],
  ])('annotations: a malformed %s, and a value that works', (annotation, value, fix) => {
    const [, problem, remedy] = ask([source('home/colors', { [annotation]: value })]);
    expect(problem).toMatch(new RegExp(`^annotations: workshop.io/${annotation}: `));
    expect(remedy).toBe(`kubectl annotate configmap colors --namespace home --overwrite ${fix}`);
  });

  test.each([
    ['target-namespaces', 'Team_B, !team-z'],
    ['target-namespaces', '*, !team_z'],
    ['target-namespaces', 'Qa, !team-a*'],
    ['target-namespace-selector', 'a=b=c'],
    ['include-keys', ''],
    ['exclude-keys', 'password;token'],
    ['canary', ''],
  ])('annotations: of a malformed %s only its author knows the right value', (annotation, value) => {
    const [, , remedy] = ask([source('home/colors', { 'keep-revisions': '3', [annotation]: value })]);
    expect(remedy).toBe(
      `Correct the annotation workshop.io/${annotation}. Until then companions stay as they are.`,
    );
  });

  test('[D4] annotations: of a source whose name is too long for revisions', () => {
    const long = `home/${'x'.repeat(241)}` as const;
    const of = world([source(long, { 'companion-name': 'x', 'keep-revisions': '5' })], spaces);
    expect(inWords(explain(long, 'home', of)).at(-1)).toMatch(/ workshop.io\/keep-revisions-$/);
  });

  test('annotations: what else a command would do', () => {
    const caution = (...of: Parameters<typeof explain>) => {
      const fails = explain(...of).at(-1)?.fails;
      return fails !== undefined && 'caution' in fails ? fails.caution : undefined;
    };
    const typo = source('home/colors', { 'target-namespaces': 'team-a, Team' });
    expect(caution('home/colors', 'team-a', world([typo], spaces))).toContain(
      'companions are created, changed and deleted as they say',
    );
    const taken = world([colors, configMap('team-a/colors-synced')], spaces);
    expect(caution('home/colors', 'team-a', taken)).toContain('All companions of the source get that name');
  });

  test('annotations: an unknown one does not end the walk, but is shown with what was meant', () => {
    const [, annotations, target] = ask([source('home/colors', { 'target-namespace': 'team-a' })]);
    expect(annotations).toMatch(/but workshop.io\/target-namespace is not an .* did you mean/);
    expect(target).toBe(
      'target: without target annotations the only companion is beside the source, in home',
    );
  });

  test('[D2] annotations: a wave that no companion is held with', () => {
    const of = source('home/colors', { ...targets, 'allow-deletes': 'aaaaaaaa, bbbbbbbb' });
    const held = companion(of, 'qa/colors-synced', { annotations: { 'workshop.io/held': 'bbbbbbbb' } });
    const wave = (objects: readonly ConfigMap[]) => ask(objects)[1]?.split('; but ')[1];
    expect(wave([of, held])).toBe('workshop.io/allow-deletes: no companion is held with aaaaaaaa');
    expect(wave([of])).toBe('workshop.io/allow-deletes: no companion is held with aaaaaaaa, bbbbbbbb');
    expect(wave([source('home/colors', { ...targets, 'allow-deletes': 'bbbbbbbb' }), held])).toBe(undefined);
  });

  test('target: nothing matches, or an exclusion does', () => {
    const annotate = 'kubectl annotate configmap colors --namespace home --overwrite workshop.io';
    expect(end([source('home/colors')])).toEqual([
      'target: without target annotations the only companion is beside the source, in home',
      `${annotate}/target-namespaces='home,team-a'`,
    ]);
    expect(end([source('home/colors', { 'target-namespaces': 'qa' })])).toEqual([
      'target: nothing in the target annotations matches team-a',
      `${annotate}/target-namespaces='qa,team-a'`,
    ]);
    expect(end([source('home/colors', { 'target-namespace-selector': 'env=dev' })])).toEqual([
      'target: nothing in the target annotations matches team-a',
      `${annotate}/target-namespaces=team-a`,
    ]);
    expect(end([colors], 'team-z')).toEqual([
      'target: "!team-z" in target-namespaces excludes team-z',
      `${annotate}/target-namespaces='team-*'`,
    ]);
    const patterns = source('home/colors', { 'target-namespaces': 'home,*,!kube-*,!team-*' });
    expect(end([patterns])).toEqual([
      'target: "!team-*" in target-namespaces excludes team-a',
      'Change workshop.io/target-namespaces so that no exclusion matches team-a. That pattern may exclude other namespaces too: go on excluding those.',
    ]);
    expect(
      end([source('home/colors', { 'target-namespaces': '*', 'companion-name': '{name}' })], 'home'),
    ).toEqual([
      "target: companions have the source's own name, so there is none beside it",
      `${annotate}/companion-name='{namespace}-{name}'`,
    ]);
  });

  test("bounds: the administrator's flags", () => {
    const of = world([colors], spaces, boundsOf({ deny: 'team-*' }));
    expect(inWords(explain('home/colors', 'team-a', of)).slice(-2)).toEqual([
      'bounds: the namespace is among --deny-target-namespaces',
      'The administrator decides this, by flags and permissions of the controller.',
    ]);
  });

  test('namespace: absent, or being deleted', () => {
    expect(end([colors], 'team-new')).toEqual([
      'namespace: team-new does not exist',
      'kubectl create namespace team-new',
    ]);
    expect(end([colors], 'team-a', [namespace('team-a', { terminating: true })])).toEqual([
      'namespace: team-a is being deleted',
      'Wait until it is gone, and create it again.',
    ]);
  });

  test('consent: refused, malformed, required', () => {
    const annotate = 'kubectl annotate namespace team-a --overwrite workshop.io/accept-mirrors-from';
    expect(end([colors], 'team-a', [namespace('team-a', { accepts: 'platform-*' })])).toEqual([
      "consent: the namespace's accept-mirrors-from does not accept home",
      `${annotate}='platform-*,home'`,
    ]);
    const correct = 'Correct the annotation workshop.io/accept-mirrors-from of Namespace team-a.';
    for (const accepts of ['.*', 'Ho*, .*', 'platform-*, !home']) {
      expect(end([colors], 'team-a', [namespace('team-a', { accepts })])[1]).toBe(correct);
    }
    expect(end([colors], 'team-a', [namespace('team-a', { accepts: 'platform-*, Shop' })])[1]).toBe(
      `${annotate}='platform-*,shop,home'`,
    );
    expect(end([colors], 'team-a', [namespace('team-a', { accepts: 'Ho*, Qa' })])[1]).toBe(
      `${annotate}='ho*,qa'`,
    );
    const of = world([colors], spaces, boundsOf({ requireConsent: true }));
    expect(inWords(explain('home/colors', 'team-a', of)).slice(-2)).toEqual([
      'consent: the namespace has no accept-mirrors-from, and --require-consent is set',
      `${annotate}=home`,
    ]);
  });

  test('name: an unrelated object, another source, being deleted', () => {
    const rename =
      'kubectl annotate configmap colors --namespace home --overwrite workshop.io/companion-name=';
    expect(end([colors, configMap('team-a/colors-synced')])).toEqual([
      'name: a ConfigMap with this name exists and is not managed by mirror-controller',
      `${rename}'{namespace}-{name}'`,
    ]);
    const renamed = source('home/colors', { ...targets, 'companion-name': '{namespace}-{name}' });
    expect(end([renamed, configMap('team-a/home-colors')])[1]).toBe(`${rename}'{name}-mirrored'`);
    const name = 'x'.repeat(246);
    const long = source(`home/${name}`, { ...targets, 'companion-name': '{namespace}-{name}' });
    const taken = world([long, configMap(`team-a/home-${name}`)], spaces);
    expect(inWords(explain(`home/${name}`, 'team-a', taken)).at(-1)).toBe(
      'Set workshop.io/companion-name to a name that is free.',
    );
    expect(end([colors, companion(colors, 'team-a/colors-synced', { deleting: true })])).toEqual([
      'name: the companion is being deleted, and will be recreated',
      'Wait until it is gone.',
    ]);
  });

  test('[V4] values: where each text comes from, or what is missing and how to provide it; never a text', () => {
    const text = '$(mirror.label.tier) $(mirror.value.title) $(mirror.namespace)';
    const asking = source(
      'home/colors',
      { ...targets, 'render-keys': '*', 'values-from': 'v' },
      { data: { k: text } },
    );
    const options = configMap('home/v', {
      labels: { 'workshop.io/managed': 'values' },
      data: { title: 'secret' },
    });
    const gold = [namespace('home'), namespace('team-a', { labels: { tier: 'secret' } })];
    const all = ask([asking, options], 'team-a', gold);
    expect(all.slice(-4)).toEqual([
      'name: team-a/colors-synced is free',
      'values: $(mirror.label.tier) is a label of Namespace team-a; $(mirror.value.title) is ConfigMap home/v; $(mirror.namespace) is the name of Namespace team-a',
      'content: it does not exist yet',
      'by the controller',
    ]);
    expect(all.join()).not.toContain('secret');
    const is = (why: string) => `values: k: ${why}`;
    const label = '$(mirror.label.tier): the namespace has no such label';
    expect(end([asking, options])).toEqual([is(label), 'Set the label on Namespace team-a.']);
    const lacking = '$(mirror.value.title): there is no ConfigMap home/v labelled workshop.io/managed=values';
    expect(end([asking], 'team-a', gold)).toEqual([
      is(lacking),
      'Create ConfigMap home/v, or label it workshop.io/managed=values.',
    ]);
    const other = { ...options, data: { other: '' } };
    expect(end([asking, other], 'team-a', gold)).toEqual([
      is('$(mirror.value.title): no such key in ConfigMap home/v'),
      'Add the key to ConfigMap home/v.',
    ]);
    const large = { ...options, data: { title: 'x'.repeat(1024 * 1024) } };
    expect(end([asking, large], 'team-a', gold)).toEqual([
      is('the rendered content has 1048590 bytes, more than the 1048576 of a ConfigMap'),
      'Shorten the text or the values.',
    ]);
  });

  test('content: missing, or different', () => {
    expect(end([colors])).toEqual(['content: it does not exist yet', 'by the controller']);
    expect(end([colors, { ...settled, data: {} }])).toEqual([
      'content: differs in content',
      'by the controller',
    ]);
  });
});

/** The states in which a walk can end at a check; undefined: the source asks for nothing there. */
const STATES_AT: Readonly<Record<string, readonly (string | undefined)[]>> = {
  label: ['waiting', 'orphaned', 'retained', 'conflict', 'refused', 'invalid', undefined],
  annotations: ['invalid', 'orphaned', undefined],
  target: ['orphaned', 'retained', 'waiting', 'conflict', 'refused', undefined],
  bounds: ['refused'],
  namespace: ['waiting'],
  consent: ['refused', 'orphaned', 'waiting', 'conflict'],
  name: ['conflict', 'waiting'],
  values: ['invalid'],
  content: ['missing', 'drifted', 'conflict'],
};

test('[C8] explain agrees with the inventory of any world', () => {
  const agree = (key: string, companionName: string, name: string, of: World) => {
    const { check = '', fails } = explain(key, name, of).at(-1) ?? {};
    const companionKey = objectKey(name, companionName);
    const entry = inventoryOf(of).find((each) => each.source === key && each.companion === companionKey);
    const expected = fails === undefined ? ['in sync'] : STATES_AT[check];
    expect(expected, `${key} in ${name}: ${check}`).toContain(entry?.state);
  };
  fc.assert(
    fc.property(randomWorld, fc.nat(), fc.nat(), ({ world: of, asks }, anyAsk, anyName) => {
      const { key, companionName } = asks[anyAsk % asks.length] ?? {};
      if (key === undefined || companionName === undefined) return;
      const names = of.namespaces.map(({ metadata }) => metadata.name);
      agree(key, companionName, names[anyName % names.length] ?? '', of);
    }),
    { numRuns: 1000 },
  );
});
