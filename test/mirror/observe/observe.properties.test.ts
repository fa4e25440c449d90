import fc from 'fast-check';
import { expect, test } from 'vitest';
import { configMapIndexers } from '../../../src/controller/reconcile/cluster-view.ts';
import { IndexedMap } from '../../../src/informer/indexed-map.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { observe } from '../../../src/mirror/observe/observed-config-map.ts';
import { observeNamespace } from '../../../src/mirror/observe/observed-namespace.ts';
import { SharedTexts } from '../../../src/mirror/observe/shared-texts.ts';
import { vocabulary } from '../wire.ts';
import { boundsOf } from '../world.ts';

/** What the parsers of annotations and placeholders know, and what may trip them. */
const TOKENS = [
  ...[
    'a',
    'a,',
    'team-a',
    '*',
    '!',
    ',',
    ' ',
    '=',
    '==',
    '!=',
    ' in (',
    ' notin (',
    '(',
    ')',
    '/',
    '.',
    '-',
    '\n',
    '\0',
  ],
  ...[
    '{name}',
    '{namespace}',
    '{',
    '}',
    '$(mirror.',
    '$(mirror.label.a)',
    '$(mirror.value.a)',
    '$$(',
    '10m',
    '1e9',
  ],
  ...['true', 'retain', 'trying', '0123abcd', '9'.repeat(400), 'é', '\ud800', '__proto__', 'constructor'],
];
/** A few tokens, some of them up to the 256 KiB that annotations may have in sum. */
const text = fc
  .array(fc.tuple(fc.constantFrom(...TOKENS), fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 2, 3, 200_000)), {
    maxLength: 4,
  })
  .map((parts) =>
    parts
      .map(([token, times]) => token.repeat(times))
      .join('')
      .slice(0, 256 * 1024),
  );
const anyText = fc.oneof({ weight: 3, arbitrary: text }, fc.string({ unit: 'binary' }));
const own = Object.values(vocabulary).filter((key) => typeof key === 'string');
const mapOf = (keys: fc.Arbitrary<string>) => fc.dictionary(keys, anyText, { maxKeys: 3 });
const anyKey = fc.oneof(fc.constantFrom(...own), fc.constantFrom(...TOKENS), fc.string());
const owners = fc.array(
  fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constantFrom('ConfigMap', 'Pod'),
    name: fc.constant('a'),
    uid: fc.constant('uid'),
    controller: fc.boolean(),
  }),
);
const managers = fc.array(
  fc.record(
    {
      manager: fc.constantFrom('mirror-controller', 'kubectl'),
      time: fc.constantFrom('', 'x', '2026-01-01T00:00:00Z'),
    },
    { requiredKeys: [] },
  ),
);
/** What the types of the API server allow: it decodes no other objects. */
const metadata = fc.record(
  {
    namespace: fc.constantFrom('team-a', 'x'.repeat(63)),
    name: fc.constantFrom('a', 'x'.repeat(253), 'team-a'),
    uid: fc.constant('uid'),
    resourceVersion: fc.constant('1'),
    creationTimestamp: fc.constant('2026-01-01T00:00:00Z'),
    deletionTimestamp: fc.constant('2026-01-01T00:00:00Z'),
    labels: fc
      .constantFrom('true', 'values', 'companion', 'revision')
      .map((is) => ({ [vocabulary.managed]: is })),
    annotations: mapOf(anyKey),
    ownerReferences: owners,
    managedFields: managers,
  },
  { requiredKeys: ['namespace', 'name', 'uid', 'resourceVersion', 'labels'] },
);
const configMap = fc.record(
  {
    metadata,
    data: mapOf(anyKey),
    binaryData: mapOf(anyKey),
    immutable: fc.boolean(),
  },
  { requiredKeys: ['metadata'] },
);

test('[R13] no ConfigMap or Namespace stops the watch: whatever it holds, it can be observed and indexed', () => {
  const settings = { vocabulary, bounds: boundsOf(), brake: { count: 1, percent: 1 } };
  const texts = new SharedTexts();
  let valid = 0;
  const kept = (object: ConfigMap) => {
    const items = new IndexedMap(configMapIndexers(settings));
    const observed = texts.shareIn(observe(object, vocabulary));
    items.set(observed);
    if (observed.request?.ok) valid += 1;
    return items.get(observed.key);
  };
  fc.assert(
    fc.property(configMap, (object: ConfigMap) => {
      const { metadata: is } = object;
      expect(kept(object)?.uid).toBe(is.uid);
      expect(observeNamespace({ metadata: is }, vocabulary).uid).toBe(is.uid);
    }),
    { numRuns: 300 },
  );
  expect(valid).toBeGreaterThan(10);
});
