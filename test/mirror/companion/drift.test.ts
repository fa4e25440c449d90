import { describe, expect, test } from 'vitest';
import type { ConfigMap, OwnerReference } from '../../../src/kube/api/types.ts';
import { companionShape, ownEdition } from '../../../src/mirror/companion/companion.ts';
import { type Difference, differences } from '../../../src/mirror/companion/drift.ts';
import { healingPatch } from '../../../src/mirror/companion/patch.ts';
import { patched } from '../../controller/memory-api.ts';
import {
  type ConfigMapParts,
  companion,
  controllerReference,
  marksOf,
  observed,
  source,
  stripped,
  vocabulary,
  without,
} from '../wire.ts';

function shapeOf(of: ConfigMap) {
  const from = observed(of);
  if (!from.request?.ok) throw new Error('a bad request');
  return companionShape(from, from.request.value, vocabulary, ownEdition(from), undefined);
}

function found(of: ConfigMap, actual: ConfigMap): readonly Difference[] {
  return differences(observed(actual), shapeOf(of), vocabulary);
}

/** The companion after the one patch that heals its differences. */
function healed(of: ConfigMap, actual: ConfigMap): ConfigMap {
  const content = { data: of.data ?? {}, binaryData: of.binaryData ?? {} };
  return patched(actual, healingPatch(observed(actual), found(of, actual), content));
}

const colors = source('team-a/colors', {}, { data: { colour: 'red' }, binaryData: { logo: 'AAE=' } });
const beside = companion(colors, 'team-a/colors-synced');
const elsewhere = companion(colors, 'team-b/colors-synced');
const versioned = (object: ConfigMap, resourceVersion = '2'): ConfigMap => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

test('[M9] a settled companion has no differences, beside its source or elsewhere', () => {
  expect(found(colors, beside)).toEqual([]);
  expect(found(colors, elsewhere)).toEqual([]);
});

test('[M9] what others put on a companion is no difference', () => {
  const owner: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'x' };
  const decorated: ConfigMapParts = { labels: { team: 'x' }, annotations: { note: 'y' }, immutable: true };
  expect(found(colors, companion(colors, 'team-b/colors-synced', { ...decorated, owners: [owner] }))).toEqual(
    [],
  );
  const owners = [owner, controllerReference(colors)];
  expect(found(colors, companion(colors, 'team-a/colors-synced', { ...decorated, owners }))).toEqual([]);
});

