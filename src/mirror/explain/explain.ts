import type { ClusterView } from '../plan/view.ts';
import { checkContent, checkName, checkRead, checkValues } from './companion-checks.ts';
import type { CheckFunction, Finding } from './finding.ts';
import type { Question } from './question.ts';
import { checkAnnotations, checkLabel } from './source-checks.ts';
import { checkBounds, checkConsent, checkNamespace, checkTarget } from './target-checks.ts';

/** The checks up to the first that fails (SPEC C8). Decided by the plan's own functions. */
export function explainCompanion(question: Question, view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  for (const check of CHECKS) {
    const finding = check(question, view);
    if (finding === undefined) continue;
    findings.push(finding);
    if (finding.fails !== undefined) break;
  }
  return findings;
}

const CHECKS: readonly CheckFunction[] = [
  checkLabel,
  checkAnnotations,
  checkTarget,
  checkBounds,
  checkNamespace,
  checkConsent,
  checkRead,
  checkName,
  checkValues,
  checkContent,
];
