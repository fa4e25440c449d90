import { type ObjectKey, objectKey } from '../../kube/api/object-key.ts';
import type { Content } from '../observe/content.ts';
import { isValues, type ObservedConfigMap } from '../observe/observed-config-map.ts';
import { MANAGED_VALUES, type Vocabulary } from '../vocabulary.ts';

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

/** What is missing for a placeholder. */
export interface Lack {
  readonly why: string;
  /** A sentence. */
  readonly fix: string;
}

export type FoundValue = { readonly in: ObjectKey; readonly text: string } | { readonly lack: Lack };

/** If a ConfigMap is missing, no value is found: it might have the one that wins (SPEC V4). */
export function findValue({ from }: Values, key: string, vocabulary: Vocabulary): FoundValue {
  const label = `${vocabulary.managed}=${MANAGED_VALUES}`;
  const winner = from.at(-1)?.key;
  if (winner === undefined) {
    const fix = `Name a ConfigMap in ${vocabulary.valuesFrom}, and label it ${label}.`;
    return { lack: { why: `the source has no ${vocabulary.valuesFrom}`, fix } };
  }
  for (const { key: where, content } of from) {
    if (content !== undefined) continue;
    const why = `there is no ConfigMap ${where} labelled ${label}`;
    return { lack: { why, fix: `Create ConfigMap ${where}, or label it ${label}.` } };
  }
  for (const { key: where, content } of from.toReversed()) {
    const { data = {}, binaryData = {} } = content ?? {};
    // `Object.hasOwn`, because a key may be called `constructor`.
    if (Object.hasOwn(data, key)) return { in: where, text: data[key] ?? '' };
    if (Object.hasOwn(binaryData, key)) {
      return { lack: { why: `it is binary in ConfigMap ${where}`, fix: 'Make it a text, in data.' } };
    }
  }
  const all = from.map(({ key: where }) => where).join(', ');
  return { lack: { why: `no such key in ConfigMap ${all}`, fix: `Add the key to ConfigMap ${winner}.` } };
}
