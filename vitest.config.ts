import { defineConfig } from 'vitest/config';
import { SuiteSummary } from './test/support/suite-summary.ts';

/**
 * Suites, told apart by file name so that a test lies beside what it proves:
 * `*.test.ts` needs nothing, `*.sandbox.test.ts` starts our sandbox API server,
 * `*.control-plane.test.ts` needs a real kube-apiserver (see CONTRIBUTING.md). A fourth, `*.deploy.test.ts`, needs helm and
 * promtool too, or takes minutes, and is left out of `npm test`.
 * None isolates its files: to load our modules anew for each takes seconds of every worker, and they hold no state.
 * The time limits are for a test that hangs, on a machine with a lot else to do; none is a pass mark.
 */
export default defineConfig({
  test: {
    reporters: [new SuiteSummary()],
    // More than cores: most of the suites' time is spent waiting for a server.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{sandbox,control-plane,deploy}.test.ts'],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'sandbox',
          include: ['test/**/*.sandbox.test.ts'],
          isolate: false,
          testTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'control-plane',
          include: ['test/**/*.control-plane.test.ts'],
          globalSetup: ['test/support/control-plane-setup.ts'],
          isolate: false,
          testTimeout: 180_000,
          // The servers may have to be built first.
          hookTimeout: 1_200_000,
        },
      },
      {
        test: {
          name: 'deploy',
          include: ['test/**/*.deploy.test.ts'],
          globalSetup: ['test/support/control-plane-setup.ts', 'test/deploy/setup.ts'],
          isolate: false,
          testTimeout: 180_000,
          hookTimeout: 1_200_000,
        },
      },
    ],
  },
});
