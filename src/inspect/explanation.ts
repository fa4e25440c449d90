import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Finding } from '../mirror/plan/explain.ts';
import type { Entry } from '../mirror/plan/inventory.ts';
import { commandInWords } from '../mirror/plan/remedies.ts';
import { oneLine, renderTable, wrap } from './table.ts';

export interface Explanation {
  readonly source: ObjectKey;
  /** Undefined: the source's annotations do not say it. */
  readonly companion: ObjectKey | undefined;
  readonly findings: readonly Finding[];
  /** Undefined: the source asks for no companion there, and has none. */
  readonly entry: Entry | undefined;
}

/** The checks, how it ends, and what would change that. */
export function explanationInWords(explanation: Explanation, width: number | undefined): string {
  const { source, companion, findings, entry } = explanation;
  const rows = findings.map(({ check, evidence, fails }) => ({
    cells: [`  ${fails === undefined ? 'ok' : 'no'}`, check, evidence],
  }));
  const table = renderTable(rows, { headers: ['', '', ''], showHeaders: false, width });
  const folded = (text: string) => (width === undefined ? [text] : wrap(text, width));
  const fails = findings.at(-1)?.fails;
  // A command is never broken: it is there to be pasted.
  const remedy =
    fails === undefined
      ? []
      : 'words' in fails
        ? folded(fails.words)
        : ['To change that:', `  ${oneLine(commandInWords(fails.command))}`];
  const lines = [
    ...folded(`${source} → ${companion ?? 'no companion'}`),
    table,
    ...folded(oneLine(conclusion(explanation, entry))),
    ...remedy,
  ];
  return lines.map((line) => (line.endsWith('\n') ? `\n${line}\n` : `${line}\n`)).join('');
}

function conclusion({ findings }: Explanation, entry: Entry | undefined): string {
  const { evidence = '', fails } = findings.at(-1) ?? {};
  if (fails === undefined) return 'in sync';
  if (entry === undefined) return `no companion: ${evidence}`;
  const next = entry.action === 'none' ? '' : `; run would ${entry.action} it`;
  return `${entry.state}: ${entry.reason}${next}`;
}
