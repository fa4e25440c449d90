import { describe, expect, test } from 'vitest';
import { matchesTargets } from '../../../src/mirror/request/targets.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { ask } from './ask.ts';

function rollout(asks: StringMap) {
  const result = ask(asks);
  if (!result.ok) throw new Error(result.problem);
  return result.value.rollout;
}

test('[D4] a source that says nothing of it keeps nothing', () => {
  expect(rollout({})).toBeUndefined();
  expect(rollout({ 'canary-bake': '1h', 'canary-approve': '01234567' })).toBeUndefined();
});

test('[D4] [D5] [D6] what a source may say', () => {
  expect(rollout({ 'keep-revisions': '5' })).toEqual({
    keepRevisions: 5,
    pin: undefined,
    canary: undefined,
  });
  expect(rollout({ pin: '89abcdef' })).toEqual({ keepRevisions: 0, pin: '89abcdef', canary: undefined });
  const canary = { 'keep-revisions': '100', canary: 'qa' };
  expect(rollout(canary)?.canary).toMatchObject({ bakeMs: 600_000, approved: undefined });
  expect(rollout({ ...canary, 'canary-bake': '1h30m' })?.canary?.bakeMs).toBe(5_400_000);
  expect(rollout({ ...canary, 'canary-bake': '0' })?.canary?.bakeMs).toBe(0);
  expect(rollout({ ...canary, 'canary-bake': 'manual' })?.canary?.bakeMs).toBeUndefined();
  expect(rollout({ ...canary, 'canary-approve': '01234567' })?.canary?.approved).toBe('01234567');
});

describe('[D6] canaries are a list if every item may be a namespace, else a selector', () => {
  const table: readonly [string, readonly string[]][] = [
    ['qa', ['qa']],
    ['team-*', ['team-a', 'team-b']],
    ['*, !team-b, !qa', ['team-a', 'env']],
    // The name of a namespace, though a selector could be written so, too.
    ['env', ['env']],
    ['env=dev', ['team-a']],
    ['env in (dev,qa)', ['team-a', 'qa']],
    ['env,env!=dev', ['qa']],
  ];
  test.for(table)('%s: %o', ([canary, expected]) => {
    const namespaces = rollout({ 'keep-revisions': '1', canary })?.canary?.namespaces;
    const labels: Readonly<Record<string, StringMap>> = {
      'team-a': { env: 'dev' },
      'team-b': {},
      qa: { env: 'qa' },
      env: {},
    };
    const matching = Object.keys(labels).filter(
      (name) => namespaces && matchesTargets(namespaces, { name, labels: labels[name] }),
    );
    expect(matching).toEqual(expected);
  });
});

describe('what is malformed', () => {
  const kept = { 'keep-revisions': '3' };
  const table: readonly [StringMap, string][] = [
    [{ 'keep-revisions': '0' }, '"0" is not a number from 1 to 100; remove the annotation to keep none'],
    [{ 'keep-revisions': '' }, '"" is not a number from 1 to 100; remove the annotation to keep none'],
    [{ 'keep-revisions': '101' }, '"101" is not a number from 1 to 100; remove the annotation to keep none'],
    [{ 'keep-revisions': '1.5' }, '"1.5" is not a number from 1 to 100; remove the annotation to keep none'],
    [
      { pin: '1234' },
      '"1234" is not the beginning of a checksum (8 of 0-9 and a-f); the command history lists them',
    ],
    [
      { pin: '89ABCDEF' },
      '"89ABCDEF" is not the beginning of a checksum (8 of 0-9 and a-f); the command history lists them',
    ],
    [{ ...kept, canary: '' }, 'names no namespace; write for example "team-a, qa-*" or "env in (dev)"'],
    [{ ...kept, canary: '!qa' }, 'names no namespace; write for example "team-a, qa-*" or "env in (dev)"'],
    [
      { ...kept, canary: 'env in dev' },
      '"env in dev": write "key=value", "key in (a,b)", "key notin (a,b)", "key" or "!key"',
    ],
    [{ ...kept, canary: 'team-a team-b' }, '"team-a team-b": separate the names by commas'],
    [{ ...kept, canary: 'team-a; team-b' }, '"team-a; team-b": separate the names by commas'],
    [{ ...kept, canary: 'env==(dev)' }, '"(dev)" is not a label value'],
    [
      { ...kept, canary: 'qa', 'canary-bake': 'soon' },
      '"soon" is not a duration; write for example 500ms, 30s, 1h30m or 1d, or "manual"',
    ],
    [
      { ...kept, canary: 'qa', 'canary-approve': 'yes' },
      '"yes" is not the beginning of a checksum (8 of 0-9 and a-f); the command history lists them',
    ],
  ];
  test.for(table)('[D4] [D5] [D6] [R13] %o: %s', ([asks, problem]) => {
    const key = Object.keys(asks).at(-1);
    expect(ask(asks)).toEqual({ ok: false, problem: `workshop.io/${key}: ${problem}` });
  });

  test('[D6] [R13] a canary without revisions', () => {
    expect(ask({ canary: 'qa' })).toEqual({
      ok: false,
      problem:
        'workshop.io/keep-revisions: missing, and workshop.io/canary needs the previous content; write how many to keep, such as "5"',
    });
  });

  test('[D4] [R13] a source whose name leaves no room for that of a revision', () => {
    const asks = { 'keep-revisions': '1', 'companion-name': 'x' };
    expect(ask(asks, 'n'.repeat(240)).ok).toBe(true);
    expect(ask(asks, 'n'.repeat(241))).toEqual({
      ok: false,
      problem:
        "workshop.io/keep-revisions: the source's name has 241 characters, and revisions allow at most 240; shorten it, or remove the annotation",
    });
  });
});
