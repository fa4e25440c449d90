import { type ObjectKey, objectKey } from '../../kube/api/object-key.ts';
import type { Content } from '../observe/content.ts';
import { isValues, type ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { Vocabulary } from '../vocabulary.ts';

/** The values of one source, as they were when it was planned. */
export interface Values {
  /** Later ones win. */
  readonly from: readonly ValuesConfigMap[];
  /** Changes whenever a value may have changed. */
  readonly version: string;
}

export interface ValuesConfigMap {
  readonly key: ObjectKey;
  /** Undefined: there is no such ConfigMap, or it lacks the label. */
  readonly content: Content | undefined;
}

/** The ConfigMaps that a source takes values from; none if it uses no value. */
export function valuesKeys({ namespace, request }: ObservedConfigMap): readonly ObjectKey[] {
  if (!request?.ok || !request.value.uses?.values) return NO_KEYS;
  return request.value.valuesFrom.map((name) => objectKey(namespace, name));
}

const NO_KEYS: readonly ObjectKey[] = [];

/** Where the rules find ConfigMaps. */
interface Lookup {
  readonly settings: { readonly vocabulary: Vocabulary };
  configMap(key: ObjectKey): ObservedConfigMap | undefined;
}

/** Those at {@link valuesKeys}; undefined where there is none, or one without the label. */
export function observedValues(
  source: ObservedConfigMap,
  view: Lookup,
): readonly (ObservedConfigMap | undefined)[] {
  return valuesKeys(source).map((key) => {
    const object = view.configMap(key);
    return object && isValues(object, view.settings.vocabulary) ? object : undefined;
  });
}

/** The present {@link Values.version}. */
export function valuesVersion(source: ObservedConfigMap, view: Lookup): string {
  return observedValues(source, view)
    .map((object) => object?.digest ?? '-')
    .join(' ');
}
