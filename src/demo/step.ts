import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Command } from './command.ts';
import type { SeenConfigMap } from './config-maps-seen.ts';
import type { LogRecord } from './log-records.ts';

/** What can be known in the middle of a step. */
export interface Scene {
  /** The ConfigMap at a key, as the demo's own watch shows it now. */
  now(key: ObjectKey): SeenConfigMap | undefined;
  /** And as it was when the step began. */
  before(key: ObjectKey): SeenConfigMap | undefined;
  /** The controller's log since the step began, debug records included. */
  readonly log: readonly LogRecord[];
}

/** One thing to do and to see. Plain data: the player knows how to play it. */
export interface Step {
  readonly title: string;
  /** What to learn from it, in a few sentences. */
  readonly story: string;
  /** Typed one after the other. The step's time begins with the last one. */
  readonly commands: readonly Command[];
  /** What is to be seen, for the message that it is not: completes "expected …". */
  readonly expected: string;
  /** Undefined until that is to be seen; then one line that says what was seen. Asked again after each change. */
  readonly effect: (scene: Scene) => string | undefined;
  /** The API server fails from before the commands until this holds. Only the sandbox can do that. */
  readonly outageUntil?: (scene: Scene) => boolean;
}

export interface Chapter {
  readonly title: string;
  readonly steps: readonly Step[];
}
