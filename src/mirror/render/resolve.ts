import type { Content } from '../observe/content.ts';
import { shortened } from '../parsed.ts';
import { asWritten, PLACEHOLDERS, placeholderOf } from '../request/placeholders.ts';
import { entryAt, MANAGED_VALUES, type StringMap, type Vocabulary } from '../vocabulary.ts';
import type { Values, ValuesConfigMap } from './values.ts';

/** What placeholders in one namespace stand for. */
export interface Facts {
  readonly namespace: string;
  /** Of the namespace; undefined: not known. */
  readonly labels: StringMap | undefined;
  readonly sourceNamespace: string;
  readonly values: Values;
  readonly vocabulary: Vocabulary;
}

/** What is missing for a placeholder. */
export interface Lack {
  readonly why: string;
  /** A sentence. */
  readonly fix: string;
}

/** A placeholder's text, or what is missing for it. `from`: where the text comes from. */
export type Resolved =
  | { readonly from: string; readonly text: string; readonly lack?: never }
  | { readonly from: string; readonly lack: Lack; readonly text?: never };

/** Where a placeholder's text comes from. Never the text itself. */
export interface Origin {
  /** As written. */
  readonly placeholder: string;
  readonly from: string;
  /** Undefined: it has a text. */
  readonly lack: Lack | undefined;
}

export function originOf(name: string, facts: Facts): Origin {
  const { from, lack } = resolve(name, facts);
  return { placeholder: written(name), from, lack };
}

export function resolve(name: string, facts: Facts): Resolved {
  const { namespace, labels } = facts;
  const placeholder = placeholderOf(name);
  switch (placeholder.kind) {
    case 'namespace':
      return { from: `the name of Namespace ${namespace}`, text: namespace };
    case 'source namespace':
      return { from: "the name of the source's namespace", text: facts.sourceNamespace };
    case 'value':
      return resolveValue(placeholder.key, facts);
    case 'label': {
      const from = `a label of Namespace ${namespace}`;
      const text = labels && entryAt(labels, placeholder.key);
      if (text !== undefined) return { from, text };
      const lack =
        labels === undefined
          ? {
              why: 'the labels of the namespace are not known',
              fix: `Let the controller get Namespace ${namespace}.`,
            }
          : { why: 'the namespace has no such label', fix: `Set the label on Namespace ${namespace}.` };
      return { from, lack };
    }
    case 'unknown': {
      const why = `it is not a placeholder; there are ${PLACEHOLDERS}`;
      return { from: 'nowhere', lack: { why, fix: 'Correct it, or leave its key out of render-keys.' } };
    }
  }
}

/** The last ConfigMap that has the key wins. */
function resolveValue(key: string, { values, vocabulary }: Facts): Resolved {
  const winner = values.from.findLast(({ content }) => content !== undefined && hasKey(content, key));
  const text = winner?.content && entryAt(winner.content.data, key);
  // If a ConfigMap is missing, no value is found: it might have the one that wins (SPEC V4).
  const isComplete = values.from.every(({ content }) => content !== undefined);
  if (winner !== undefined && text !== undefined && isComplete)
    return { from: `ConfigMap ${winner.key}`, text };
  const from = `ConfigMap ${values.from.map((each) => each.key).join(' or ')}`;
  return { from, lack: lackOfValue(winner, values, vocabulary) };
}

function hasKey({ data, binaryData }: Content, key: string): boolean {
  return Object.hasOwn(data, key) || Object.hasOwn(binaryData, key);
}

/** `binary`: the ConfigMap that has it, but not as a text. */
function lackOfValue(
  binary: ValuesConfigMap | undefined,
  { from }: Values,
  { managed, valuesFrom }: Vocabulary,
): Lack {
  const label = `${managed}=${MANAGED_VALUES}`;
  const last = from.at(-1);
  if (last === undefined) {
    const fix = `Name a ConfigMap in ${valuesFrom}, and label it ${label}.`;
    return { why: `the source has no ${valuesFrom}`, fix };
  }
  const missing = from.find(({ content }) => content === undefined);
  if (missing !== undefined) {
    const fix = `Create ConfigMap ${missing.key}, or label it ${label}.`;
    return { why: `there is no ConfigMap ${missing.key} labelled ${label}`, fix };
  }
  if (binary !== undefined) {
    return { why: `it is binary in ConfigMap ${binary.key}`, fix: 'Make it a text, in data.' };
  }
  const all = from.map(({ key }) => key).join(', ');
  return { why: `no such key in ConfigMap ${all}`, fix: `Add the key to ConfigMap ${last.key}.` };
}

/** What decides the placeholder's text, as far as it depends on the namespace; else undefined. */
export function factFor(name: string, { namespace, labels }: Facts): string | boolean | undefined {
  const placeholder = placeholderOf(name);
  if (placeholder.kind === 'namespace') return namespace;
  if (placeholder.kind !== 'label') return undefined;
  return labels === undefined || (entryAt(labels, placeholder.key) ?? false);
}

/** A placeholder as in the text, cut to fit into a message. */
export function written(name: string): string {
  return asWritten(shortened(name));
}
