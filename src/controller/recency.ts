import { splitKey } from '../kube/object-key.ts';
import type { ClusterView } from '../mirror/view.ts';
import { isOlder } from './mutation-cache.ts';
import type { WriteStep } from './step-runner.ts';

/**
 * The steps in the order of what changed last: the companion that was edited a moment ago, or the one for the
 * namespace that has just been made, is what a fresh pass was queued for, and it need not wait behind the rest of a
 * fan-out that is under way.
 */
export function mostRecentFirst(steps: readonly WriteStep[], view: ClusterView): readonly WriteStep[] {
  if (steps.length <= 1) return steps;
  return steps
    .map((step) => ({ step, version: latestVersion(step, view) }))
    .sort((a, b) => {
      if (a.version === b.version) return 0;
      return isOlder(a.version, b.version) ? 1 : -1;
    })
    .map(({ step }) => step);
}

function latestVersion(step: WriteStep, view: ClusterView): string {
  if ('actual' in step) return step.actual.resourceVersion;
  return view.namespace(splitKey(step.companion).namespace)?.resourceVersion ?? '';
}