describe('[M5] one patch undoes a hand edit of a companion', () => {
  const { labels, annotations } = marksOf(colors, 'team-b/colors-synced');
  const cases: Readonly<Record<string, ConfigMapParts>> = {
    'a value changed': { data: { colour: 'blue' } },
    'a key added': { data: { colour: 'red', shape: 'round' } },
    'all data removed': { data: {}, binaryData: {} },
    'a binary value changed': { binaryData: { logo: 'AAI=' } },
    'a key moved from data to binaryData': { data: {}, binaryData: { logo: 'AAE=', colour: 'cmVk' } },
    'the companion label changed': { labels: { 'workshop.io/managed': 'true' } },
    'the managed-by label changed': { labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
    'the source reference changed': { annotations: { 'workshop.io/source': 'team-a/shapes' } },
    'the uid changed': { annotations: { 'workshop.io/source-uid': 'x' } },
    'the checksum changed, and the data with it': {
      data: { colour: 'blue' },
      annotations: { 'workshop.io/source-checksum': 'x' },
    },
    'its own name changed': { annotations: { 'workshop.io/companion': 'team-b/x' } },
    'a policy to retain that the source does not have': {
      annotations: { 'workshop.io/deletion-policy': 'retain' },
    },
    'a list of copied keys that were not': {
      annotations: { 'workshop.io/copied-metadata': '{"labels":[],"annotations":[]}' },
    },
  };
  test.for(Object.entries(cases))('%s', ([, parts]) => {
    expect(healed(colors, companion(colors, 'team-b/colors-synced', parts))).toEqual(versioned(elsewhere));
  });

  test.for([...Object.keys(labels), ...Object.keys(annotations)])('%s stripped', (key) => {
    expect(healed(colors, stripped(elsewhere, key))).toEqual(versioned(elsewhere));
  });

  test('all labels and annotations stripped', () => {
    const { labels: _, annotations: __, ...metadata } = beside.metadata;
    expect(healed(colors, { ...beside, metadata })).toEqual(versioned(beside));
  });

  test('what others put on it stays', () => {
    const others = { labels: { 'a.b/c~d': 'x' }, annotations: { 'a.b/c~d': 'y' } };
    const tampered = companion(colors, 'team-b/colors-synced', {
      ...others,
      labels: { ...others.labels, 'workshop.io/managed': 'x' },
      data: {},
    });
    expect(healed(colors, tampered)).toEqual(versioned(companion(colors, 'team-b/colors-synced', others)));
  });

  test('content is compared by what the companion holds, not by its checksum annotation', () => {
    const lie = companion(colors, 'team-b/colors-synced', { data: { colour: 'blue' } });
    expect(found(colors, lie)).toEqual([{ kind: 'content' }]);
    const annotated = companion(colors, 'team-b/colors-synced', {
      annotations: { 'workshop.io/source-checksum': 'x' },
    });
    expect(found(colors, annotated)).toMatchObject([
      { kind: 'annotation', key: 'workshop.io/source-checksum' },
    ]);
  });
});

describe('[M1] the owner reference', () => {
  const right = controllerReference(colors);
  const others: OwnerReference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'colors', uid: 'd' };
  const wrong: Readonly<Record<string, readonly OwnerReference[]>> = {
    'that was removed': [],
    'that is not a controller any more': [{ ...right, controller: false }],
    'that blocks the deletion of its owner': [{ ...right, blockOwnerDeletion: true }],
    'with a wrong name': [{ ...right, name: 'shapes' }],
    'of a wrong kind': [{ ...right, kind: 'Secret' }],
    'of a wrong API version': [{ ...right, apiVersion: 'v2' }],
    'that is there twice': [right, { ...right, name: 'shapes' }],
    '[R11] to an earlier source of the same name': [{ ...right, uid: 'of the earlier one' }],
  };
  test.for(Object.entries(wrong))('%s is corrected, and those of others stay', ([, owners]) => {
    const tampered = companion(colors, 'team-a/colors-synced', { owners: [others, ...owners] });
    expect(healed(colors, tampered).metadata.ownerReferences).toEqual([others, right]);
  });

  test.for([{ name: 'shapes' }, { kind: 'Secret' }, { apiVersion: 'v2' }])('[M5] to %o stays', (other) => {
    const owners = [{ ...right, ...other, uid: 'of another', controller: false }, right];
    expect(found(colors, companion(colors, 'team-a/colors-synced', { owners }))).toEqual([]);
  });

  test('is not that of the controller if the companion has another', () => {
    const deployment = { ...others, controller: true };
    const taken = companion(colors, 'team-a/colors-synced', { owners: [deployment] });
    expect(healed(colors, taken).metadata.ownerReferences).toEqual([
      deployment,
      { ...right, controller: false },
    ]);
  });

  test('[M2] is removed from a companion in another namespace, where garbage collection would delete it', () => {
    const tampered = companion(colors, 'team-b/colors-synced', { owners: [right, others] });
    expect(healed(colors, tampered).metadata.ownerReferences).toEqual([others]);
    const alone = companion(colors, 'team-b/colors-synced', { owners: [right] });
    expect(healed(colors, alone)).toEqual(versioned(elsewhere));
  });

  test('[M2] to a source of the same name in another namespace is not ours to remove', () => {
    const namesake = companion(colors, 'team-b/colors-synced', {
      owners: [{ ...right, uid: 'of team-b/colors' }],
    });
    expect(found(colors, namesake)).toEqual([]);
  });

  test('[M1] is removed, and the policy set, when the source asks to retain', () => {
    const retaining = source('team-a/colors', { 'deletion-policy': 'retain' }, colors);
    const { metadata } = healed(retaining, beside);
    expect(metadata.ownerReferences).toBeUndefined();
    expect(metadata.annotations).toHaveProperty(['workshop.io/deletion-policy'], 'retain');
  });
});

