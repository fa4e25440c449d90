import type { Step } from '../../mirror/plan/step.ts';
import type { RevisionStep } from '../../mirror/rollout/revision-step.ts';

export type CompanionWriteStep = Exclude<Step, { readonly action: 'none' }>;

/** What is to be written, of whichever kind. */
export type WriteStep = CompanionWriteStep | RevisionStep;

/** Whether a source wants the companion. If not, its steps do not depend on any content. */
export function isOfDesired({ state }: CompanionWriteStep): boolean {
  return state !== 'unwanted' && state !== 'held' && state !== 'retained';
}

/** Whether it is about a revision, not about a companion. */
export function isOfRevision(step: WriteStep): step is RevisionStep {
  return !('state' in step);
}
