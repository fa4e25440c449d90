import { expect, test } from 'vitest';
import { kubectlFlags, ownFlags } from '../../src/cli/flags/printed-flags.ts';

test.each([
  [{}, ''],
  [{ context: 'prod' }, ' --context prod'],
  [
    { kubeconfig: '/tmp/my clusters', context: "it's" },
    " --kubeconfig '/tmp/my clusters' --context 'it'\\''s'",
  ],
])('[C8] a command of kubectl that is printed is for the cluster of %o', (given, flags) => {
  expect(kubectlFlags({ kubeconfig: undefined, context: undefined, ...given })).toBe(flags);
});

test.each([
  [{ output: 'json', namespace: 'shop', to: '4fcd92f8' }, ''],
  [{ context: 'prod', config: ['a.yaml', 'b.yaml'] }, ' --config b.yaml --context prod'],
  [
    { domain: ['a.io', 'b.io'], namespaces: ['shop', 'team a'], 'require-consent': 'true' },
    " --namespaces 'shop,team a' --require-consent=true --domain b.io",
  ],
  [
    { 'deny-target-namespaces': 'kube-*', 'delete-brake': '3' },
    " --deny-target-namespaces 'kube-*' --delete-brake 3",
  ],
])('[C8] a command of our own that is printed repeats the cluster and the rules of %o', (args, flags) => {
  expect(ownFlags(args)).toBe(flags);
});
