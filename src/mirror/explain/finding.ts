import { type ObjectKey, objectKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { ClusterView } from '../plan/view.ts';
import type { Rendering } from '../render/rendering.ts';
import type { MirrorRequest } from '../request/request.ts';
import type { Remedy, Subject } from './remedies.ts';

/** What must hold, in this order, for a companion to be in sync. */
export type Check =
  | 'label'
  | 'annotations'
  | 'target'
  | 'bounds'
  | 'namespace'
  | 'consent'
  | 'name'
  | 'values'
  | 'content';

/** What was found at one check. */
export interface Finding {
  readonly check: Check;
  readonly evidence: string;
  /** Absent: it holds. */
  readonly fails?: Remedy;
}

export interface Question extends Subject {
  /** The companion's name, if it is not the one that the source asks for now. */
  readonly name?: string;
  /** What a live read found at the companion's key. */
  readonly actual: ObservedConfigMap | undefined;
  /** Of a source that has something to render; undefined: it changed while it was read. */
  readonly rendering: Rendering | undefined;
}

/** Undefined: there is nothing to check. */
export type CheckFunction = (question: Question, view: ClusterView) => Finding | undefined;

export const ADMINISTRATOR: Remedy = {
  words: 'The administrator decides this, by flags and permissions of the controller.',
};

export function companionOf(question: Question): ObjectKey {
  return objectKey(question.namespace, requestOf(question).companionName);
}

export function requestOf({ live }: Question): MirrorRequest {
  if (!live?.request?.ok) throw new TypeError('the annotations were checked first');
  return live.request.value;
}
