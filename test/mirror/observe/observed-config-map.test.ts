import { describe, expect, test } from 'vitest';
import type { ConfigMap, OwnerReference } from '../../../src/kube/api/types.ts';
import { mapsIn } from '../../../src/mirror/observe/content.ts';
import { digestOf } from '../../../src/mirror/observe/digest.ts';
import { observeWritten, sourceReference } from '../../../src/mirror/observe/observed-config-map.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import {
  type ConfigMapParts,
  companion,
  configMap,
  controllerReference,
  observed,
  source,
  stripped,
  vocabulary,
} from '../wire.ts';

const colors = source('team-a/colors');
const relabelled = (object: ConfigMap): ConfigMap => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, 'workshop.io/managed': 'true' } },
});

describe('[M6] what is a source', () => {
  const owner: OwnerReference = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'x',
    uid: 'x',
    controller: true,
  };
  const there = relabelled(companion(colors, 'team-b/colors-synced'));
  const copied = relabelled(
    companion(colors, 'team-b/copy', { annotations: { 'workshop.io/companion': 'team-b/colors-synced' } }),
  );
  const cases: Readonly<Record<string, readonly [object: ConfigMap, isSource: boolean]>> = {
    'a ConfigMap with the label is one': [colors, true],
    'a ConfigMap without labels is not': [configMap('team-a/colors'), false],
    'the label with another value makes none': [
      configMap('team-a/colors', { labels: { 'workshop.io/managed': 'True' } }),
      false,
    ],
    'a companion is not': [companion(colors, 'team-a/colors-synced'), false],
    'a companion beside its source that is labelled as a source is not': [
      relabelled(companion(colors, 'team-a/colors-synced')),
      false,
    ],
    'a companion elsewhere that is labelled as a source is not': [there, false],
    'nor is it without the annotation of its own name': [stripped(there, 'workshop.io/companion'), false],
    'nor is it without its source reference': [stripped(there, 'workshop.io/source'), false],
    'nor is it without both': [stripped(there, 'workshop.io/source', 'workshop.io/companion'), false],
    'nor is it with only the source reference': [
      stripped(there, 'workshop.io/source-uid', 'workshop.io/companion'),
      false,
    ],
    'nor is one that only its owner reference gives away': [
      relabelled(configMap('team-a/colors-synced', { owners: [controllerReference(colors)] })),
      false,
    ],
    'nor is it when somebody else has put an owner beside that': [
      relabelled(
        configMap('team-a/colors-synced', {
          owners: [{ ...owner, controller: false }, controllerReference(colors)],
        }),
      ),
      false,
    ],
    'a copy of a companion, labelled as a source, is one in its own right': [copied, true],
    'an owner that is not a controller does not matter': [
      source('team-a/colors', {}, { owners: [{ ...owner, controller: false }] }),
      true,
    ],
    'a controller that is not a ConfigMap does not matter': [
      source('team-a/colors', {}, { owners: [{ ...owner, kind: 'Deployment', apiVersion: 'apps/v1' }] }),
      true,
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [object, isSource]]) => {
    expect(observed(object).request !== undefined).toBe(isSource);
  });
});

test('absent fields are empty, and no other field is lost', () => {
  expect(
    observed({ metadata: { name: 'colors', namespace: 'team-a', uid: 'u', resourceVersion: '7' } }),
  ).toEqual({
    key: 'team-a/colors',
    namespace: 'team-a',
    name: 'colors',
    uid: 'u',
    resourceVersion: '7',
    createdAt: '',
    deleting: false,
    immutable: false,
    hasData: false,
    hasBinaryData: false,
    labels: {},
    annotations: {},
    ownerReferences: [],
    digest: digestOf({ data: {}, binaryData: {} }),
    request: undefined,
    editedBy: undefined,
  });
  const full = { ...colors, immutable: true };
  const { deletionTimestamp: _, ...metadata } = full.metadata;
  expect(
    observed({ ...full, metadata: { ...metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } }),
  ).toMatchObject({
    createdAt: '2026-01-01T00:00:00Z',
    deleting: true,
    immutable: true,
    labels: { 'workshop.io/managed': 'true' },
  });
});

