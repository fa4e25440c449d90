import { describe, expect, test } from 'vitest';
import type { ObservedConfigMap } from '../../../src/mirror/observe/observed-config-map.ts';
import { History } from '../../../src/mirror/rollout/history.ts';
import { isRevisionOf } from '../../../src/mirror/rollout/revision-step.ts';
import { configMap, controllerReference, observed, source, vocabulary } from '../wire.ts';
import { revision } from './revisions.ts';

const CONTENTS = [...'abcdefABCDEF'];

/**
 * A source that holds `content`, keeps `count`, and has these revisions, the oldest first. Those in
 * upper case failed in a canary.
 */
function historyOf(content: string, count: number, kept: readonly string[]): History {
  const object = source('home/s', {}, { data: { content } });
  const revisions = kept.map((each, index) => {
    const stage = each === each.toUpperCase() ? 'failed' : undefined;
    return revision(object, { content: each }, { order: index + 1, stage });
  });
  return new History(
    {
      source: observed(object),
      request: count === 0 ? undefined : { keepRevisions: count, pin: undefined, canary: undefined },
      revisions: revisions.toReversed(),
      namesake: undefined,
      othersHold: 'it',
    },
    vocabulary,
  );
}

function inWords(history: History, inUse: readonly (ObservedConfigMap | undefined)[] = []) {
  const contentOf = (digest: string) =>
    CONTENTS.find((content) => observed(configMap('x/x', { data: { content } })).digest === digest);
  return history.steps(undefined, inUse).map((step) => {
    if (step.action === 'keep') return `keep ${step.order}`;
    const what = `${step.action} ${contentOf(step.actual.digest)}`;
    return step.action === 'mark' ? `${what} ${step.differences[0]?.value}` : what;
  });
}

describe('what is kept', () => {
  const table: readonly [string, number, string, string[]][] = [
    ['', 2, 'a', ['keep 1']],
    ['a', 2, 'a', []],
    ['a', 2, 'b', ['keep 2']],
    ['abc', 2, 'c', []],
    ['abcd', 2, 'd', ['drop a']],
    ['abcde', 1, 'e', ['drop c', 'drop b', 'drop a']],
    ['abc', 1, 'd', ['keep 4']],
    ['abc', 2, 'a', ['mark a 4']],
    ['abcd', 1, 'a', ['mark a 5', 'drop c', 'drop b']],
    ['abc', 0, 'c', ['drop c', 'drop b', 'drop a']],
    ['', 0, 'c', []],
    // What failed does not push out what was everywhere.
    ['aBCDe', 1, 'e', ['drop C', 'drop B']],
    ['aBcDe', 1, 'e', ['drop a', 'drop B']],
    ['aBcDEf', 2, 'f', ['drop B']],
    ['aBc', 0, 'c', ['drop c', 'drop a', 'drop B']],
  ];
  test.for(table)('[D4] of "%s", at most %d others, with %s now: %o', ([kept, count, content, steps]) => {
    expect(inWords(historyOf(content, count, [...kept]))).toEqual(steps);
  });

  test('[D4] what is in use neither goes nor counts', () => {
    const history = historyOf('e', 2, [...'abcde']);
    const inUse = [history.revisions.at(-1), undefined];
    expect(inWords(history, inUse)).toEqual(['drop b']);
  });

  /** How many contents are ahead of one to which somebody has given this order. */
  const rankOf = (order: string, others: readonly number[]) => {
    const object = source('home/s', {}, { data: { content: 'b' } });
    const spoiled = revision(object, { content: 'a' }, { order: 7 });
    const annotations = { ...spoiled.annotations, 'workshop.io/revision': order };
    const later = others.map((each, at) => revision(object, { content: `${at}` }, { order: each }));
    const revisions = [{ ...spoiled, annotations }, ...later];
    const request = { keepRevisions: 5, pin: undefined, canary: undefined };
    const facts = {
      source: observed(object),
      request,
      revisions,
      namesake: undefined,
      othersHold: 'it',
    } as const;
    const history = new History(facts, vocabulary);
    return history.revisions.findIndex(({ digest }) => digest === spoiled.digest);
  };
  test('[D4] an order that somebody has removed or spoiled counts as the oldest', () => {
    expect(rankOf('last', [2, 3])).toBe(2);
    expect(rankOf('9'.repeat(16), [2, 3])).toBe(2);
    expect(rankOf('9'.repeat(400), [2, 3])).toBe(2);
  });
  test('[D4] what is kept after one with a large order is newer than that', () => {
    expect(rankOf('999999999999999', [1e15, 1e15 + 1])).toBe(2);
  });
});

describe('which objects are revisions of a source', () => {
  const object = source('home/s');
  const good = revision(object, { content: 'a' }, { order: 1 });
  const others: Record<string, ObservedConfigMap> = {
    'a copy under another name': { ...good, key: `${good.key}-copy` as typeof good.key },
    'another content under its name': { ...good, digest: 'f'.repeat(64) },
    'one of an earlier source of the name': {
      ...good,
      ownerReferences: [{ ...controllerReference(object), uid: 'earlier' }],
    },
    'one without an owner': { ...good, ownerReferences: [] },
    'one that is being deleted': { ...good, deleting: true },
    'one that was relabelled': { ...good, labels: { 'workshop.io/managed': 'companion' } },
    'one that carries the name of a companion': {
      ...good,
      annotations: { ...good.annotations, 'workshop.io/companion': good.key },
    },
  };
  test('[D4] one that it owns, whose name says its content', () => {
    expect(isRevisionOf(good, observed(object), vocabulary)).toBe(true);
  });
  test.for(Object.entries(others))('[D4] not %s', ([, other]) => {
    expect(isRevisionOf(other, observed(object), vocabulary)).toBe(false);
  });
});
