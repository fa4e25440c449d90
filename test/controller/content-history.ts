import fc from 'fast-check';

const CONTENTS = ['a', 'b', 'c', 'd'];
/** Target annotations, and whether they match a namespace. The last is a typo. */
export const TARGETS: Readonly<Record<string, (name: string) => boolean>> = {
  'qa-*,team-*': () => true,
  'team-*': (name) => name.startsWith('team-'),
  'qa-*': (name) => name.startsWith('qa-'),
  'team-a': (name) => name === 'team-a',
  'taem-*': () => false,
};

/** What becomes of a source: `absent` until it is created again. */
export type SourceState = 'labelled' | 'unlabelled' | 'absent';

/** Something else that the source says. */
export type Asking =
  | { readonly do: 'edit'; readonly to: string }
  | { readonly do: 'pin' | 'approve'; readonly to: string | undefined }
  | { readonly do: 'keep'; readonly count: number | undefined }
  | { readonly do: 'canary' | 'settle' | 'delay'; readonly on: boolean }
  | { readonly do: 'bake'; readonly time: 'manual' | '10s' }
  | { readonly do: 'target'; readonly list: string };

/** Something that somebody does to the source `home/colors`, its companions or its controller. */
export type Action =
  | Asking
  /** Edits so quick that a source which settles is mirrored only after the last. */
  | { readonly do: 'burst'; readonly of: readonly string[] }
  | { readonly do: 'source'; readonly is: SourceState }
  | { readonly do: 'tamper' | 'delete' | 'condemn' | 'namespace'; readonly name: string }
  | { readonly do: 'delete revision'; readonly of: string }
  /** Of the ConfigMap that the source takes values from. */
  | { readonly do: 'value'; readonly to: string | undefined }
  /** Somebody runs `release`, or allows the waves of all that is held. */
  | { readonly do: 'release'; readonly by: 'command' | 'source' | 'namespace' }
  | { readonly do: 'stop' | 'start' }
  | { readonly do: 'fault'; readonly kind: 'no-answer' | 'lost-reply' };

const content = fc.constantFrom(...CONTENTS);
const perhaps = fc.option(content, { nil: undefined, freq: 2 });
const name = fc.constantFrom('qa-a', 'qa-b', 'team-a', 'team-b');
const is = <T extends string>(...words: readonly T[]) => fc.constantFrom(...words);

const ofContent: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: is('edit'), to: content }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: is('burst'), of: fc.array(content, { minLength: 2, maxLength: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: is('pin', 'approve'), to: perhaps }) },
  { weight: 1, arbitrary: fc.record({ do: is('keep'), count: fc.constantFrom(undefined, 1, 2, 3) }) },
  { weight: 2, arbitrary: fc.record({ do: is('delete revision'), of: content }) },
  { weight: 3, arbitrary: fc.record({ do: is('value'), to: fc.constantFrom('x', 'y', undefined) }) },
);

const ofGuards: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: is('canary'), on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: is('settle', 'delay'), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: is('bake'), time: is('manual', '10s') }) },
);

const ofDeletions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: is('target'), list: is(...Object.keys(TARGETS)) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: is('source'), is: is<SourceState>('labelled', 'unlabelled', 'absent') }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('release'), by: is('command', 'source', 'namespace') }) },
);

export interface ContentHistory {
  /** The contents that have a placeholder: none, some or all. */
  readonly templates: readonly string[];
  /** Which guards are on from the beginning, beside the brake and revisions. */
  readonly guards: { readonly canary: boolean; readonly settles: boolean; readonly isDelayed: boolean };
  readonly actions: readonly Action[];
}

/** One source that uses every guard, now and then. Most of the time it exists and has targets. */
const actions = fc.array(
  fc.oneof(
    { weight: 14, arbitrary: ofContent },
    { weight: 5, arbitrary: ofGuards },
    { weight: 6, arbitrary: ofDeletions },
    { weight: 4, arbitrary: fc.record({ do: is('tamper', 'delete', 'condemn', 'namespace'), name }) },
    { weight: 4, arbitrary: fc.record({ do: is('stop', 'start') }) },
    { weight: 1, arbitrary: fc.record({ do: is('fault'), kind: is('no-answer', 'lost-reply') }) },
  ) as fc.Arbitrary<Action>,
  { minLength: 4, maxLength: 20 },
);

export const historyOfContent: fc.Arbitrary<ContentHistory> = fc.record({
  templates: fc.constantFrom([], ['a', 'b'], CONTENTS),
  guards: fc.record({ canary: fc.boolean(), settles: fc.boolean(), isDelayed: fc.boolean() }),
  actions,
});
