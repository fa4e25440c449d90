import type { Remedy } from './remedies.ts';

/** What must hold, in this order, for a companion to be in sync. */
export type Check =
  | 'marks'
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
export interface Finding extends Result {
  readonly check: Check;
}

export interface Result {
  readonly evidence: string;
  /** Absent: the check holds. */
  readonly fails?: Remedy;
}