describe('[M7] copied metadata', () => {
  const asks = { 'copy-labels': 'team,constructor', 'copy-annotations': 'note/*' };
  const metadata = { labels: { team: 'a', constructor: 'b' }, annotations: { 'note/x~y': 'c' } };
  const copying = source('team-a/colors', asks, { ...colors, ...metadata });
  const copied = healed(copying, elsewhere);

  test('is put on the companion, with a list of its keys', () => {
    expect(copied.metadata.labels).toMatchObject({ team: 'a', constructor: 'b' });
    expect(copied.metadata.annotations).toMatchObject({
      'note/x~y': 'c',
      'workshop.io/copied-metadata': '{"labels":["constructor","team"],"annotations":["note/x~y"]}',
    });
    expect(found(copying, copied)).toEqual([]);
  });

  test('is removed when no longer requested, and only what was listed is removed', () => {
    const others = { ...copied.metadata.labels, mine: 'd' };
    const decorated = { ...copied, metadata: { ...copied.metadata, labels: others } };
    const after = healed(colors, decorated);
    expect(after.metadata.labels).toEqual({ ...elsewhere.metadata.labels, mine: 'd' });
    expect(after.metadata.annotations).toEqual(elsewhere.metadata.annotations);
  });

  test('is removed when the source no longer has it', () => {
    const bare = source('team-a/colors', asks, colors);
    expect(healed(bare, copied).metadata.labels).toEqual(elsewhere.metadata.labels);
  });

  test('cannot replace the marks of a companion', () => {
    const all = source('team-a/colors', { 'copy-labels': '*', 'copy-annotations': '*' }, colors);
    expect(found(all, elsewhere)).toEqual([]);
  });

  test('that somebody changed by hand is healed', () => {
    const labels = { ...without(copied.metadata.labels, 'constructor'), team: 'z' };
    expect(healed(copying, { ...copied, metadata: { ...copied.metadata, labels } })).toEqual(
      versioned(copied, '3'),
    );
  });
});

describe('[D6] a bad verdict', () => {
  const verdict = { annotations: { 'workshop.io/verdict': 'bad' } };

  test('goes with the content that it was set on', () => {
    const before = { ...colors, data: { colour: 'blue' } };
    expect(healed(colors, companion(before, 'team-b/colors-synced', verdict))).toEqual(versioned(elsewhere));
  });

  test('stays when that content is healed', () => {
    const tampered = companion(colors, 'team-b/colors-synced', { ...verdict, data: { colour: 'blue' } });
    expect(healed(colors, tampered)).toEqual(versioned(companion(colors, 'team-b/colors-synced', verdict)));
  });
});

test('[D6] [R13] a heal of a canary that is tried shortens its checksum once, so a reverted heal changes nothing', () => {
  const { digest } = observed(colors);
  const tried = { ...shapeOf(colors), editionIn: () => ({ digest, isTried: true }) };
  const withChecksum = (checksum: string) =>
    observed(
      companion(colors, 'team-b/colors-synced', {
        data: { colour: 'red', shape: 'round' },
        annotations: { 'workshop.io/source-checksum': checksum },
      }),
    );
  const key = 'workshop.io/source-checksum';
  expect(differences(withChecksum(digest), tried, vocabulary)).toEqual([
    { kind: 'content' },
    { kind: 'annotation', key, value: digest.slice(0, 8) },
  ]);
  expect(differences(withChecksum(digest.slice(0, 8)), tried, vocabulary)).toEqual([{ kind: 'content' }]);
});
