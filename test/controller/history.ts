import fc from 'fast-check';

/** What a source may ask for, one annotation at a time; `undefined` removes it. */
export interface Ask {
  readonly targets?: string | undefined;
  readonly selector?: string | undefined;
  readonly companionName?: string | undefined;
  readonly includeKeys?: string | undefined;
  readonly renameKeys?: string | undefined;
  readonly renderKeys?: string | undefined;
  readonly valuesFrom?: string | undefined;
  readonly copyLabels?: string | undefined;
  readonly policy?: 'delete' | 'retain' | undefined;
  readonly deleteAfter?: string | undefined;
}

export const TAMPERINGS = [
  'change data',
  'add a key',
  'drop data',
  'add binaryData',
  'forge the checksum',
  'drop the owner',
  'drop the convention label',
  'make it immutable',
  'add foreign metadata',
  'delete it',
] as const;

/** One mark of a companion, only when settled: without two of them it is not ours (SPEC R6). */
export const MARK_TAMPERINGS = [
  'label it as a source',
  'drop its label',
  'drop its source',
  'drop its uid',
  'drop its self',
  'name another source',
] as const;

export type Tampering = (typeof TAMPERINGS)[number] | (typeof MARK_TAMPERINGS)[number];

/** Something that somebody does. Numbers choose among the existing objects. `source` is a key. */
export type Action =
  | { readonly do: 'create' | 'recreate'; readonly source: string; readonly data: Data; readonly ask: Ask }
  | { readonly do: 'edit'; readonly source: string; readonly data: Data }
  | { readonly do: 'ask'; readonly source: string; readonly ask: Ask }
  | { readonly do: 'label' | 'unlabel' | 'delete'; readonly source: string }
  | { readonly do: 'tamper'; readonly companion: number; readonly how: Tampering }
  /** Writes values in `home`; without data it deletes them. */
  | {
      readonly do: 'values';
      readonly name: string;
      readonly data?: Data | undefined;
      readonly labelled: boolean;
    }
  | { readonly do: 'block'; readonly key: string; readonly labelled: boolean }
  | { readonly do: 'unblock'; readonly blocker: number }
  | { readonly do: 'namespace'; readonly name: string; readonly env: string }
  | { readonly do: 'delete namespace'; readonly name: string }
  | { readonly do: 'consent'; readonly name: string; readonly to: string | undefined }
  | { readonly do: 'stop' | 'restart' | 'settle' }
  /** Somebody releases what the brake holds. */
  | { readonly do: 'release' }
  /** The next write of the controller gets no answer. */
  | { readonly do: 'silence' };

export type Data = Readonly<Record<string, string>>;

const plainText = fc.constantFrom('', 'a', 'b', 'ü\n');
const template = fc.oneof(
  { weight: 2, arbitrary: fc.constant('$(mirror.namespace) of $(mirror.source-namespace)') },
  { weight: 4, arbitrary: fc.constantFrom('<$(mirror.value.x)>', '<$(mirror.value.x)>$(mirror.value.y)') },
  { weight: 4, arbitrary: fc.constant('<$(mirror.label.env)>') },
  { weight: 1, arbitrary: fc.constant('$(mirror.what)') },
);
const dataOf = (text: fc.Arbitrary<string>): fc.Arbitrary<Data> =>
  fc.dictionary(fc.constantFrom('k1', 'k2', 'other', 'dotted.key'), text, { maxKeys: 3 });
const someData = dataOf(fc.oneof({ weight: 4, arbitrary: plainText }, { weight: 1, arbitrary: template }));

const askBeside: fc.Arbitrary<Ask> = fc.oneof(
  fc.record({ companionName: fc.constantFrom(undefined, 'shared', '{namespace}-{name}', 'two') }),
  fc.record({ includeKeys: fc.constantFrom(undefined, 'k1', 'k*') }),
  fc.record({ renameKeys: fc.constantFrom(undefined, 'k1=k2,k2=k1', 'k1=new', 'other=k1') }),
  fc.record({ renderKeys: fc.constantFrom(undefined, '*', 'k*', 'k1') }),
  fc.record({ copyLabels: fc.constantFrom(undefined, 'team') }),
  {
    weight: 1,
    arbitrary: fc.record({ policy: fc.constantFrom(undefined, 'delete' as const, 'retain' as const) }),
  },
);

const askToRender: fc.Arbitrary<Ask> = fc.record({
  renderKeys: fc.constantFrom('*', '*', 'k*', undefined),
  valuesFrom: fc.constantFrom(undefined, 'values-1', 'values-1,values-2', 'values-2,values-1'),
  targets: fc.constantFrom(undefined, 'team-*', '*'),
  renameKeys: fc.constantFrom(undefined, undefined, 'k1=k2,k2=k1'),
});

const askAcross: fc.Arbitrary<Ask> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      targets: fc.constantFrom(
        undefined,
        'team-*',
        'team-a,team-b',
        '*',
        '*,!team-a',
        'home',
        'denied,team-c',
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      selector: fc.constantFrom(undefined, 'env=dev', 'env in (dev,qa)', '!env', 'env!=dev'),
    }),
  },
  { weight: 3, arbitrary: askBeside },
);

const ofValues: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('values' as const),
  name: fc.constantFrom('values-1', 'values-2'),
  data: fc.constantFrom<(Data | undefined)[]>(
    ...[{ x: '1', y: '1' }, { x: '2', y: '' }, { x: '3', y: 'z' }, { x: '$(mirror.namespace)' }],
    ...[{ y: '3' }, undefined],
  ),
  labelled: fc.constantFrom(true, true, true, false),
});

