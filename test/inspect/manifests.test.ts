import { expect, test } from 'vitest';
import { readManifests } from '../../src/inspect/manifests.ts';

const read = (...texts: readonly string[]) =>
  readManifests(
    texts.map((text, at) => ({ name: `file ${at + 1}`, text })),
    'here',
  );

test('[C2] manifests: documents, lists, JSON, and the default namespace', () => {
  const yaml = `
apiVersion: v1
kind: ConfigMap
metadata: {name: one, creationTimestamp: null, uid: from a backup}
data: {day: 2026-01-01}
---
apiVersion: v1
kind: ConfigMapList
items:
- metadata: {name: two, namespace: there, labels: {a: b}}
---
`;
  const list = {
    apiVersion: 'v1',
    kind: 'List',
    items: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }],
  };
  const { configMaps, namespaces, passedOver } = read(yaml, JSON.stringify(list));
  expect([...configMaps.values()]).toEqual([
    { metadata: { name: 'one', namespace: 'here' }, data: { day: '2026-01-01' } },
    { metadata: { name: 'two', namespace: 'there', labels: { a: 'b' } } },
  ]);
  expect([...namespaces.keys()]).toEqual(['n']);
  expect(passedOver).toEqual([]);
});

test('[C2] manifests: other kinds are passed over, also a ConfigMap of another group', () => {
  const other = '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}';
  const foreign = '{apiVersion: example.com/v1, kind: ConfigMap, metadata: {name: x}}';
  expect(read(`${other}\n---\n${foreign}`).passedOver).toEqual(['Deployment/web', 'ConfigMap/x']);
});

test.each([
  ['a: b: c', 'file 1 cannot be read as YAML or JSON'],
  ['just text', 'file 1: a document is not a Kubernetes object'],
  ['{apiVersion: v1, metadata: {name: x}}', 'file 1: an object has no "kind"'],
  ['{kind: ConfigMap, metadata: {name: x}}', 'file 1: a ConfigMap has no "apiVersion"'],
  ['{apiVersion: v1, kind: ConfigMap, metadata: {name: A b}}', 'file 1: ConfigMap A b: no object can have'],
  ['{apiVersion: v1, kind: ConfigMap, metadata: {}}', 'file 1: a ConfigMap has no metadata.name'],
  [
    '{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {port: 80}}',
    'file 1: ConfigMap x: data: the value of "port" is not a string; put it in quotes',
  ],
])('[C2] manifests: %j is refused in one sentence', (text, words) => {
  expect(() => read(text)).toThrow(words);
});
