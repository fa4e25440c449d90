import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Finding } from '../mirror/explain/explain.ts';
import type { Entry } from '../mirror/explain/inventory.ts';
import { commandInWords, type Remedy } from '../mirror/explain/remedies.ts';
import { inSeconds } from './report.ts';
import { oneLine, paragraph, renderTable } from './table.ts';

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
  const fails = findings.at(-1)?.fails;
  return [
    paragraph(`${source} → ${companion ?? (entry === undefined ? 'no companion' : 'its companions')}`, width),
    `\n${table}\n`,
    paragraph(oneLine(conclusion(explanation, entry)), width),
    fails === undefined ? '' : remedyInWords(fails, width),
    entry?.state === 'held' ? `To let it be deleted:\n  mirror-controller release ${source}\n` : '',
  ].join('');
}

/** A command is never broken: it is there to be pasted. */
function remedyInWords(remedy: Remedy, width: number | undefined): string {
  return 'words' in remedy
    ? paragraph(remedy.words, width)
    : `To change that:\n  ${oneLine(commandInWords(remedy.command))}\n`;
}

function conclusion({ findings }: Explanation, entry: Entry | undefined): string {
  const { evidence = '', fails } = findings.at(-1) ?? {};
  if (fails === undefined) return 'in sync';
  if (entry === undefined) return `no companion: ${evidence}`;
  const next = entry.action === 'none' ? '' : `; run would ${entry.action} it`;
  const until = entry.until === undefined ? '' : `, until ${inSeconds(entry.until)}`;
  return `${entry.state}: ${entry.reason}${until}${next}`;
}
