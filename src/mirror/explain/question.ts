import { type ObjectKey, objectKey, splitKey } from '../../kube/api/object-key.ts';
import { isCompanionOf } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { ClusterView } from '../plan/view.ts';
import type { Rendering } from '../render/rendering.ts';
import type { MirrorRequest } from '../request/request.ts';
import type { Entry } from './inventory.ts';

/** Which companion is asked about, and what live reads found. */
export interface Question {
  readonly source: ObjectKey;
  /** What is there; undefined: nothing. */
  readonly live: ObservedConfigMap | undefined;
  /** The namespace of the companion. */
  readonly namespace: string;
  /** Whether that exists, as far as it may be read. */
  readonly exists: boolean;
  /** The companion's name, if it is not the one that the source asks for now. */
  readonly name?: string;
  /** What is at the companion's key. */
  readonly actual: ObservedConfigMap | undefined;
  /** Of a source that has something to render; undefined: it changed while it was read. */
  readonly rendering: Rendering | undefined;
  /** The other namespaces whose sources have companions in `namespace`. */
  readonly origins: readonly string[];
  /** Of the `proposedNames`, those that an object in `namespace` has. */
  readonly taken: ReadonlySet<string>;
}

/** The other namespaces whose sources have companions in a namespace. `entries`: the inventory. */
export function originsIn(
  namespace: string,
  entries: readonly Entry[],
  view: ClusterView,
): readonly string[] {
  const origins = new Set<string>();
  for (const { source, companion } of entries) {
    if (source === undefined || companion === undefined) continue;
    if (splitKey(companion).namespace !== namespace) continue;
    const object = view.configMap(companion);
    const identity = { key: source, uid: view.configMap(source)?.uid };
    if (object && isCompanionOf(object, identity, view.settings.vocabulary)) {
      origins.add(splitKey(source).namespace);
    }
  }
  origins.delete(namespace);
  return [...origins].sort();
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
