import { expect, test } from 'vitest';
import type { Figure, SubjectName } from '../../bench/report/figure.ts';
import { comparison, markdown } from '../../bench/report/markdown.ts';
import { overview, QUESTIONS } from '../../bench/report/overview.ts';
import { between } from '../../bench/report/publish.ts';
import { merged, type Report, Results } from '../../bench/report/report.ts';
import { SCENARIOS } from '../../bench/scenarios/all.ts';

type Run = readonly [scenario: string, subject: SubjectName, run: number, ...figures: Figure[]];

function reportOf(at: string, ...runs: readonly Run[]): Report {
  const results = new Results();
  for (const [scenario, subject, run, ...figures] of runs)
    results.add({ scenario, subject, run, otherLoad: 0.02 }, figures);
  return results.report({ at, machine: { cpu: '2 x fast', node: 'v20' }, quick: false });
}

const ms = (name: string, value: number): Figure => ({ name, unit: 'ms', value });

/** The cells of the row that starts with this cell. */
function row(text: string, first: string): string[] | undefined {
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.find((cells) => cells[1] === first)?.slice(2, -1);
}

test('a ratio is the median of the ratios of runs, not the ratio of medians', () => {
  const report = reportOf(
    'now',
    ['edits', 'ours', 1, ms('p50', 10)],
    ['edits', 'go', 1, ms('p50', 5)],
    ['edits', 'ours', 2, ms('p50', 20)],
    ['edits', 'go', 2, ms('p50', 40)],
    ['edits', 'ours', 3, ms('p50', 30)],
    ['edits', 'go', 3, ms('p50', 20)],
  );
  const expected = ['ms', '20 (10 to 30)', '20 (5 to 40)', '1.50 (0.50 to 2.00)'];
  expect(row(markdown(report), 'p50')).toEqual(expected);
});

test('a table has only the measured columns, and the bound of the API server', () => {
  const report = reportOf(
    'now',
    ['ceiling', 'none', 1, { name: 'creates, 16 in flight', unit: '/s', value: 1000 }],
    ['start', 'ours', 1, { name: 'rate', unit: '/s', value: 800, bound: 'creates, 16 in flight' }],
  );
  const text = markdown(report);
  expect(row(text, 'figure')).toEqual(['unit', 'API server alone']);
  expect(row(text, 'rate')).toEqual(['/s', '800', '1,000', '0.80']);
});

test('a report shows the machine, what else ran on it, and what failed', () => {
  const results = new Results();
  const failed = { scenario: 'edits', subject: 'go', run: 2, otherLoad: 0.1, failure: 'died' } as const;
  results.add(failed, []);
  const text = markdown(results.report({ at: 'now', machine: { cpu: '2 x fast' }, quick: true }));
  expect(text).toContain('now, medians of up to 2 runs, 2 x fast.');
  expect(text).toContain('at most 10 %');
  expect(text).toContain('the sizes are too small');
  expect(text).toContain('FAILED: edits, go, run 2: died');
});

test('in merged reports the later one wins for its scenarios', () => {
  const first = reportOf('then', ['edits', 'ours', 1, ms('p50', 1)], ['idle', 'ours', 1, ms('ready', 2)]);
  const later = reportOf('now', ['edits', 'go', 1, ms('p50', 3)]);
  const { at, measured, sessions } = merged(first, later);
  expect(at).toBe('now');
  expect(measured.map(({ scenario, subject }) => [scenario, subject])).toEqual([
    ['idle', 'ours'],
    ['edits', 'go'],
  ]);
  expect(sessions).toHaveLength(2);
});

test('two reports are compared figure by figure', () => {
  const before = reportOf('then', ['edits', 'ours', 1, ms('p50', 4)]);
  const after = reportOf('now', ['edits', 'ours', 1, ms('p50', 3)]);
  expect(row(comparison(before, after), 'edits')).toEqual(['p50', 'ms', 'ours', '4', '3', '0.75']);
});

test('the overview shows what was measured and what was not', () => {
  const figures = [ms('edit of a source, p50', 4), ms('edit of a source, p99', 8)];
  const text = overview(reportOf('now', ['edits', 'ours', 1, ...figures]));
  expect(row(text, 'edit of a source until its companion follows, p50; p99')).toEqual([
    '4 ms; 8 ms',
    '`edits`',
  ]);
  expect(row(text, 'memory (RSS) with nothing to do')).toEqual(['not measured', '`idle`']);
  expect(text).toContain(`edit of a source     ${'█'.repeat(25)}${'░'.repeat(25)} 4.0 / 8.0`);
});

test('every question of the overview has a scenario', () => {
  const known = SCENARIOS.map(({ name }) => name);
  expect(QUESTIONS.map(([, scenario]) => scenario).filter((name) => !known.includes(name))).toEqual([]);
});

test('a report is written into the marked place of a page, and the next one replaces it', () => {
  const page = 'before\n<!-- report -->\nold\n<!-- end of report -->\nafter\n';
  const once = between(page, 'new');
  expect(once).toBe('before\n<!-- report -->\n\nnew\n\n<!-- end of report -->\nafter\n');
  expect(between(once, 'newer')).toBe(once.replace('new', 'newer'));
  expect(() => between('unmarked', 'new')).toThrow('no place marked');
});
