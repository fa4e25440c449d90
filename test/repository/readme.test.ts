import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RULE_FLAGS, RUN_FLAGS } from '../../src/cli/flags/run-flags.ts';
import { REASONS } from '../../src/controller/event-listener.ts';
import { vocabularyOf } from '../../src/mirror/vocabulary.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** Those of `notify`, which are types only. */
const NOTIFY_REASONS = ['NotificationDropped', 'SinkGone', 'SinkUnavailable'];
const reference = read('docs/reference.md');

/** The rows of all tables whose first cell matches, as cells without backticks. */
function rowsWhere(firstCell: RegExp): readonly string[][] {
  return reference
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
    .filter(([first = '']) => firstCell.test(first));
}

describe('docs/reference.md matches the code', () => {
  test("[C1] the flag table has exactly the flags of run, with the code's defaults", () => {
    const documented = rowsWhere(/^--/).map(([flag, value]) => [flag, value]);
    const actual = Object.entries(RUN_FLAGS).map(([name, flag]) => [
      `--${name}`,
      flag.defaultDescription ?? flag.default,
    ]);
    expect(documented).toEqual(actual);
  });

  test('the annotation tables have exactly the annotations that users write', () => {
    const { domain: _, companionLabels: __, revisionLabels: ___, ...keys } = vocabularyOf('workshop.io');
    const ours = [
      keys.managed,
      keys.source,
      keys.sourceUid,
      keys.sourceChecksum,
      keys.renderedFrom,
      keys.companion,
      keys.copiedMetadata,
      keys.held,
      keys.canaryFailed,
      keys.revision,
      keys.canaryStage,
    ];
    const documented = rowsWhere(/^workshop\.io\//).map(([key]) => key);
    expect(documented.toSorted()).toEqual(
      Object.values(keys)
        .filter((key) => !ours.includes(key))
        .toSorted(),
    );
  });

  test('[O3] the Event table has every reason that concerns companions', () => {
    const documented = rowsWhere(/^[A-Z]\w+(, [A-Z]\w+)*$/).flatMap(([reasons = '']) => reasons.split(', '));
    const actual = ['Mirrored', 'Healed', ...new Set(Object.values(REASONS))];
    expect(documented.filter((reason) => !NOTIFY_REASONS.includes(reason)).toSorted()).toEqual(
      actual.toSorted(),
    );
    expect(documented).toEqual(expect.arrayContaining(NOTIFY_REASONS));
  });
});

test('every npm script that the README names exists', () => {
  const readme = read('README.md');
  const { scripts } = JSON.parse(read('package.json'));
  const named = [...readme.matchAll(/npm (?:run )?(\w[\w:-]*)/g)].map((match) => match[1] ?? '');
  const builtIn = ['ci'];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !builtIn.includes(name) && !(name in scripts))).toEqual([]);
});

test('[C2] the README names every flag that the commands must share with run', () => {
  const readme = read('README.md');
  const [, shared = ''] =
    /runs with (`--namespaces`[^.]+), give\s+the\s+commands the same flags/.exec(readme) ?? [];
  const named = [...shared.matchAll(/`--([\w-]+)`/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(Object.keys(RULE_FLAGS).toSorted());
});

test.each(['README.md', 'docs/reference.md', 'docs/operating.md'])(
  'every file that %s links to exists',
  (path) => {
    const folder = new URL(`../../${path}`, import.meta.url);
    const links = [...read(path).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? '');
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !existsSync(new URL(link, folder)))).toEqual([]);
  },
);
