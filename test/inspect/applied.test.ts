import { expect, test } from 'vitest';
import { applied } from '../../src/inspect/applied.ts';
import { readManifests } from '../../src/inspect/manifests.ts';
import type { ConfigMap, ObjectMeta } from '../../src/kube/api/types.ts';

const NOW = new Date('2026-01-02T03:04:05.678Z');
const server = { uid: 'u1', resourceVersion: '7', creationTimestamp: '2025-01-01T00:00:00Z' };

/** The one ConfigMap of a file. */
function written(object: object) {
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...object });
  const [found] = readManifests([{ name: 'file', text }], 'home').configMaps.values();
  if (found === undefined) throw new Error('no ConfigMap');
  return found;
}

const live = (object: Omit<ConfigMap, 'metadata'>, metadata: Partial<ObjectMeta>): ConfigMap => ({
  ...object,
  metadata: { name: 'colors', namespace: 'home', ...server, ...metadata },
});

const lastApplied = (text: string) => ({ 'kubectl.kubernetes.io/last-applied-configuration': text });

test('[C2] applied: a new object is what the file says', () => {
  expect(applied(written({ metadata: { name: 'colors' }, data: { a: '1' } }), undefined, NOW)).toEqual({
    metadata: {
      ...{ name: 'colors', namespace: 'home', labels: {}, annotations: {} },
      ...{ uid: 'not applied yet', resourceVersion: '', creationTimestamp: '2026-01-02T03:04:05Z' },
    },
    data: { a: '1' },
    binaryData: {},
  });
});

test('[C2] applied: what the last apply did not set stays', () => {
  const there = live({ data: { a: '1', b: '2' }, immutable: true }, { labels: { mine: 'x' } });
  const file = written({ metadata: { name: 'colors', labels: { ours: 'y' } }, data: { a: '3' } });
  expect(applied(file, there, NOW)).toMatchObject({
    metadata: { ...server, labels: { mine: 'x', ours: 'y' } },
    data: { a: '3', b: '2' },
    immutable: true,
  });
});

test('[C2] applied: what only the last apply set is removed', () => {
  const before = {
    metadata: { labels: { old: '1', kept: '1' }, annotations: { old: '1' } },
    ...{ data: { old: '1' }, binaryData: { oldBinary: 'AA==' }, immutable: true },
  };
  const there = live(
    { data: { old: '1', other: '2' }, binaryData: { oldBinary: 'AA==' }, immutable: true },
    {
      labels: { old: '1', kept: '1' },
      annotations: { old: '1', other: '2', ...lastApplied(JSON.stringify(before)) },
    },
  );
  const result = applied(written({ metadata: { name: 'colors', labels: { kept: '3' } } }), there, NOW);
  expect(result.metadata.labels).toEqual({ kept: '3' });
  expect(result.metadata.annotations).toMatchObject({ other: '2' });
  expect(result.metadata.annotations).not.toHaveProperty('old');
  expect(result).toMatchObject({ data: { other: '2' }, binaryData: {} });
  expect(result.immutable).toBeUndefined();
});

test('[C2] applied: a last apply that cannot be read removes nothing', () => {
  const there = live({ data: { a: '1' } }, { annotations: lastApplied('{') });
  expect(applied(written({ metadata: { name: 'colors' } }), there, NOW).data).toEqual({ a: '1' });
});
