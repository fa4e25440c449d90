import type { SerializedError } from 'vitest';
import { DefaultReporter, type TestModule, type TestRunEndReason } from 'vitest/node';

/** What became of one file's tests. */
export interface FileOutcome {
  readonly suite: string;
  /** Of each test; `pending` is one that an interrupted run did not come to. */
  readonly states: readonly ('passed' | 'failed' | 'skipped' | 'pending')[];
  /** Failures that are no test's: a file that cannot be loaded, a hook that throws. */
  readonly brokenParts: number;
  /** Why tests are skipped for want of a control plane, one sentence each. */
  readonly missing: readonly string[];
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Vitest's report, and below it how many tests of each suite ran, one loud line for what was
 * skipped for want of a control plane, and last, alone on its line, `N passed, N failed, N
 * skipped`.
 */
export class SuiteSummary extends DefaultReporter {
  override onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, unhandledErrors, reason);
    for (const line of summaryLines(modules.map(outcomeOf), unhandledErrors.length))
      this.ctx.logger.log(line);
  }
}

/** `unhandledErrors`: those that belong to no file. */
export function summaryLines(files: readonly FileOutcome[], unhandledErrors: number): readonly string[] {
  const suites = new Map<string, Counts>();
  // An error that belongs to no test fails the run as a failed test does. Without a single file
  // there is nothing to run, or the global setup failed, of which Vitest tells its reporters
  // nothing.
  const total: Counts = { passed: 0, failed: files.length === 0 ? 1 : unhandledErrors, skipped: 0 };
  for (const { suite, states, brokenParts } of files) {
    const counts = suites.get(suite) ?? { passed: 0, failed: 0, skipped: 0 };
    suites.set(suite, counts);
    for (const target of [counts, total]) {
      for (const state of states) target[state === 'pending' ? 'skipped' : state]++;
      target.failed += brokenParts;
    }
  }
  const missing = [...new Set(files.flatMap((file) => file.missing))];
  return [
    ...[...suites].map(([name, counts]) => `${name.padEnd(14)} ${counted(counts)}`),
    ...(missing.length === 0 ? [] : [`SKIPPED FOR WANT OF A CONTROL PLANE: ${missing.join('; ')}`]),
    counted(total),
  ];
}

function outcomeOf(module: TestModule): FileOutcome {
  const parts = [module, ...module.children.allSuites()];
  return {
    suite: module.project.name,
    states: [...module.children.allTests()].map((test) => test.result().state),
    brokenParts: parts.filter((part) => part.errors().length > 0).length,
    missing: module.project.getProvidedContext().controlPlane?.missing ?? [],
  };
}

const counted = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;
