import type { Command } from './commands.ts';
import type { View } from './view.ts';

/** One thing to do and to see. */
export interface Step {
  readonly title: string;
  /** What to learn from it, in a few sentences. */
  readonly story: string;
  /** Sent one after the other. The step's time starts with the last one. */
  readonly commands: readonly Command[];
  /** What should happen, for the message that it did not: completes "expected …". */
  readonly expected: string;
  /** False until it has happened; then what was seen, in one line. */
  readonly effect: (view: View) => string | false;
  /** The API server fails from before the commands until this is true. Needs the sandbox. */
  readonly outageUntil?: (view: View) => boolean;
}
