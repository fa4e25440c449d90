import { expect, test } from 'vitest';
import { replacement } from '../../../src/mirror/companion/patch.ts';
import { configMap, observed } from '../wire.ts';

const content = { data: { colour: 'blue' }, binaryData: {} };
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'colors', uid: 'o', controller: true };
const there = configMap('team-b/colors-synced', {
  labels: { a: '1', stale: 'x' },
  annotations: { b: '2', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
  owners: [owner],
  immutable: true,
});

test('[R12] a replacement is healed and mutable, and keeps what others put there except kubectl’s last-applied', () => {
  const found = [{ kind: 'content' }, { kind: 'label', key: 'stale', value: undefined }] as const;
  expect(replacement(observed(there), found, content)).toEqual({
    metadata: {
      namespace: 'team-b',
      name: 'colors-synced',
      labels: { a: '1' },
      annotations: { b: '2' },
      ownerReferences: [owner],
    },
    ...content,
  });
});

test('[R12] a replacement takes new entries and owner references, whatever the keys are called', () => {
  const { metadata } = replacement(
    observed(there),
    [
      { kind: 'content' },
      { kind: 'label', key: 'constructor', value: '3' },
      { kind: 'annotation', key: '__proto__', value: '4' },
      { kind: 'owner references', value: [] },
    ],
    content,
  );
  expect(metadata.labels).toEqual({ a: '1', stale: 'x', constructor: '3' });
  expect(Object.entries(metadata.annotations ?? {})).toEqual([
    ['b', '2'],
    ['__proto__', '4'],
  ]);
  expect(metadata.ownerReferences).toEqual([]);
});
