import { describe, expect, test } from 'vitest';
import { mostRecent } from '../../src/controller/recency.ts';
import type { WriteStep } from '../../src/controller/step-runner.ts';
import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { observe } from '../../src/mirror/observe/observed-config-map.ts';
import { observeNamespace } from '../../src/mirror/observe/observed-namespace.ts';
import type { ClusterView } from '../../src/mirror/plan/view.ts';
import { vocabularyOf } from '../../src/mirror/vocabulary.ts';

const vocabulary = vocabularyOf('workshop.io');

function update(namespace: string, resourceVersion: string): WriteStep {
  const actual = observe({ metadata: { namespace, name: 'c', uid: 'u', resourceVersion } }, vocabulary);
  return { action: 'update', companion: actual.key, state: 'drifted', reason: '', actual, differences: [] };
}

function create(namespace: string): WriteStep {
  return { action: 'create', companion: `${namespace}/c` as ObjectKey, state: 'missing', reason: '' };
}

/** Namespaces by name, made at these versions. */
function viewOf(versions: Readonly<Record<string, string>>): ClusterView {
  const view: Partial<ClusterView> = {
    namespace: (name) => {
      const resourceVersion = versions[name];
      if (resourceVersion === undefined) return undefined;
      return observeNamespace({ metadata: { name, uid: name, resourceVersion } }, vocabulary);
    },
  };
  return view as ClusterView;
}

describe('[Q2] in a fan-out, what was touched last comes first:', () => {
  const view = viewOf({ old: '8', new: '300' });
  const steps = [update('a', '99'), create('old'), update('b', '100'), create('gone'), create('new')];
  const mostRecentOf = (count: number) => mostRecent(steps, count, view).map((step) => step.companion);
  const ordered = ['new/c', 'b/c', 'a/c', 'old/c', 'gone/c'];

  test('an edited companion, a new namespace', () => {
    expect(mostRecentOf(steps.length)).toEqual(ordered);
    expect(mostRecentOf(Number.POSITIVE_INFINITY)).toEqual(ordered);
  });

  test('and no more than are wanted', () => {
    expect(mostRecentOf(2)).toEqual(ordered.slice(0, 2));
  });

  test('the first ones first, where all changed together', () => {
    const together = ['d', 'e', 'f'].map((namespace) => update(namespace, '7'));
    expect(mostRecent(together, 2, view)).toEqual(together.slice(0, 2));
  });
});
