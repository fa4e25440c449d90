import { expect, test } from 'vitest';
import { mostRecentFirst } from '../../src/controller/recency.ts';
import type { WriteStep } from '../../src/controller/step-runner.ts';
import type { ObjectKey } from '../../src/kube/object-key.ts';
import { observe } from '../../src/mirror/observed.ts';
import { observeNamespace } from '../../src/mirror/placement.ts';
import type { ClusterView } from '../../src/mirror/view.ts';
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

test('[Q2] in a fan-out, what was touched last comes first: an edited companion, a new namespace', () => {
  const view = viewOf({ old: '8', new: '300' });
  const steps = [update('a', '99'), create('old'), update('b', '100'), create('gone'), create('new')];
  expect(mostRecentFirst(steps, view).map((step) => step.companion)).toEqual([
    'new/c',
    'b/c',
    'a/c',
    'old/c',
    'gone/c',
  ]);
});