const tamper: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('tamper' as const),
  companion: fc.nat(),
  how: fc.constantFrom(...TAMPERINGS, ...MARK_TAMPERINGS),
});

function onSources(
  sources: readonly string[],
  ask: fc.Arbitrary<Ask>,
  begin: fc.Arbitrary<Ask> = fc.oneof(fc.constant({}), ask),
  data: fc.Arbitrary<Data> = someData,
): fc.Arbitrary<Action> {
  const source = fc.constantFrom(...sources);
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom('create' as const, 'recreate' as const),
        source,
        data,
        ask: begin,
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), source, data }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), source, ask }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom('label' as const, 'unlabel' as const, 'delete' as const),
        source,
      }),
    },
  );
}

const ofController: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom(
    'stop' as const,
    'restart' as const,
    'settle' as const,
    'settle' as const,
    'silence' as const,
  ),
});

function ofBlockers(keys: readonly string[]): fc.Arbitrary<Action> {
  return fc.oneof(
    fc.record({ do: fc.constant('block' as const), key: fc.constantFrom(...keys), labelled: fc.boolean() }),
    fc.record({ do: fc.constant('unblock' as const), blocker: fc.nat() }),
  );
}

const ofNamespaces: fc.Arbitrary<Action> = (() => {
  const name = fc.constantFrom('team-a', 'team-b', 'team-c');
  const to = fc.constantFrom(undefined, undefined, '', 'home', 'base', '*', 'h*');
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('namespace' as const),
        name,
        env: fc.constantFrom('dev', 'qa', ''),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('delete namespace' as const), name }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('consent' as const), name, to }) },
  );
})();

/** Everything happens in the namespace `home`. */
export const historyInOneNamespace = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: onSources(['home/one', 'home/two'], askBeside) },
    { weight: 4, arbitrary: tamper },
    { weight: 1, arbitrary: ofBlockers(['home/one-synced', 'home/shared', 'home/two-synced']) },
    { weight: 2, arbitrary: ofController },
  ),
  { minLength: 3, maxLength: 14 },
);

/** Sources in `home` and `base`, companions also in `team-a` to `team-c`; `denied` is denied. */
export const historyAcrossNamespaces = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: onSources(['home/one', 'home/two', 'base/one'], askAcross) },
    { weight: 3, arbitrary: tamper },
    {
      weight: 1,
      arbitrary: ofBlockers(['team-a/one-synced', 'team-b/two-synced', 'team-a/shared', 'home/two']),
    },
    { weight: 4, arbitrary: ofNamespaces },
    { weight: 2, arbitrary: ofController },
  ),
  { minLength: 3, maxLength: 16 },
);

const askUnderProtection = fc.oneof(
  { weight: 5, arbitrary: askAcross.filter((ask) => !('policy' in ask)) },
  { weight: 2, arbitrary: fc.record({ deleteAfter: fc.constantFrom(undefined, '10s', '20s') }) },
);

/**
 * The same under brake and delay, without what may delete at any time: withdrawn consent and the
 * replacement of an immutable companion. Nothing is retained. All sources are in `home`, where the
 * brake counts them together.
 */
export const historyUnderProtection = fc.array(
  fc.oneof(
    { weight: 7, arbitrary: onSources(['home/one', 'home/two', 'home/three'], askUnderProtection) },
    {
      weight: 2,
      arbitrary: tamper.filter((action) => action.do !== 'tamper' || action.how !== 'make it immutable'),
    },
    { weight: 1, arbitrary: ofBlockers(['team-a/one-synced', 'team-b/two-synced', 'team-a/shared']) },
    { weight: 3, arbitrary: ofNamespaces.filter((action) => action.do !== 'consent') },
    { weight: 3, arbitrary: ofController },
    { weight: 1, arbitrary: fc.constant<Action>({ do: 'release' }) },
  ),
  { minLength: 3, maxLength: 16 },
);

/** A source that can be rendered in `team-a`, to begin with. */
const rendered: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('create' as const),
  source: fc.constant('home/one'),
  data: fc.constantFrom<Data[]>(
    { k1: '<$(mirror.label.env)>' },
    { k1: '<$(mirror.value.x)>', k2: 'plain' },
    { k1: '<$(mirror.value.x)>', other: '<$(mirror.label.env)>$(mirror.namespace)' },
  ),
  ask: fc.record({
    renderKeys: fc.constant('*'),
    valuesFrom: fc.constantFrom('values-1', 'values-1,values-2', 'values-2,values-1'),
    targets: fc.constantFrom('team-*', '*'),
  }),
});

/** Most sources are rendered, and values and namespaces change often. */
export const historyWithValues: fc.Arbitrary<Action[]> = fc
  .tuple(
    rendered,
    fc.array(
      fc.oneof(
        {
          weight: 2,
          arbitrary: onSources(
            ['home/one', 'base/one'],
            fc.oneof(askToRender, askAcross),
            askToRender,
            dataOf(fc.oneof({ weight: 4, arbitrary: template }, { weight: 1, arbitrary: plainText })),
          ),
        },
        { weight: 4, arbitrary: ofValues },
        { weight: 1, arbitrary: tamper },
        { weight: 4, arbitrary: ofNamespaces },
        { weight: 2, arbitrary: ofController },
      ),
      { minLength: 3, maxLength: 14 },
    ),
  )
  .map(([source, actions]) => [
    { do: 'values', name: 'values-1', data: { x: 'one', y: 'one' }, labelled: true },
    { do: 'values', name: 'values-2', data: { x: 'two', y: 'two' }, labelled: true },
    { do: 'namespace', name: 'team-a', env: 'dev' },
    source,
    ...actions,
  ]);
