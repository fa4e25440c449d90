import { type ObjectKey, objectKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { Rendering } from '../render/rendering.ts';
import type { MirrorRequest } from '../request/request.ts';

/** Which companion is asked about, and what live reads found. */
export interface Question {
  readonly source: ObjectKey;
  /** What is there; undefined: nothing. */
  readonly live: ObservedConfigMap | undefined;
  /** The namespace of the companion. */
  readonly namespace: string;
  /** The companion's name, if it is not the one that the source asks for now. */
  readonly name?: string;
  /** What is at the companion's key. */
  readonly actual: ObservedConfigMap | undefined;
  /** Of a source that has something to render; undefined: it changed while it was read. */
  readonly rendering: Rendering | undefined;
}

export function companionOf(question: Question): ObjectKey {
  return objectKey(question.namespace, requestOf(question).companionName);
}

export function sourceOf({ live }: Question): ObservedConfigMap {
  if (live === undefined) throw new TypeError('the label is checked first');
  return live;
}

export function requestOf(question: Question): MirrorRequest {
  const { request } = sourceOf(question);
  if (!request?.ok) throw new TypeError('the annotations are checked first');
  return request.value;
}
