import { describe, expect, test } from 'vitest';
import type { ConfigMap, OwnerReference } from '../../../src/kube/api/types.ts';
import { isCompanionOf, isControlledBy, mayDelete } from '../../../src/mirror/companion/ownership.ts';
import {
  companion,
  configMap,
  controllerReference,
  observed,
  source,
  stripped,
  vocabulary,
} from '../wire.ts';

const colors = source('team-a/colors');
const identity = { key: observed(colors).key, uid: colors.metadata.uid };
const gone = { ...identity, uid: undefined };

interface Combination {
  readonly label: boolean;
  readonly reference: boolean;
  readonly uid: boolean;
  readonly self: 'absent' | 'own' | 'other';
  readonly owner: boolean;
}

const either = [false, true];
const combinations: readonly Combination[] = either.flatMap((label) =>
  either.flatMap((reference) =>
    either.flatMap((uid) =>
      (['absent', 'own', 'other'] as const).flatMap((self) =>
        either.map((owner) => ({ label, reference, uid, self, owner })),
      ),
    ),
  ),
);

function objectWith({ label, reference, uid, self, owner }: Combination, key: string): ConfigMap {
  return configMap(key, {
    labels: label ? { 'workshop.io/managed': 'companion' } : {},
    annotations: {
      ...(reference && { 'workshop.io/source': 'team-a/colors' }),
      ...(uid && { 'workshop.io/source-uid': colors.metadata.uid }),
      ...(self === 'own' && { 'workshop.io/companion': key }),
      ...(self === 'other' && { 'workshop.io/companion': 'team-c/colors-synced' }),
    },
    owners: owner ? [controllerReference(colors)] : [],
  });
}

function inWords(combination: Combination): string {
  const marks = (['label', 'reference', 'uid', 'owner'] as const).filter((mark) => combination[mark]);
  return `with ${marks.join(' and ') || 'no mark'}, own name ${combination.self}`;
}

describe('[R6] the owner of an object at a companion name', () => {
  test.for(combinations.map((combination) => ({ name: inWords(combination), combination })))(
    'beside the source, $name',
    ({ combination }) => {
      const { label, reference, uid, self, owner } = combination;
      const marks = [label, reference, uid].filter(Boolean).length;
      const ours = owner || (self !== 'other' && marks >= 2);
      expect(
        isCompanionOf(observed(objectWith(combination, 'team-a/colors-synced')), identity, vocabulary),
      ).toBe(ours);
    },
  );

  test.for(combinations.map((combination) => ({ name: inWords(combination), combination })))(
    'in another namespace, where an owner reference says nothing, $name',
    ({ combination }) => {
      const { label, reference, uid, self } = combination;
      const ours = self !== 'other' && [label, reference, uid].filter(Boolean).length >= 2;
      expect(
        isCompanionOf(observed(objectWith(combination, 'team-b/colors-synced')), identity, vocabulary),
      ).toBe(ours);
    },
  );

  const settled = companion(colors, 'team-b/colors-synced');
  test('the companion of another source is not ours, even if the source has the same name', () => {
    const of = (key: string, uid?: string) =>
      isCompanionOf(observed(settled), { key: observed(source(key)).key, uid }, vocabulary);
    expect(of('team-a/shapes', 'other')).toBe(false);
    expect(of('team-b/colors', 'other')).toBe(false);
  });

  test('[R11] the companion of a recreated source is recognized by label and source reference', () => {
    expect(isCompanionOf(observed(settled), { ...identity, uid: 'a new uid' }, vocabulary)).toBe(true);
  });

  test('[R5] the companion of a source that is gone is recognized by label and source reference', () => {
    expect(isCompanionOf(observed(settled), gone, vocabulary)).toBe(true);
    const noReference = { label: true, reference: false, uid: true, self: 'own', owner: false } as const;
    expect(isCompanionOf(observed(objectWith(noReference, 'team-b/colors-synced')), gone, vocabulary)).toBe(
      false,
    );
  });

  test('a revision of the source is not its companion', () => {
    const kept = companion(colors, 'team-a/colors-rev-0123abcd', {
      labels: { 'workshop.io/managed': 'revision' },
    });
    const revision = observed(stripped(kept, 'workshop.io/companion'));
    expect(isCompanionOf(revision, identity, vocabulary)).toBe(false);
  });

  test('an empty uid annotation is no mark of a source whose uid is unknown', () => {
    const object = configMap('team-b/x', {
      labels: { 'workshop.io/managed': 'companion' },
      annotations: { 'workshop.io/source-uid': '' },
    });
    expect(isCompanionOf(observed(object), gone, vocabulary)).toBe(false);
  });
});

describe('[M6] [M8] what is a source', () => {
  test.for(combinations.map((combination) => ({ name: inWords(combination), combination })))(
    'is nobody’s companion: $name',
    ({ combination }) => {
      const object = objectWith(combination, 'team-a/colors-synced');
      const labels = { 'workshop.io/managed': 'true' };
      const labelled = observed({ ...object, metadata: { ...object.metadata, labels } });
      const isSource = labelled.request !== undefined;
      expect(isSource && isCompanionOf(labelled, identity, vocabulary)).toBe(false);
    },
  );
});

describe('[R6] a controller owner reference', () => {
  const right = controllerReference(colors);
  const cases: Readonly<Record<string, readonly [owner: OwnerReference, controls: boolean]>> = {
    "to the source's uid counts": [right, true],
    'to a source of that uid counts whatever its name says': [{ ...right, name: 'other' }, true],
    'to another uid does not': [{ ...right, uid: 'other' }, false],
    'that is not the controller does not': [{ ...right, controller: false }, false],
    'of another kind does not': [{ ...right, kind: 'Secret' }, false],
    'of another API version does not': [{ ...right, apiVersion: 'example.com/v1' }, false],
  };
  test.for(Object.entries(cases))('%s', ([, [owner, controls]]) => {
    const object = observed(configMap('team-a/colors-synced', { owners: [owner] }));
    expect(isControlledBy(object, identity)).toBe(controls);
  });

  test('to a source that is gone is recognized by its name', () => {
    const byName = (owner: OwnerReference) =>
      isControlledBy(observed(configMap('team-a/colors-synced', { owners: [owner] })), gone);
    expect(byName(right)).toBe(true);
    expect(byName({ ...right, name: 'other' })).toBe(false);
  });
});

describe('[R8] what may be deleted', () => {
  test.for(combinations.map((combination) => ({ name: inWords(combination), combination })))(
    'is only what is ours and names itself: $name',
    ({ combination }) => {
      const { label, reference, uid, self, owner } = combination;
      const ours = [label, reference, uid].filter(Boolean).length >= 2 || owner;
      const object = observed(objectWith(combination, 'team-a/colors-synced'));
      expect(mayDelete(object, identity, vocabulary)).toBe(ours && self === 'own');
    },
  );

  test('is never the source itself, even with every mark', () => {
    const marked = companion(colors, 'team-a/colors', { uid: colors.metadata.uid });
    expect(mayDelete(observed(marked), identity, vocabulary)).toBe(false);
  });

  test('is never another source, even with every mark', () => {
    const object = {
      ...observed(companion(colors, 'team-b/colors-synced')),
      request: observed(colors).request,
    };
    expect(mayDelete(object, identity, vocabulary)).toBe(false);
  });
});
