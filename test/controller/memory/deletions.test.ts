import { expect, test } from 'vitest';
import { Deletions } from '../../../src/controller/memory/deletions.ts';
import { companion, observed, source } from '../../mirror/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const colors = source('home/colors');
const one = observed(companion(colors, 'team-a/one'));
const two = observed(companion(colors, 'team-a/two'));
const { key: home } = observed(colors);
const { key: away } = observed(source('away/colors'));

test('[D1] a deletion counts for 60 s from when it was last sent, for the namespace of its source', async () => {
  const clock = new ManualClock();
  const deletions = new Deletions(clock);
  deletions.begins(home, one);
  deletions.begins(away, two);
  await clock.advance(30_000);
  deletions.begins(home, one);
  deletions.begins(home, two);
  await clock.advance(59_999);
  expect([...deletions.recent('home')]).toEqual([one.uid, two.uid]);
  expect([...deletions.recent('away')]).toEqual([]);
  await clock.advance(1);
  expect([...deletions.recent('home')]).toEqual([]);
});

test('[D1] a planned deletion counts until the next plan of its source, or for 60 s', async () => {
  const clock = new ManualClock();
  const deletions = new Deletions(clock);
  deletions.plans(home, [one, two]);
  expect([...deletions.recent('home')]).toEqual([one.uid, two.uid]);
  deletions.begins(home, one);
  deletions.plans(home, []);
  expect([...deletions.recent('home')]).toEqual([one.uid]);
  deletions.plans(home, [two]);
  await clock.advance(60_000);
  expect([...deletions.recent('home')]).toEqual([]);
});
