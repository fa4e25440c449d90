import fc from 'fast-check';
import { keyOf } from '../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import type { Ask, Pattern, Rules, Selector } from './model.ts';
import { companion, configMap, type controllerReference, namespace, source, stripped } from './wire.ts';
import { boundsOf, type World } from './world.ts';

/** A world, with what its sources ask for and its rules, as they were drawn. */
export interface RandomWorld {
  readonly world: World;
  readonly asks: readonly Ask[];
  readonly rules: Rules;
}

// Few names, so that sources, companions and strangers meet often.
const NAMESPACES = ['a', 'ab', 'b', 'team'];
const namespaceName = fc.constantFrom(...NAMESPACES);

const pattern: fc.Arbitrary<Pattern> = fc.record({
  text: fc.constantFrom('a', 'b', 'te', 'team', 'ab'),
  isPrefix: fc.boolean(),
  isExclusion: fc.constant(false),
});
const everything: fc.Arbitrary<Pattern> = fc.constant({ text: '', isPrefix: true, isExclusion: false });
const inclusion = fc.oneof(pattern, everything);
const exclusion = pattern.map((one) => ({ ...one, isExclusion: true }));
/** At least one inclusion: without, the list is bad. */
const targetList = fc
  .tuple(inclusion, fc.array(fc.oneof(inclusion, exclusion), { maxLength: 2 }))
  .map(([first, others]) => [...others, first]);

const selector: fc.Arbitrary<Selector> = fc.record({
  operator: fc.constantFrom('in', 'notin', 'exists', 'absent'),
  key: fc.constant('env'),
  values: fc.uniqueArray(fc.constantFrom('dev', 'qa'), { minLength: 1 }),
});

function listText(patterns: readonly Pattern[]): string {
  return patterns
    .map(({ text, isPrefix, isExclusion }) => `${isExclusion ? '!' : ''}${text}${isPrefix ? '*' : ''}`)
    .join(', ');
}

function selectorText({ operator, key, values }: Selector): string {
  if (operator === 'exists') return key;
  return operator === 'absent' ? `!${key}` : `${key} ${operator} (${values.join()})`;
}

interface DrawnSource {
  readonly ask: Ask;
  readonly object: ConfigMap;
}

const usually = (odds: number) => fc.nat({ max: 99 }).map((drawn) => drawn >= odds);

const drawnSource: fc.Arbitrary<DrawnSource> = fc
  .record({
    namespace: namespaceName,
    name: fc.constantFrom('s', 't'),
    patterns: fc.option(targetList, { nil: undefined }),
    selector: fc.option(selector, { nil: undefined, freq: 3 }),
    template: fc.constantFrom('{name}-synced', '{name}-synced', '{namespace}-{name}', '{name}', 'shared'),
    retain: fc.boolean(),
    copies: fc.boolean(),
    isGood: usually(8),
    isStaying: usually(8),
    isLabelled: usually(10),
    second: fc.nat({ max: 2 }),
    data: fc.constantFrom<StringMap[]>({ k: '1' }, { k: '2', l: '' }, { l: '3' }, {}),
  })
  .map((drawn) => {
    const key = `${drawn.namespace}/${drawn.name}`;
    const isWide = drawn.patterns !== undefined || drawn.selector !== undefined;
    const companionName = drawn.template
      .replace('{name}', drawn.name)
      .replace('{namespace}', drawn.namespace);
    const asks = {
      ...(drawn.patterns && { 'target-namespaces': listText(drawn.patterns) }),
      ...(drawn.selector && { 'target-namespace-selector': selectorText(drawn.selector) }),
      'companion-name': drawn.template,
      ...(drawn.retain && { 'deletion-policy': 'retain' }),
      ...(drawn.copies && { 'copy-labels': '*', 'exclude-keys': 'l' }),
      ...(!drawn.isGood && { 'include-keys': '' }),
    };
    const object = source(key, asks, {
      labels: { team: 'x' },
      data: drawn.data,
      createdAt: `2026-01-01T00:00:0${drawn.second}Z`,
      deleting: !drawn.isStaying,
    });
    return {
      object: drawn.isLabelled ? object : stripped(object, 'workshop.io/managed'),
      ask: {
        key,
        uid: object.metadata.uid,
        patterns: drawn.patterns,
        selector: drawn.selector,
        companionName,
        retain: drawn.retain,
        deleting: !drawn.isStaying,
        isBad:
          !drawn.isGood ||
          !drawn.isLabelled ||
          (!isWide && companionName === drawn.name) ||
          (drawn.copies && Object.keys(drawn.data).join() === 'l'),
      },
    };
  });

type Tampering = (object: ConfigMap) => ConfigMap;
const strip =
  (key: string): Tampering =>
  (object) =>
    stripped(object, key);
const annotate =
  (key: string, value: string): Tampering =>
  (object) => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: value } },
  });
const label =
  (key: string, value: string): Tampering =>
  (object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, [key]: value } },
  });
const ownedBy =
  (...owners: readonly ReturnType<typeof controllerReference>[]): Tampering =>
  ({ metadata: { ownerReferences: _, ...metadata }, ...object }) => ({
    ...object,
    metadata: { ...metadata, ...(owners.length > 0 && { ownerReferences: owners }) },
  });