test('[W4] no data is remembered, not even kubectl’s copy of it', () => {
  const secret = 'the value of a key';
  const object = source(
    'team-a/colors',
    {},
    {
      data: { key: secret },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"key":"${secret}"}}` },
    },
  );
  expect(JSON.stringify(observed(object))).not.toContain(secret);
  expect(observed(object).annotations).toEqual({});
});

describe('[M3] the digest of an observed object', () => {
  const data = { 'app.yaml': '1', 'app.json': '2', other: '3' };
  const digest = (data: StringMap) => digestOf({ data, binaryData: {} });

  test('of a source covers the keys that it asks to be copied', () => {
    const asks = { 'include-keys': 'app.*', 'exclude-keys': '*.json' };
    expect(observed(source('team-a/colors', asks, { data })).digest).toBe(digest({ 'app.yaml': '1' }));
  });

  test('of a source that only excludes keys covers the rest', () => {
    const asked = source('team-a/colors', { 'exclude-keys': 'app.*' }, { data });
    expect(observed(asked).digest).toBe(digest({ other: '3' }));
  });

  test('selects binary keys too', () => {
    const asked = source(
      'team-a/colors',
      { 'include-keys': 'a' },
      { data: {}, binaryData: { a: 'AA==', b: 'AQ==' } },
    );
    expect(observed(asked).digest).toBe(digestOf({ data: {}, binaryData: { a: 'AA==' } }));
  });

  test('[V1] covers renamed keys, binary ones too, under their new names', () => {
    const asks = { 'rename-keys': 'app.yaml=other, other=app.yaml, logo=icon', 'exclude-keys': '*.json' };
    const asked = source('team-a/colors', asks, { data, binaryData: { logo: 'AA==' } });
    const copied = { data: { 'app.yaml': '3', other: '1' }, binaryData: { icon: 'AA==' } };
    expect(observed(asked).digest).toBe(digestOf(copied));
  });

  test('keeps a key named __proto__', () => {
    const odd: Readonly<Record<string, string>> = JSON.parse('{"__proto__":"v","b":"w"}');
    const asked = source('team-a/colors', { 'exclude-keys': 'b' }, { data: odd });
    expect(observed(asked).digest).toBe(digest(JSON.parse('{"__proto__":"v"}')));
  });

  test('of a companion covers everything that it holds, whatever its annotations say', () => {
    const lying = companion(colors, 'team-b/colors-synced', {
      data,
      annotations: { 'workshop.io/source-checksum': 'lie', 'workshop.io/include-keys': 'other' },
    });
    expect(observed(lying).digest).toBe(digest(data));
  });
});

describe('[R13] a selection of keys', () => {
  const data = { 'app.yaml': '1', 'app.json': '2' };
  const problemOf = (asks: StringMap, parts: ConfigMapParts = { data }) => {
    const { request } = observed(source('team-a/colors', asks, parts));
    return request?.ok === false ? request.problem : 'none';
  };
  const noInclude =
    'workshop.io/include-keys: matches no key of the source; name keys that it has, or remove the annotation to copy all';
  const allExcluded =
    'workshop.io/exclude-keys: leaves no key to copy; exclude fewer keys, or remove the annotation';
  const cases: Readonly<
    Record<string, readonly [asks: StringMap, parts: ConfigMapParts | undefined, problem: string]>
  > = {
    'of one key is valid': [{ 'include-keys': 'app.yaml, nowhere' }, undefined, 'none'],
    'of a binary key is valid': [{ 'include-keys': 'logo' }, { binaryData: { logo: 'AA==' } }, 'none'],
    'of no key that is there is invalid': [{ 'include-keys': 'app.yml' }, undefined, noInclude],
    'of no key, where nothing of it would be excluded, is invalid': [
      { 'include-keys': 'app.yml', 'exclude-keys': 'x' },
      undefined,
      noInclude,
    ],
    'that excludes every key is invalid': [{ 'exclude-keys': 'app.*' }, undefined, allExcluded],
    'that excludes what it includes is invalid': [
      { 'include-keys': '*.json', 'exclude-keys': 'app.json' },
      undefined,
      allExcluded,
    ],
    'that excludes all binary keys is invalid': [
      { 'exclude-keys': '*' },
      { data: {}, binaryData: { logo: 'AA==' } },
      allExcluded,
    ],
    'of a source without keys is valid, since it may get some': [
      { 'include-keys': 'app.yml', 'exclude-keys': '*' },
      { data: {} },
      'none',
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [asks, parts, problem]]) => {
    expect(problemOf(asks, parts)).toBe(problem);
  });

  const renames: Readonly<
    Record<string, readonly [asks: StringMap, parts: ConfigMapParts | undefined, problem: string]>
  > = {
    'of a key that is there is valid': [{ 'rename-keys': 'app.yaml=x' }, undefined, 'none'],
    'of two keys into each other is valid': [
      { 'rename-keys': 'app.yaml=app.json,app.json=app.yaml' },
      undefined,
      'none',
    ],
    'onto a key that is not copied is valid': [
      { 'rename-keys': 'app.yaml=app.json', 'exclude-keys': '*.json' },
      undefined,
      'none',
    ],
    'of a key that is not there is invalid': [
      { 'rename-keys': 'app.yml=x' },
      undefined,
      'workshop.io/rename-keys: the source has no key "app.yml"; name a key that it has',
    ],
    'of a source without keys is invalid': [
      { 'rename-keys': 'a=b' },
      { data: {} },
      'workshop.io/rename-keys: the source has no key "a"; name a key that it has',
    ],
    'of a key that is not selected is invalid': [
      { 'rename-keys': 'app.json=x', 'exclude-keys': '*.json' },
      undefined,
      'workshop.io/rename-keys: "app.json" is not among the keys that include-keys and exclude-keys select; select it, or do not rename it',
    ],
    'onto a key that keeps its name is invalid': [
      { 'rename-keys': 'app.yaml=app.json' },
      undefined,
      'workshop.io/rename-keys: "app.yaml" cannot become "app.json", because a key of that name is copied too; exclude or rename it',
    ],
    'of a text onto a binary key is invalid': [
      { 'rename-keys': 'app.yaml=logo' },
      { data, binaryData: { logo: 'AA==' } },
      'workshop.io/rename-keys: "app.yaml" cannot become "logo", because a key of that name is copied too; exclude or rename it',
    ],
  };
  test.for(Object.entries(renames))('[V1] a renaming %s', ([, [asks, parts, problem]]) => {
    expect(problemOf(asks, parts)).toBe(problem);
  });

  test('is checked in a request that is valid otherwise', () => {
    expect(problemOf({ 'include-keys': 'x', 'deletion-policy': 'x' })).toMatch(/deletion-policy/);
  });
});

test('[R2] after a write the controller knows what the watch event will show', () => {
  const immutable = { ...companion(colors, 'team-a/colors-synced'), immutable: true };
  for (const object of [immutable, companion(colors, 'team-b/colors-synced'), configMap('team-b/x')]) {
    const { digest } = observed(object);
    const written = { digest, immutable: object.immutable === true, ...mapsIn(object) };
    expect(observeWritten(object.metadata, written)).toEqual(observed(object));
  }
});

describe('[R14] who edited last', () => {
  const editedBy = (...entries: readonly { manager?: string; time?: string }[]) =>
    observed({ metadata: { ...colors.metadata, managedFields: entries } }).editedBy;
  test('is the manager with the latest time, other than the controller', () => {
    const early = { manager: 'kubectl-edit', time: '2026-01-01T00:00:00Z' };
    const late = { manager: 'helm', time: '2026-01-01T00:00:01Z' };
    const ours = { manager: 'mirror-controller', time: '2026-01-01T00:00:02Z' };
    expect(editedBy(late, early, ours)).toBe('helm');
    expect(editedBy(early, late)).toBe('helm');
    expect(editedBy(ours)).toBeUndefined();
    expect(editedBy({ time: '2026-01-01T00:00:03Z' }, { manager: 'argocd' })).toBe('argocd');
    expect(editedBy()).toBeUndefined();
  });
});

test('[C3] [D6] the last write of a source with settle is anybody’s, and of any other object the controller’s', () => {
  const managedFields = [
    { manager: 'mirror-controller', time: '2026-01-01T00:00:00Z' },
    { manager: 'kubectl-edit', time: '2026-01-01T00:00:01Z' },
  ];
  const writtenAt = ({ metadata }: ConfigMap) =>
    observed({ metadata: { ...metadata, managedFields } }).writtenAt;
  const begin = Date.parse('2026-01-01T00:00:00Z') / 1000;
  expect(writtenAt(source('team-a/colors', { settle: '10s' }))).toBe(begin + 1);
  expect(writtenAt(companion(colors, 'team-b/colors-synced'))).toBe(begin);
});

test('[R3] a source reference is a namespace and a name, and anything else is none', () => {
  const referenceIn = (text: string) =>
    sourceReference(observed(configMap('a/b', { annotations: { 'workshop.io/source': text } })), vocabulary);
  expect(referenceIn('team-a/colors')).toBe('team-a/colors');
  expect(referenceIn(`${'n'.repeat(63)}/${'n'.repeat(253)}`)).toBeDefined();
  for (const text of [
    '',
    'colors',
    '/colors',
    'team-a/',
    'a/b/c',
    '/',
    '../x',
    'x/..',
    './x',
    'A/b',
    `a/${'n'.repeat(254)}`,
  ])
    expect(referenceIn(text)).toBeUndefined();
  expect(sourceReference(observed(configMap('a/b')), vocabulary)).toBeUndefined();
});
