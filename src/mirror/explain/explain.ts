import type { ClusterView } from '../plan/view.ts';
import { checkContent, checkMarks, checkName, checkRead, checkValues } from './companion-checks.ts';
import type { Check, Finding, Result } from './finding.ts';
import type { Question } from './question.ts';
import { checkAnnotations, checkLabel } from './source-checks.ts';
import { checkBounds, checkConsent, checkNamespace, checkTarget } from './target-checks.ts';

/** The checks up to the first that fails (SPEC C8). Decided by the plan's own functions. */
export function explainCompanion(question: Question, view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  for (const [check, of] of CHECKS) {
    const result = of(question, view);
    if (result === undefined) continue;
    findings.push({ check, ...result });
    if (result.fails !== undefined) break;
  }
  return findings;
}

/** Undefined: there is nothing to check. */
type CheckFunction = (question: Question, view: ClusterView) => Result | undefined;

const CHECKS: readonly (readonly [Check, CheckFunction])[] = [
  ['marks', checkMarks],
  ['label', checkLabel],
  ['annotations', checkAnnotations],
  ['target', checkTarget],
  ['bounds', checkBounds],
  ['namespace', checkNamespace],
  ['consent', checkConsent],
  ['values', checkRead],
  ['name', checkName],
  ['values', checkValues],
  ['content', checkContent],
];