/** What people do to companions. */
const tampering: fc.Arbitrary<Tampering> = fc.constantFrom<Tampering[]>(
  strip('workshop.io/managed'),
  strip('workshop.io/source'),
  strip('workshop.io/source-uid'),
  strip('workshop.io/companion'),
  annotate('workshop.io/companion', 'b/elsewhere'),
  annotate('workshop.io/source-uid', 'of an earlier source'),
  annotate('workshop.io/source', 'a/t'),
  annotate('workshop.io/deletion-policy', 'retain'),
  annotate('workshop.io/copied-metadata', '{"labels":["team","mine"],"annotations":[]}'),
  annotate('mine', 'x'),
  label('workshop.io/managed', 'true'),
  label('mine', 'x'),
  ownedBy(),
  ownedBy({ apiVersion: 'v1', kind: 'ConfigMap', name: 's', uid: 'uid of a/s', controller: true }),
  (object) => ({ ...object, data: { k: 'tampered' } }),
  (object) => ({ ...object, immutable: true, data: { k: 'tampered' } }),
  (object) => ({ ...object, metadata: { ...object.metadata, finalizers: ['x/y'] } }),
  (object) => ({
    ...object,
    metadata: { ...object.metadata, finalizers: ['x/y'], deletionTimestamp: '2026-01-02T00:00:00Z' },
  }),
);

const strangeName = fc.constantFrom('s-synced', 't-synced', 'a-s', 'shared', 's', 't');

interface DrawnCompanion {
  /**
   * Whose, by its number among the sources that were drawn; beyond them, of a source that is gone.
   */
  readonly of: number;
  readonly namespace: string;
  /** Undefined: the name that its source gives its companions. */
  readonly name: string | undefined;
  readonly tamperings: readonly Tampering[];
}

const drawnCompanion: fc.Arbitrary<DrawnCompanion> = fc.record({
  of: fc.nat({ max: 4 }),
  namespace: namespaceName,
  name: fc.option(strangeName, { nil: undefined, freq: 1 }),
  tamperings: fc.array(tampering, { maxLength: 3 }),
});

function companionFrom(drawn: DrawnCompanion, sources: readonly DrawnSource[]): ConfigMap {
  const of = sources[drawn.of];
  const name = drawn.name ?? of?.ask.companionName ?? 's-synced';
  const settled = companion(of?.object ?? source('b/gone'), `${drawn.namespace}/${name}`, { uid: 'c' });
  return drawn.tamperings.reduce((object, tamper) => tamper(object), settled);
}

/**
 * By SPEC M6 a copy of a companion that is labelled as a source would be one source more than was
 * drawn.
 */
function isLabelledCopy({ metadata: { labels, annotations } }: ConfigMap): boolean {
  return (
    labels?.['workshop.io/managed'] === 'true' && annotations?.['workshop.io/companion'] === 'b/elsewhere'
  );
}

const stranger = fc
  .record({ namespace: namespaceName, name: strangeName, isLabelled: fc.boolean() })
  .map(({ namespace: where, name, isLabelled }) =>
    configMap(`${where}/${name}`, {
      labels: isLabelled ? { 'workshop.io/managed': 'companion' } : {},
      data: { x: 'y' },
    }),
  );

const accepts = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant('malformed' as const) },
  { weight: 2, arbitrary: fc.array(inclusion, { maxLength: 2 }) },
);

const drawnNamespaces = fc
  .uniqueArray(
    fc.record({
      name: namespaceName,
      env: fc.constantFrom('dev', 'qa', undefined),
      accepts,
      isActive: usually(10),
    }),
    { selector: ({ name }) => name, minLength: 2, maxLength: NAMESPACES.length },
  )
  .map((drawn) => ({
    accepts: new Map(drawn.map((each) => [each.name, each.accepts])),
    namespaces: drawn.map((each) =>
      namespace(each.name, {
        labels: each.env === undefined ? {} : { env: each.env },
        terminating: !each.isActive,
        ...(each.accepts !== undefined && {
          accepts: each.accepts === 'malformed' ? '.*' : listText(each.accepts),
        }),
      }),
    ),
  }));

/** The first of those at one key stays. */
function oneAtEachKey(objects: readonly ConfigMap[]): readonly ConfigMap[] {
  return [...new Map([...objects].reverse().map((object) => [keyOf(object), object])).values()].reverse();
}

export const randomWorld: fc.Arbitrary<RandomWorld> = fc
  .record({
    sources: fc.uniqueArray(drawnSource, { selector: ({ ask }) => ask.key, maxLength: 4 }),
    companions: fc.array(drawnCompanion, { maxLength: 6 }),
    strangers: fc.array(stranger, { maxLength: 2 }),
    cluster: drawnNamespaces,
    allow: fc.oneof(
      { weight: 4, arbitrary: everything.map((all) => [all]) },
      { weight: 1, arbitrary: fc.array(inclusion) },
    ),
    deny: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(pattern, { maxLength: 1 }) },
    ),
    requireConsent: usually(85),
  })
  .map(({ sources, companions, strangers, cluster, allow, deny, requireConsent }) => ({
    asks: sources.map(({ ask }) => ask),
    rules: { allow, deny, requireConsent, accepts: cluster.accepts },
    world: {
      configMaps: oneAtEachKey([
        ...sources.map(({ object }) => object),
        ...companions
          .map((drawn) => companionFrom(drawn, sources))
          .filter((object) => !isLabelledCopy(object)),
        ...strangers,
      ]),
      namespaces: cluster.namespaces,
      bounds: boundsOf({ allow: listText(allow), deny: listText(deny), requireConsent }),
    },
  }));
