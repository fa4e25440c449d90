import { expect, test } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { observe } from '../../src/mirror/observed.ts';
import { carryOut } from './api-server.ts';
import { configMap, observed, source, vocabulary } from './wire.ts';
import { objectAt, world } from './world.ts';

const asking = observed(source('team-a/colors'));
const sharing = (object: ConfigMap) =>
  observe(object, vocabulary, (key) => (key === asking.key ? asking : undefined));

test('[W4] a companion that shares its texts with its source is the same companion', () => {
  const now = carryOut('team-a/colors', world([source('team-a/colors')]));
  const made = objectAt(now, 'team-a/colors-synced');
  if (made === undefined) throw new Error('no companion');
  expect(sharing(made)).toEqual(observed(made));
});

test('[W4] what a companion has of its own stays its own', () => {
  const own = configMap('team-b/other', {
    labels: { [vocabulary.managed]: 'companion', team: 'x' },
    annotations: JSON.parse(
      '{"__proto__":"a","workshop.io/source":"team-a/colors","workshop.io/companion":"team-c/somebody"}',
    ),
    owners: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'n', uid: 'u', blockOwnerDeletion: true }],
  });
  const { annotations, ownerReferences, labels } = sharing(own);
  expect(JSON.stringify({ annotations, ownerReferences, labels })).toBe(
    JSON.stringify({
      annotations: own.metadata.annotations,
      ownerReferences: own.metadata.ownerReferences,
      labels: own.metadata.labels,
    }),
  );
});

test('[W4] companions without other labels have one set of them in memory', () => {
  const labels = { ...vocabulary.companionLabels };
  expect(sharing(configMap('team-b/a', { labels })).labels).toBe(vocabulary.companionLabels);
  for (const others of [{ ...labels, team: 'x' }, { ...labels, [vocabulary.managed]: 'true' }, {}]) {
    expect(sharing(configMap('team-b/a', { labels: others })).labels).toEqual(others);
  }
});
