import type { Figure, SubjectName } from '../report/figure.ts';
import type { Testbed } from '../testbed/testbed.ts';

export interface Scenario {
  readonly name: string;
  readonly describe: string;
  /** Who is measured; default ours and the Go controller. */
  readonly subjects?: readonly SubjectName[];
  /** Measured only when asked for by name: it takes long. */
  readonly onRequest?: boolean;
  /** Rejects when what the controller left behind is wrong. */
  measure(testbed: Testbed): Promise<readonly Figure[]>;
}
