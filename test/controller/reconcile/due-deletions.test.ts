import { expect, test } from 'vitest';
import { RememberedSearch } from '../../../src/controller/reconcile/due-deletions.ts';
import type { DueDeletions } from '../../../src/mirror/plan/view.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('[D1] what is due is searched at most for a twentieth of the time, for each namespace', () => {
  let now = 0;
  const clock = Object.assign(new ManualClock(), { now: () => now });
  const remembered = new RememberedSearch(clock);
  let searches = 0;
  /** A search that takes 10 ms. */
  const search = (): DueDeletions => {
    now += 10;
    searches += 1;
    return { counted: new Set(), total: searches, isHeld: false };
  };
  const at = (time: number, namespace: string) => {
    now = time;
    return remembered.in(namespace, [], search).total;
  };
  expect([at(0, 'home'), at(209, 'home'), at(210, 'home')]).toEqual([1, 1, 2]);
  expect([at(230, 'away'), at(250, 'away'), at(260, 'home'), at(440, 'home')]).toEqual([3, 3, 2, 4]);
});

test('[D1] a search that takes no time is made each time', () => {
  const remembered = new RememberedSearch(new ManualClock());
  const found = [1, 2].map((total) =>
    remembered.in('home', [], () => ({ counted: new Set(), total, isHeld: false })),
  );
  expect(found.map(({ total }) => total)).toEqual([1, 2]);
});

test('[D1] what a plan found due since the last search counts for the plans that follow', () => {
  let now = 0;
  const clock = Object.assign(new ManualClock(), { now: () => now });
  const remembered = new RememberedSearch(clock);
  const dueWith = (...own: readonly string[]) => {
    const { counted } = remembered.in('home', own, () => {
      now += 10;
      return { counted: new Set('a'), total: 9, isHeld: false };
    });
    return [...counted];
  };
  expect(dueWith()).toEqual(['a']);
  expect(dueWith('b', 'c')).toEqual(['a', 'b', 'c']);
  expect(dueWith('c', 'd')).toEqual(['a', 'b', 'c', 'd']);
  now += 1_000;
  expect(dueWith('e')).toEqual(['a', 'e']);
});
