import { splitKey } from '../kube/api/object-key.ts';
import type { ClusterView } from '../mirror/plan/view.ts';
import { isOlder } from './mutation-cache.ts';
import type { WriteStep } from './step-runner.ts';

/**
 * The `count` steps for what changed last, the latest first: the companion that was edited a moment ago, or the one for the
 * namespace that has just been made, is what a fresh pass was queued for, and it need not wait behind the rest of a
 * fan-out that is under way. Of steps that changed together the first ones come first.
 */
export function mostRecent(
  steps: readonly WriteStep[],
  count: number,
  view: ClusterView,
): readonly WriteStep[] {
  if (steps.length <= 1) return steps;
  const latest: { readonly step: WriteStep; readonly version: string }[] = [];
  // Not sorted all: of ten thousand steps eight are wanted, and whoever made the change waits for the first.
  for (const step of steps) {
    const version = latestVersion(step, view);
    let place = latest.length;
    while (isNewer(version, latest[place - 1]?.version)) place -= 1;
    if (place >= count) continue;
    latest.splice(place, 0, { step, version });
    if (latest.length > count) latest.pop();
  }
  return latest.map(({ step }) => step);
}

function isNewer(version: string, than: string | undefined): boolean {
  return than !== undefined && isOlder(than, version);
}

function latestVersion(step: WriteStep, view: ClusterView): string {
  if ('actual' in step) return step.actual.resourceVersion;
  return view.namespace(splitKey(step.companion).namespace)?.resourceVersion ?? '';
}
