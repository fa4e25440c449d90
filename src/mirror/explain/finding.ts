import type { ClusterView } from '../plan/view.ts';
import type { Question } from './question.ts';
import type { Remedy } from './remedies.ts';

/** What must hold, in this order, for a companion to be in sync. */
export type Check =
  | 'label'
  | 'annotations'
  | 'target'
  | 'bounds'
  | 'namespace'
  | 'consent'
  | 'name'
  | 'values'
  | 'content';

/** What was found at one check. */
export interface Finding {
  readonly check: Check;
  readonly evidence: string;
  /** Absent: it holds. */
  readonly fails?: Remedy;
}

/** Undefined: there is nothing to check. */
export type CheckFunction = (question: Question, view: ClusterView) => Finding | undefined;
