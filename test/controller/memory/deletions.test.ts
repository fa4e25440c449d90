import { expect, test } from 'vitest';
import { Deletions } from '../../../src/controller/memory/deletions.ts';
import { companion, observed, source } from '../../mirror/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const one = observed(companion(source('home/colors'), 'team-a/one'));
const two = observed(companion(source('home/colors'), 'team-a/two'));

test('[D1] a deletion counts for 60 s from its latest beginning, for the namespace of its source', async () => {
  const clock = new ManualClock();
  const deletions = new Deletions(clock);
  deletions.begins('home', one);
  deletions.begins('away', two);
  await clock.advance(30_000);
  deletions.begins('home', one);
  deletions.begins('home', two);
  await clock.advance(59_999);
  expect([...deletions.recent('home')]).toEqual([one.uid, two.uid]);
  expect([...deletions.recent('away')]).toEqual([]);
  await clock.advance(1);
  expect([...deletions.recent('home')]).toEqual([]);
});
