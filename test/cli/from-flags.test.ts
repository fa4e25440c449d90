import { expect, test } from 'vitest';
import { clusterFlags } from '../../src/cli/session/from-flags.ts';

test.each([
  [{}, ''],
  [{ context: 'prod' }, ' --context prod'],
  [
    { kubeconfig: '/tmp/my clusters', context: "it's" },
    " --kubeconfig '/tmp/my clusters' --context 'it'\\''s'",
  ],
])('[C8] a command that is printed is for the cluster of %o', (given, flags) => {
  expect(clusterFlags({ kubeconfig: undefined, context: undefined, ...given })).toBe(flags);
});
