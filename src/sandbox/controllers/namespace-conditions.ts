/**
 * The conditions of a namespace that is being deleted (k8s.io/kubernetes
 * pkg/controller/namespace/deletion/status_condition_utils.go).
 */
import { byCodeUnit, isObject, type Json, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** The objects of one kind that remain after everything in the namespace was deleted. */
export interface Remains {
  readonly resource: string;
  readonly group: string;
  readonly objects: readonly KubeObject[];
}

interface State {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const fine = (reason: string, message: string): State => ({ status: 'False', reason, message });

function contentState(remains: readonly Remains[]): State {
  const texts = remains
    .filter(({ objects }) => objects.length > 0)
    .map(({ resource, group, objects }) => `${resource}.${group} has ${objects.length} resource instances`);
  if (texts.length === 0) return fine('ContentRemoved', 'All content successfully removed');
  const message = `Some resources are remaining: ${texts.sort(byCodeUnit).join(', ')}`;
  return { status: 'True', reason: 'SomeResourcesRemain', message };
}

function finalizerState(remains: readonly Remains[]): State {
  const counts = new Map<string, number>();
  for (const { metadata } of remains.flatMap(({ objects }) => objects)) {
    for (const finalizer of metadata.finalizers ?? [])
      counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  }
  if (counts.size === 0) return fine('ContentHasNoFinalizers', 'All content-preserving finalizers finished');
  const texts = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
  const message = `Some content in the namespace has finalizers remaining: ${texts.sort(byCodeUnit).join(', ')}`;
  return { status: 'True', reason: 'SomeFinalizersRemain', message };
}

/** `old` are the present conditions; one whose status stays the same keeps its time. */
export function deletionConditions(
  remains: readonly Remains[],
  old: readonly Json[],
  now: string,
): readonly JsonObject[] {
  const states: readonly (readonly [string, State])[] = [
    [
      'NamespaceDeletionDiscoveryFailure',
      fine('ResourcesDiscovered', 'All resources successfully discovered'),
    ],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      fine('ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    ],
    [
      'NamespaceDeletionContentFailure',
      fine('ContentDeleted', 'All content successfully deleted, may be waiting on finalization'),
    ],
    ['NamespaceContentRemaining', contentState(remains)],
    ['NamespaceFinalizersRemaining', finalizerState(remains)],
  ];
  return states.map(([type, { status, reason, message }]) => {
    const before = old.find((condition) => isObject(condition) && condition['type'] === type);
    const turned = !isObject(before) || before['status'] !== status;
    const lastTransitionTime = turned ? now : (before['lastTransitionTime'] ?? now);
    return { type, status, lastTransitionTime, reason, message };
  });
}
