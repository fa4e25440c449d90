import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { replacement, updated } from '../../src/mirror/update.ts';
import { replaced } from './api-server.ts';
import { configMap, observed } from './wire.ts';

const content = { data: { colour: 'blue' }, binaryData: {} };
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'colors', uid: 'o', controller: true };
const object = configMap('team-b/colors-synced', {
  labels: { a: '1', stale: 'x' },
  annotations: { b: '2' },
  owners: [owner],
  data: { colour: 'red', old: 'x' },
});

function update(there: ConfigMap, ...found: Parameters<typeof updated>[1]) {
  return updated(observed(there), [{ kind: 'content' }, ...found], content);
}

test('[M5] an update replaces the content, and keeps what it does not mention', () => {
  const whole = update(object, { kind: 'label', key: 'stale', value: undefined });
  if (whole === undefined) throw new Error('no update');
  expect(replaced(object, whole)).toEqual({
    metadata: { ...object.metadata, resourceVersion: '2', labels: { a: '1' } },
    data: { colour: 'blue' },
  });
});

test('[M5] an update sets labels, annotations and owner references right, whatever the keys are called', () => {
  const whole = update(
    object,
    { kind: 'label', key: 'constructor', value: '3' },
    { kind: 'annotation', key: '__proto__', value: '4' },
    { kind: 'owner references', value: [] },
  );
  expect(whole?.metadata.labels).toEqual({ a: '1', stale: 'x', constructor: '3' });
  expect(Object.entries(whole?.metadata.annotations ?? {})).toEqual([
    ['b', '2'],
    ['__proto__', '4'],
  ]);
  expect(whole?.metadata.ownerReferences).toEqual([]);
});

test('[R2] an update carries the object and the version that it was made from, so that one too late is refused', () => {
  const whole = update(object);
  if (whole === undefined) throw new Error('no update');
  const later = { ...object, metadata: { ...object.metadata, resourceVersion: '2' } };
  const another = { ...object, metadata: { ...object.metadata, uid: 'another' } };
  expect(() => replaced(later, whole)).toThrow('409');
  expect(() => replaced(another, whole)).toThrow('409');
});

describe('[M5] what is not remembered whole is not updated, but patched:', () => {
  const key = 'team-b/colors-synced';
  const lastApplied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  const cases: Readonly<Record<string, ConfigMap>> = {
    finalizers: configMap(key, { finalizers: ['example.com/hold'] }),
    'the annotation of kubectl apply': configMap(key, { annotations: lastApplied }),
    'a field of metadata that we do not know': {
      metadata: { ...object.metadata, ...{ generateName: 'colors-' } },
    },
    'a field of ConfigMaps that we do not know': { ...object, ...{ sealed: true } },
    'immutable, in so many words not': configMap(key, { immutable: false }),
    immutable: configMap(key, { immutable: true }),
  };
  for (const [what, there] of Object.entries(cases)) {
    test(what, () => expect(update(there)).toBeUndefined());
  }
});

test('[R12] a replacement is mended, is mutable, and keeps what others put there but for the annotation of kubectl apply', () => {
  const annotations = { b: '2', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  const there = configMap('team-b/colors-synced', {
    labels: { a: '1', stale: 'x' },
    annotations,
    owners: [owner],
    immutable: true,
  });
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
