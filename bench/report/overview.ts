import type { SubjectName } from './figure.ts';
import { machineOf, middle, tableOf } from './markdown.ts';
import type { Report } from './report.ts';
import { median } from './statistics.ts';

/** What a user asks, the scenario that answers it, and its figures. */
type Question = readonly [what: string, scenario: string, ...figures: string[]];

export const QUESTIONS: readonly Question[] = [
  [
    'edit of a source until its companion follows, p50; p99',
    'edits',
    'edit of a source, p50',
    'edit of a source, p99',
  ],
  [
    'companion edited by hand until healed, p50; p99',
    'edits',
    'heal of an edit, p50',
    'heal of an edit, p99',
  ],
  [
    'companion deleted until recreated, p50; p99',
    'edits',
    'heal of a deletion, p50',
    'heal of a deletion, p99',
  ],
  [
    'new namespace until its companion is there, p50; p99',
    'new-namespace',
    'companion, p50',
    'companion, p99',
  ],
  [
    'edit of another source during a fan-out to 1,000 namespaces, p50; p99; longest',
    'busy',
    'edit, during a fan-out: p50',
    'edit, during a fan-out: p99',
    'edit, during a fan-out: longest',
  ],
  [
    "a process' first fan-out to 1,000 namespaces: first; last companion",
    'fan-out-1000',
    'first fan-out: first',
    'first fan-out: last',
  ],
  ['one source to 1,000 namespaces: created; edited', 'fan-out-1000', 'create: last', 'edit: last'],
  ['source unlabelled until its 1,000 companions are gone', 'cleanup', 'delete: last'],
  [
    'first start over 1,000 sources, companions a second',
    'cold-start-1000',
    'writes a second, first to last',
  ],
  [
    'first start over 5,000 sources, companions a second',
    'cold-start-5000',
    'writes a second, first to last',
  ],
  [
    'first start over 10,000 sources, companions a second',
    'cold-start-10000',
    'writes a second, first to last',
  ],
  ['restart over 1,000 sources: ready after; writes', 'cold-start-1000', 'restart: ready', 'restart: writes'],
  [
    'restart over 10,000 sources: ready after; writes',
    'cold-start-10000',
    'restart: ready',
    'restart: writes',
  ],
  ['memory (RSS) with nothing to do', 'idle', 'RSS settled'],
  ['memory with 1,000 sources and companions', 'cold-start-1000', 'RSS settled'],
  ['memory with 10,000 sources and companions', 'cold-start-10000', 'RSS settled'],
  ['memory for 1,000 more companions of a source', 'companions', 'RSS for 1,000 companions more'],
  ['`status -A` over 10,000 companions: time; peak memory', 'status', 'status -A', 'status -A: RSS peak'],
  ['memory with 100,000 sources and companions: peak; at rest', 'huge', 'RSS peak', 'RSS settled'],
  ['processor time for these 100,000', 'huge', 'controller CPU'],
];

/** Scenario and the figures for its p50 and p99. */
const BARS: Readonly<Record<string, readonly [scenario: string, p50: string, p99: string]>> = {
  'edit of a source': ['edits', 'edit of a source, p50', 'edit of a source, p99'],
  'companion edited': ['edits', 'heal of an edit, p50', 'heal of an edit, p99'],
  'companion deleted': ['edits', 'heal of a deletion, p50', 'heal of a deletion, p99'],
  'new namespace': ['new-namespace', 'companion, p50', 'companion, p99'],
  'edit during fan-out': ['busy', 'edit, during a fan-out: p50', 'edit, during a fan-out: p99'],
};

/** Width of the longest bar (characters). */
const WIDTH = 50;

/** What a user wants to know of a report: a table and a chart, in Markdown. */
export function overview(report: Report): string {
  const find = (scenario: string, name: string, subject: SubjectName) =>
    report.measured.find((one) => one.scenario === scenario && one.name === name && one.subject === subject);
  const cell = ([, scenario, ...names]: Question, subject: SubjectName) => {
    const found = names.map((name) => find(scenario, name, subject));
    const shown = found.flatMap((one) =>
      one === undefined ? [] : [`${middle(one)}${one.unit === '/s' ? '' : ' '}${one.unit}`],
    );
    return shown.join('; ');
  };
  const table = tableOf(
    QUESTIONS.map((question) => ({
      '': question[0],
      'mirror-controller': cell(question, 'ours') || 'not measured',
      'Go controller': cell(question, 'go'),
      scenario: `\`${question[1]}\``,
    })),
  );
  return `${machineOf(report)}\n\n${table}\n\n${chart(find)}`;
}

function chart(
  find: (scenario: string, name: string, subject: SubjectName) => Report['measured'][number] | undefined,
): string {
  const bars = Object.entries(BARS).flatMap(([what, [scenario, p50, p99]]) =>
    (['ours', 'go'] as const).map((subject) => {
      const value = (name: string) =>
        median((find(scenario, name, subject)?.values ?? []).map((one) => one.value));
      return { what: subject === 'ours' ? what : '  Go', p50: value(p50), p99: value(p99) };
    }),
  );
  const measured = bars.filter((bar) => Number.isFinite(bar.p50 + bar.p99));
  const scale = WIDTH / Math.max(...measured.map(({ p99 }) => p99));
  const lines = measured.map(({ what, p50, p99 }) => {
    const [full, all] = [Math.max(1, Math.round(p50 * scale)), Math.round(p99 * scale)];
    const bar = '█'.repeat(full) + '░'.repeat(Math.max(0, all - full));
    return `${what.padEnd(20)} ${bar} ${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  });
  return ['```text', 'Until the companion is right, ms: █ p50, ░ p99', '', ...lines, '```'].join('\n');
}
