import type { Measured, Report } from './report.ts';
import type { CeilingName, SubjectName } from './scenario.ts';
import { median, medianInterval } from './statistics.ts';

const COLUMNS = [
  'scenario',
  'figure',
  'unit',
  'ours',
  'other build',
  'ours / other build',
  'Go',
  'ours / Go',
  'Go, protobuf',
  'ours / Go, protobuf',
  'Go at 5/s',
  'API server',
  'ours / API server',
];

/**
 * All figures, as a Markdown table: medians, each with the interval of {@link medianInterval} where that is more than one
 * value. A ratio of two subjects is that of a run, and its median over the runs.
 */
export function table({ measured }: Report): string {
  const by = (scenario: string, name: string, subject: SubjectName) =>
    measured.find((one) => one.scenario === scenario && one.name === name && one.subject === subject);
  const row = ({ scenario, name, unit, bound }: Measured) => {
    const [ours, go] = [by(scenario, name, 'ours'), by(scenario, name, 'go')];
    const other = by(scenario, name, 'other');
    const protobuf = by(scenario, name, 'go-protobuf');
    const ceiling = scenario === 'ceiling' ? by(scenario, name, 'none') : boundOf(measured, bound);
    return [
      scenario,
      name,
      unit,
      spread(ours),
      spread(other),
      byTurns(ours, other),
      spread(go),
      byTurns(ours, go),
      spread(protobuf),
      byTurns(ours, protobuf),
      spread(by(scenario, name, 'go-5qps')),
      spread(ceiling),
      ratio(ours, ceiling),
    ];
  };
  const isFirst = ({ scenario, name }: Measured, index: number) =>
    measured.findIndex((one) => one.scenario === scenario && one.name === name) === index;
  return markdown([COLUMNS, ...measured.filter(isFirst).map(row)]);
}

/** Two reports side by side, and how the second stands to the first. */
export function comparison(before: Report, after: Report): string {
  const rows = after.measured.map((now) => {
    const then = before.measured.find(
      ({ scenario, name, subject }) =>
        scenario === now.scenario && name === now.name && subject === now.subject,
    );
    return [now.scenario, now.name, now.unit, now.subject, spread(then), spread(now), ratio(now, then)];
  });
  return markdown([
    ['scenario', 'figure', 'unit', 'subject', before.at, after.at, 'after / before'],
    ...rows,
  ]);
}

function boundOf(measured: readonly Measured[], bound: CeilingName | undefined): Measured | undefined {
  return measured.find(({ scenario, name }) => scenario === 'ceiling' && name === bound);
}

function spread(one: Measured | undefined): string {
  return one === undefined ? '' : middleOf(values(one), number);
}

/** Of what was measured in the same run, one right after the other. */
function byTurns(one: Measured | undefined, other: Measured | undefined): string {
  const ratios = (one?.values ?? []).flatMap(({ run, value }) => {
    const beside = other?.values.find((turn) => turn.run === run)?.value;
    return beside === undefined || !Number.isFinite(value / beside) ? [] : [value / beside];
  });
  return ratios.length === 0 ? '' : middleOf(ratios, (value) => value.toFixed(2));
}

/** Of medians, where there are no turns. */
function ratio(one: Measured | undefined, other: Measured | undefined): string {
  const value = median(values(one)) / median(values(other));
  return Number.isFinite(value) ? value.toFixed(2) : '';
}

function values(one: Measured | undefined): number[] {
  return (one?.values ?? []).map(({ value }) => value);
}

function middleOf(all: readonly number[], format: (value: number) => string): string {
  const middle = format(median(all));
  const [low, high] = medianInterval(all).map(format);
  return low === high ? middle : `${middle} (${low} to ${high})`;
}

/** Three digits, or all that are whole. */
function number(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}

function markdown(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.slice(1).map(line)].join('\n');
}
