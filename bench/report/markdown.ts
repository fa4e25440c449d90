import type { CeilingName, SubjectName } from './figure.ts';
import type { Measured, Report } from './report.ts';
import { median, medianInterval } from './statistics.ts';

/** The whole report: where and how it was measured, then a table for each scenario. */
export function markdown(report: Report): string {
  const scenarios = new Set(report.measured.map(({ scenario }) => scenario));
  const sections = Array.from(scenarios, (scenario) => `### ${scenario}\n\n${table(report, scenario)}`);
  return [about(report), ...sections].join('\n\n');
}

/** When and where the figures were measured. */
export function machineOf({ at, machine, sessions }: Report): string {
  const runs = Math.max(...sessions.map(({ run }) => run));
  return `${at.slice(0, 10)}, medians of up to ${runs} runs, ${Object.values(machine).join(', ')}.`;
}

function about(report: Report): string {
  const { quick, sessions } = report;
  const load = `${Math.round(100 * Math.max(...sessions.map(({ otherLoad }) => otherLoad)))} %`;
  const failures = sessions.flatMap(({ scenario, subject, run, failure }) =>
    failure === undefined ? [] : [`FAILED: ${scenario}, ${subject}, run ${run}: ${failure}`],
  );
  return [
    machineOf(report),
    `Unrelated processes used at most ${load} of the machine during a measurement.`,
    ...(quick ? ['Quick: the sizes are too small for figures to mean anything.'] : []),
    ...failures,
  ].join('\n');
}

/**
 * Medians over the runs, each with its {@link medianInterval}. A ratio of two subjects is the
 * median of the runs' ratios. Columns without a figure are left out.
 */
function table({ measured }: Report, scenario: string): string {
  const here = measured.filter((one) => one.scenario === scenario);
  const names = new Set(here.map(({ name }) => name));
  const rows = Array.from(names, (name) => {
    const by = (subject: SubjectName) => here.find((one) => one.name === name && one.subject === subject);
    const [ours, other, go, protobuf] = [by('ours'), by('other'), by('go'), by('go-protobuf')];
    const about = here.find((one) => one.name === name);
    const ceiling = by('none') ?? boundOf(measured, about?.bound);
    return {
      figure: name,
      unit: about?.unit ?? '',
      ours: spread(ours),
      'other build': spread(other),
      'ours / other build': pairedRatio(ours, other),
      Go: spread(go),
      'ours / Go': pairedRatio(ours, go),
      'Go, protobuf': spread(protobuf),
      'ours / Go, protobuf': pairedRatio(ours, protobuf),
      'API server alone': spread(ceiling),
      'ours / API server': ratioOfMedians(ours, ceiling),
    };
  });
  return tableOf(rows);
}

/** Two reports side by side, and the ratio of the second to the first. */
export function comparison(before: Report, after: Report): string {
  const rows = after.measured.map((now) => {
    const { scenario, name, unit, subject } = now;
    const then = before.measured.find(
      (one) => one.scenario === scenario && one.name === name && one.subject === subject,
    );
    return {
      scenario,
      figure: name,
      unit,
      subject,
      [before.at]: spread(then),
      [after.at]: spread(now),
      'after / before': ratioOfMedians(now, then),
    };
  });
  return tableOf(rows);
}

/** The median, with three digits; `none` when nothing was measured. */
export function middle(one: Measured | undefined): string {
  return number(median(values(one)));
}

function boundOf(measured: readonly Measured[], bound: CeilingName | undefined): Measured | undefined {
  return measured.find(({ scenario, name }) => scenario === 'ceiling' && name === bound);
}

function spread(one: Measured | undefined): string {
  return one === undefined ? '' : withInterval(values(one), number);
}

/** For two subjects that were measured one right after the other in each run. */
function pairedRatio(one: Measured | undefined, other: Measured | undefined): string {
  const ratios = (one?.values ?? []).flatMap(({ run, value }) => {
    const beside = other?.values.find((pair) => pair.run === run)?.value;
    return beside === undefined || !Number.isFinite(value / beside) ? [] : [value / beside];
  });
  return ratios.length === 0 ? '' : withInterval(ratios, (value) => value.toFixed(2));
}

/** For figures that were not measured in pairs. */
function ratioOfMedians(one: Measured | undefined, other: Measured | undefined): string {
  const value = median(values(one)) / median(values(other));
  return Number.isFinite(value) ? value.toFixed(2) : '';
}

function values(one: Measured | undefined): number[] {
  return (one?.values ?? []).map(({ value }) => value);
}

function withInterval(all: readonly number[], format: (value: number) => string): string {
  const center = format(median(all));
  const [low, high] = medianInterval(all).map(format);
  return low === high ? center : `${center} (${low} to ${high})`;
}

/** Three digits, or all of a larger whole number. */
function number(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}

/** A Markdown table of rows with the same keys, without the columns that are empty. */
export function tableOf(rows: readonly Readonly<Record<string, string>>[]): string {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column]));
  const cells = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [head, widths.map((width) => '-'.repeat(width)), ...body].map(line).join('\n');
}
