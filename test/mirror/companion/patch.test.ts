import { expect, test } from 'vitest';
import { healingPatch } from '../../../src/mirror/companion/patch.ts';
import { patched } from '../../controller/memory-api.ts';
import { configMap, observed } from '../wire.ts';

const nothing = { data: {}, binaryData: {} };
const object = configMap('team-b/colors-synced', {
  labels: { a: '1' },
  annotations: { b: '2' },
  data: { old: 'x' },
});

test('[R2] a patch carries the resourceVersion that it was computed from', () => {
  const patch = healingPatch(observed(object), [{ kind: 'content' }], nothing);
  const meanwhile = { ...object, metadata: { ...object.metadata, resourceVersion: '2' } };
  expect(() => patched(meanwhile, patch)).toThrow('modified');
  expect(patched(object, patch).metadata.resourceVersion).toBe('2');
});

test('[M5] a patch of a label does not mention the content, nor the other labels', () => {
  const patch = healingPatch(observed(object), [{ kind: 'label', key: 'c', value: '3' }], undefined);
  expect(patch).toEqual({ metadata: { resourceVersion: '1', labels: { c: '3' } } });
});

test('an annotation with any key is added and removed', () => {
  const key = 'a.b/c~1d/~';
  const add = healingPatch(observed(object), [{ kind: 'annotation', key, value: '3' }], undefined);
  const added = patched(object, add);
  expect(added.metadata.annotations).toEqual({ b: '2', [key]: '3' });
  const remove = healingPatch(observed(added), [{ kind: 'annotation', key, value: undefined }], undefined);
  expect(patched(added, remove).metadata.annotations).toEqual({ b: '2' });
});

test('an absent map is created', () => {
  const bare = configMap('team-b/colors-synced');
  const patch = healingPatch(
    observed(bare),
    [
      { kind: 'label', key: 'a/b', value: '1' },
      { kind: 'annotation', key: 'c', value: '2' },
      { kind: 'label', key: 'd', value: '3' },
    ],
    undefined,
  );
  expect(patched(bare, patch).metadata).toMatchObject({
    labels: { 'a/b': '1', d: '3' },
    annotations: { c: '2' },
  });
});

test('annotations that are not remembered survive', () => {
  const key = 'kubectl.kubernetes.io/last-applied-configuration';
  const applied = configMap('team-b/colors-synced', { annotations: { [key]: '{}' } });
  const patch = healingPatch(observed(applied), [{ kind: 'annotation', key: 'c', value: '2' }], undefined);
  expect(patched(applied, patch).metadata.annotations).toEqual({ [key]: '{}', c: '2' });
});

test('[M3] new content replaces all old content, also if either is empty', () => {
  const content = { data: { new: 'y' }, binaryData: { z: 'AA==' } };
  const bare = configMap('team-b/colors-synced');
  expect(patched(object, healingPatch(observed(object), [{ kind: 'content' }], content))).toMatchObject(
    content,
  );
  expect(patched(bare, healingPatch(observed(bare), [{ kind: 'content' }], content))).toMatchObject(content);
  const emptied = patched(object, healingPatch(observed(object), [{ kind: 'content' }], nothing));
  expect([emptied.data, emptied.binaryData]).toEqual([undefined, undefined]);
});

test('[M3] a key named __proto__ is in the patch', () => {
  const data: Readonly<Record<string, string>> = JSON.parse('{"__proto__":"v"}');
  const patch = healingPatch(observed(object), [{ kind: 'content' }], { data, binaryData: {} });
  expect(JSON.stringify(patch)).toContain('"__proto__":"v"}');
});

test('the last owner reference can be removed, and a first one added', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b', controller: true };
  const given = patched(
    object,
    healingPatch(observed(object), [{ kind: 'owner references', value: [owner] }], undefined),
  );
  expect(given.metadata.ownerReferences).toEqual([owner]);
  const taken = patched(
    given,
    healingPatch(observed(given), [{ kind: 'owner references', value: [] }], undefined),
  );
  expect(taken.metadata.ownerReferences).toBeUndefined();
});

test('without differences the patch has only the version, and changes nothing', () => {
  const patch = healingPatch(observed(object), [], undefined);
  expect(patch).toEqual({ metadata: { resourceVersion: '1' } });
  expect(patched(object, patch)).toEqual({
    ...object,
    metadata: { ...object.metadata, resourceVersion: '2' },
  });
});

test('a patch of the content without the content throws', () => {
  expect(() => healingPatch(observed(object), [{ kind: 'content' }], undefined)).toThrow(TypeError);
});
