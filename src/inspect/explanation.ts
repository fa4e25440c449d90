import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Finding } from '../mirror/explain/finding.ts';
import type { Entry } from '../mirror/explain/inventory.ts';
import { commandInWords, type Remedy } from '../mirror/explain/remedies.ts';
import { rfc3339 } from '../mirror/rfc3339.ts';
import { oneLine, paragraph, renderTable } from './table.ts';

/** How the user calls the program (SPEC C9). */
export type ProgramName = 'mirror-controller' | 'kubectl mirror';

/** How the user called the program: commands to paste call it in the same way. */
export interface Invocation {
  readonly programName: ProgramName;
  /** The flags that its commands must repeat; empty, or with a space before. */
  readonly flags: string;
}

export interface Caller extends Invocation {
  /** What commands of kubectl need to reach the same cluster; likewise. */
  readonly kubectlFlags: string;
  /** Columns of the terminal. */
  readonly width: number;
}

export interface Explanation {
  readonly source: ObjectKey;
  /** Undefined: the source's annotations do not say it. */
  readonly companion: ObjectKey | undefined;
  readonly findings: readonly Finding[];
  /** Undefined: the source asks for no companion there, and has none. */
  readonly entry: Entry | undefined;
}

/** By the label that the manifests and the chart set. */
const FIND_CONTROLLER =
  'kubectl get deployments --all-namespaces --selector app.kubernetes.io/name=mirror-controller';

const ONCE_CAUTION =
  'It does all that is due, for every source. Give it the flags with which the controller would run.';

/** The checks, how it ends, and what would change that. */
export function explanationInWords(explanation: Explanation, caller: Caller): string {
  const { programName, flags, width } = caller;
  const { source, companion, findings, entry } = explanation;
  const rows = findings.map(({ check, evidence, fails }) => ({
    cells: [`  ${fails === undefined ? 'ok' : 'no'}`, check, evidence],
  }));
  const table = renderTable(rows, { width });
  const fails = findings.at(-1)?.fails;
  return [
    paragraph(`${source} → ${companion ?? (entry === undefined ? 'no companion' : 'its companions')}`, width),
    `\n${table}\n`,
    paragraph(oneLine(conclusion(explanation)), width),
    fails === undefined ? '' : remedyInWords(fails, caller),
    entry?.state === 'held' ? `To let it be deleted:\n  ${programName} release ${source}${flags}\n` : '',
  ].join('');
}

/** A command is never broken: it is there to be pasted. */
function remedyInWords(remedy: Remedy, { programName, flags, kubectlFlags, width }: Caller): string {
  if ('words' in remedy) return paragraph(remedy.words, width);
  if ('command' in remedy) {
    const caution = remedy.caution === undefined ? '' : paragraph(remedy.caution, width);
    return `To change that:\n  ${oneLine(commandInWords(remedy.command) + kubectlFlags)}\n${caution}`;
  }
  // The plugin has no run.
  const once =
    programName === 'kubectl mirror'
      ? ''
      : `Without one:\n  ${programName} run --once${flags}\n${paragraph(ONCE_CAUTION, width)}`;
  return `A running controller will do that. To see whether one runs:\n  ${FIND_CONTROLLER}${kubectlFlags}\n${once}`;
}

function conclusion({ findings, entry }: Explanation): string {
  const { evidence = '', fails } = findings.at(-1) ?? {};
  if (fails === undefined) return 'in sync';
  if (entry === undefined) return `no companion: ${evidence}`;
  const next = entry.action === 'none' ? '' : `; the controller would ${entry.action} it`;
  const until = entry.until === undefined ? '' : `, until ${rfc3339(entry.until)}`;
  return `${entry.state}: ${entry.reason}${until}${next}`;
}
