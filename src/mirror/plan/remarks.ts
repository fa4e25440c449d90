import { splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { unknownAnnotations } from '../request/unknown-annotations.ts';
import type { Step } from './step.ts';
import type { ClusterView } from './view.ts';

/** What the author of a valid source probably did not mean, a sentence each (SPEC R13, P3). */
export function remarksOn(
  source: ObservedConfigMap,
  steps: readonly Step[],
  view: ClusterView,
): readonly string[] {
  const remarks = [...unknownAnnotations(source, view.settings.vocabulary)];
  const isUnconsented = (step: Step) =>
    step.state === 'refused' &&
    !step.named &&
    view.namespace(splitKey(step.companion).namespace)?.consent.kind === 'unsaid';
  const unconsented = view.settings.bounds.requireConsent ? steps.filter(isUnconsented).length : 0;
  if (unconsented > 0) {
    remarks.push(
      `${unconsented} matching ${unconsented === 1 ? 'namespace has' : 'namespaces have'} no accept-mirrors-from, and --require-consent is set`,
    );
  }
  return remarks;
}
