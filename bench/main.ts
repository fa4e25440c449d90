/** `npm run bench`: how fast and how large the controller is. See docs/benchmarks.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { aboveZero } from '../scripts/above-zero.ts';
import { findBinaries, kubernetesVersion } from '../test/support/control-plane-binaries.ts';
import { measure, type Plan } from './measure.ts';
import { comparison, markdown } from './report/markdown.ts';
import { publish } from './report/publish.ts';
import { merged, type Report, readReport } from './report/report.ts';
import { SCENARIOS } from './scenarios/all.ts';
import { buildBaseline } from './subjects/build-baseline.ts';
import { subjects } from './subjects/subjects.ts';
import { bundleWithoutEvents } from './subjects/without-events.ts';
import { describeMachine } from './testbed/machine.ts';

const USAGE = `npm run bench -- [options]
  --scenario NAME   only this one; repeatable. Default: all but those marked *
  --subject NAME    only this one, of ours, other, go, go-protobuf; repeatable. Default: all
  --other FILE      also measure this other bundle of ours, to see what a change brings
  --without-events  also measure our bundle without Events, as the other one, to see what they cost
  --runs N          default 3; with --quick 1
  --quick           a tenth of the sizes, to see that it works; its figures mean nothing
  --quiet SECONDS   longest wait for a quiet machine before each measurement; default 120
  --output FILE     the report as JSON; default dist/bench-<time>.json
  --show FILE       measure nothing, show an earlier report; repeatable: of a scenario
                    that is in several, the last one counts
  --compare FILE    compare with an earlier report
  --publish         also write the report into docs/benchmarks.md and docs/performance.md

The report is printed as Markdown. Scenarios:
${SCENARIOS.map(({ name, describe, onRequest }) => `  ${`${name}${onRequest === true ? ' *' : ''}`.padEnd(17)} ${describe}`).join('\n')}
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      scenario: { type: 'string', multiple: true },
      subject: { type: 'string', multiple: true },
      other: { type: 'string' },
      'without-events': { type: 'boolean', default: false },
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      quiet: { type: 'string', default: '120' },
      output: { type: 'string' },
      show: { type: 'string', multiple: true },
      compare: { type: 'string' },
      publish: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  const [first, ...later] = (values.show ?? []).map(readReport);
  const report = first === undefined ? await measureAll(values) : merged(first, ...later);
  print(markdown(report));
  if (values.compare !== undefined) print(comparison(readReport(values.compare), report));
  if (values.publish) publish(report);
  return report.sessions.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

async function measureAll(values: {
  readonly scenario?: readonly string[] | undefined;
  readonly subject?: readonly string[] | undefined;
  readonly other?: string | undefined;
  readonly 'without-events': boolean;
  readonly runs?: string | undefined;
  readonly quick: boolean;
  readonly quiet: string;
  readonly output?: string | undefined;
}): Promise<Report> {
  const at = new Date().toISOString();
  const { quick } = values;
  const runs = Math.ceil(aboveZero('--runs', values.runs ?? (quick ? '1' : '3')));
  const quietMs = aboveZero('--quiet', values.quiet) * 1000;
  const binaries = await findBinaries({ env: process.env, onProgress: note });
  const machine = { ...describeMachine(), kubernetes: `Kubernetes ${kubernetesVersion().slice(1)}` };
  const output = resolve(values.output ?? `dist/bench-${at.replaceAll(':', '-')}.json`);
  mkdirSync(dirname(output), { recursive: true });
  let report: Report = { at, machine, quick, measured: [], sessions: [] };
  await measure({
    binaries,
    scenarios: chosen(values.scenario),
    subjects: chosenSubjects(
      subjects(await buildBaseline(process.env), await otherBundle(values)),
      values.subject,
    ),
    runs,
    random: Math.random,
    quick,
    quietMs,
    onProgress: note,
    onResults: (results) => {
      report = results.report({ at, machine, quick });
      writeFileSync(output, `${JSON.stringify(report, undefined, 2)}\n`);
    },
  });
  note(`written to ${output}`);
  return report;
}

/** Path of the bundle to measure beside ours; undefined: none. */
async function otherBundle(values: {
  readonly other?: string | undefined;
  readonly 'without-events': boolean;
}): Promise<string | undefined> {
  if (!values['without-events']) return values.other;
  if (values.other !== undefined) throw new Error('--other and --without-events: give one of them');
  const path = resolve('dist/without-events.js');
  await bundleWithoutEvents(path);
  return path;
}

function chosen(names: readonly string[] | undefined): typeof SCENARIOS {
  if (names === undefined) return SCENARIOS.filter(({ onRequest }) => onRequest !== true);
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
  if (unknown.length > 0) throw new Error(`unknown ${what} ${unknown.join(', ')}; see --help`);
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
