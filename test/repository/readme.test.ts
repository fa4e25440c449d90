import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RUN_FLAGS } from '../../src/cli/flags/flags.ts';
import { vocabularyOf } from '../../src/mirror/vocabulary.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The rows of all tables whose first cell matches, as cells without backticks. */
function rowsWhere(firstCell: RegExp): readonly string[][] {
  return readme
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

describe('README matches the code', () => {
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

  test('every npm script that it names exists', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const named = [...readme.matchAll(/npm (?:run )?(\w[\w:-]*)/g)].map((match) => match[1] ?? '');
    const builtIn = ['ci'];
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !builtIn.includes(name) && !(name in scripts))).toEqual([]);
  });
});
