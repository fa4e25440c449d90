/** `npm run bench`: how fast and how large we are, beside the API server alone and a controller on client-go. See docs/performance.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { findBinaries, kubernetesVersion } from '../test/support/control-plane-binaries.ts';
import { buildBaseline } from './build-baseline.ts';
import { describeMachine } from './machine.ts';
import { measure, type Plan } from './measure.ts';
import { type Report, readReport } from './report.ts';
import { SCENARIOS } from './scenarios/all.ts';
import { subjects } from './subject.ts';
import { comparison, table } from './table.ts';

const USAGE = `npm run bench -- [options]
  --scenario NAME   only this one; may be repeated. Default: all
  --subject NAME    only this one, of ours, other, go, go-protobuf, go-5qps; may be repeated. Default: all
  --other FILE      another bundle of ours, to be measured right beside this one: what did a change bring?
  --runs N          default 3; with --quick 1
  --quick           a tenth of the sizes, to see that it works; no figures to quote
  --quiet SECONDS   wait so long at most for a quiet machine before each measurement; default 120
  --output FILE     the report as JSON; default dist/bench-<time>.json
  --show FILE       measure nothing, show an earlier report
  --compare FILE    set an earlier report beside this one

Scenarios:
${SCENARIOS.map(({ name, describe }) => `  ${name.padEnd(17)} ${describe}`).join('\n')}
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      scenario: { type: 'string', multiple: true },
      subject: { type: 'string', multiple: true },
      other: { type: 'string' },
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      quiet: { type: 'string', default: '120' },
      output: { type: 'string' },
      show: { type: 'string' },
      compare: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  const report = values.show === undefined ? await measureAll(values) : readReport(values.show);
  print(about(report));
  print(table(report));
  if (values.compare !== undefined) print(comparison(readReport(values.compare), report));
  return report.sessions.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

async function measureAll(values: {
  readonly scenario?: readonly string[] | undefined;
  readonly subject?: readonly string[] | undefined;
  readonly other?: string | undefined;
  readonly runs?: string | undefined;
  readonly quick: boolean;
  readonly quiet: string;
  readonly output?: string | undefined;
}): Promise<Report> {
  const at = new Date().toISOString();
  const { quick } = values;
  const binaries = await findBinaries({ env: process.env, onProgress: note });
  const machine = { ...describeMachine(), kubernetes: kubernetesVersion() };
  const output = resolve(values.output ?? `dist/bench-${at.replaceAll(':', '-')}.json`);
  mkdirSync(dirname(output), { recursive: true });
  let report: Report = { at, machine, quick, measured: [], sessions: [] };
  await measure({
    binaries,
    scenarios: chosen(values.scenario),
    subjects: chosenSubjects(subjects(await buildBaseline(process.env), values.other), values.subject),
    runs: Number(values.runs ?? (quick ? 1 : 3)),
    random: Math.random,
    quick,
    quietMs: Number(values.quiet) * 1000,
    onProgress: note,
    onResults: (results) => {
      report = results.report({ at, machine, quick });
      writeFileSync(output, `${JSON.stringify(report, undefined, 2)}\n`);
    },
  });
  note(`written to ${output}`);
  return report;
}

function chosen(names: readonly string[] | undefined): typeof SCENARIOS {
  if (names === undefined) return SCENARIOS;
  check('scenario', names, new Set(SCENARIOS.map(({ name }) => name)));
  return SCENARIOS.filter(({ name }) => names.includes(name));
}

function chosenSubjects(all: Plan['subjects'], names: readonly string[] | undefined): Plan['subjects'] {
  if (names === undefined) return all;
  check('subject', names, new Set(Object.keys(all)));
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

function check(what: string, names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`there is no ${what} ${unknown.join(', ')}; see --help`);
}

function about({ at, machine, quick, sessions }: Report): string {
  const loads = sessions.map(({ foreignLoad }) => foreignLoad);
  const load = `${Math.round(100 * Math.max(...loads))} %`;
  const failures = sessions.flatMap(({ scenario, subject, run, failure }) =>
    failure === undefined ? [] : [`FAILED: ${scenario}, ${subject}, run ${run}: ${failure}`],
  );
  return [
    `${at}, ${Object.values(machine).join(', ')}`,
    `Others used at most ${load} of the machine during a measurement.`,
    ...(quick ? ['Quick: sizes too small for figures to mean anything.'] : []),
    ...failures,
  ].join('\n');
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    note(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  },
);
