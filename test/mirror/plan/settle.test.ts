import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { companion, namespace, source } from '../wire.ts';
import { planFor, world } from '../world.ts';

const KEY = 'home/colors';
const TEAM_A = 'team-a/colors-synced';
const asks = { 'target-namespaces': 'team-*', settle: '2s' };
const before = source(KEY, asks, { data: { colour: 'red' } });
const after = source(KEY, asks, { data: { colour: 'blue' } });
/** The companion as the former content left it, or as somebody has made it since. */
const former = (parts: Parameters<typeof companion>[2] = {}) => companion(before, TEAM_A, parts);

function plan(objects: readonly ConfigMap[], unsettledMs = 1500) {
  const namespaces = ['home', 'team-a'].map((name) => namespace(name));
  return planFor(KEY, { ...world(objects, namespaces), now: 1_000_000, unsettledMs });
}

describe('[D7] while the source keeps changing', () => {
  test('its new content waits', () => {
    expect(plan([after, former()])).toEqual([
      {
        action: 'none',
        companion: TEAM_A,
        state: 'waiting',
        reason: 'its content waits until the source has been quiet for a while',
        until: 1_001_500,
      },
    ]);
  });

  test('also that of an immutable companion', () => {
    expect(plan([after, former({ immutable: true })])).toMatchObject([{ state: 'waiting' }]);
  });

  test('what else differs does not wait', () => {
    const labels = { 'app.kubernetes.io/managed-by': 'somebody' };
    for (const immutable of [false, true]) {
      expect(plan([after, former({ labels, immutable })])).toMatchObject([
        {
          action: 'update',
          until: 1_001_500,
          differences: [{ kind: 'label', key: 'app.kubernetes.io/managed-by', value: 'mirror-controller' }],
        },
      ]);
    }
  });

  test('a heal does not wait', () => {
    const edited = former({ data: { colour: 'green' } });
    expect(plan([after, edited])).toMatchObject([{ action: 'update', state: 'drifted' }]);
    expect(plan([before, edited])).toMatchObject([{ action: 'update', state: 'drifted' }]);
  });

  test('a new companion and a deletion do not wait', () => {
    expect(plan([after])).toMatchObject([{ action: 'create' }]);
    const elsewhere = companion(before, 'away/colors-synced');
    const namespaces = ['home', 'away'].map((name) => namespace(name));
    const steps = planFor(KEY, { ...world([after, elsewhere], namespaces), unsettledMs: 1500 });
    expect(steps).toMatchObject([{ action: 'delete' }]);
  });

  test('a source that does not ask for quiet does not wait', () => {
    const hasty = source(KEY, { 'target-namespaces': 'team-*' }, { data: { colour: 'blue' } });
    expect(plan([hasty, former()])).toMatchObject([{ action: 'update' }]);
  });
});

test('[D7] once it is quiet, its content is mirrored', () => {
  expect(plan([after, former()], 0)).toMatchObject([{ action: 'update', state: 'drifted' }]);
});
