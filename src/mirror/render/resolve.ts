import { asWritten, PLACEHOLDERS, placeholderOf } from '../request/placeholders.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';
import { findValue, type Lack, type Values } from './values.ts';

/** What placeholders in one namespace stand for. */
export interface Facts {
  readonly namespace: string;
  /** Of the namespace; undefined: not known. */
  readonly labels: StringMap | undefined;
  readonly sourceNamespace: string;
  readonly values: Values;
  readonly vocabulary: Vocabulary;
}

export type Resolved = { readonly text: string } | { readonly lack: Lack };

/** Where a placeholder's text comes from. Never the text itself. */
export interface Origin {
  /** As written. */
  readonly placeholder: string;
  readonly from: string;
  /** Undefined: it has a text. */
  readonly lack: Lack | undefined;
}

export function resolve(name: string, facts: Facts): Resolved {
  const { namespace, labels } = facts;
  const placeholder = placeholderOf(name);
  switch (placeholder.kind) {
    case 'namespace':
      return { text: namespace };
    case 'source namespace':
      return { text: facts.sourceNamespace };
    case 'value':
      return findValue(facts.values, placeholder.key, facts.vocabulary);
    case 'label': {
      const text = labels && labelIn(labels, placeholder.key);
      if (text !== undefined) return { text };
      return labels === undefined
        ? lack('the labels of the namespace are not known', `Let the controller get Namespace ${namespace}.`)
        : lack('the namespace has no such label', `Set the label on Namespace ${namespace}.`);
    }
    case 'unknown': {
      const why = `it is not a placeholder; there are ${PLACEHOLDERS}`;
      return lack(why, 'Correct it, or leave its key out of render-keys.');
    }
  }
}

const lack = (why: string, fix: string): Resolved => ({ lack: { why, fix } });

/** What decides the placeholder's text, as far as it depends on the namespace; else undefined. */
export function factFor(name: string, { namespace, labels }: Facts): string | boolean | undefined {
  const placeholder = placeholderOf(name);
  if (placeholder.kind === 'namespace') return namespace;
  if (placeholder.kind !== 'label') return undefined;
  return labels === undefined || (labelIn(labels, placeholder.key) ?? false);
}

export function originOf(name: string, facts: Facts): Origin {
  const resolved = resolve(name, facts);
  const missing = 'lack' in resolved ? resolved.lack : undefined;
  return { placeholder: written(name), from: whereFrom(name, facts), lack: missing };
}

function whereFrom(name: string, { namespace, values, vocabulary }: Facts): string {
  const placeholder = placeholderOf(name);
  switch (placeholder.kind) {
    case 'namespace':
      return `the name of Namespace ${namespace}`;
    case 'source namespace':
      return "the name of the source's namespace";
    case 'label':
      return `a label of Namespace ${namespace}`;
    case 'value': {
      const found = findValue(values, placeholder.key, vocabulary);
      return `ConfigMap ${'in' in found ? found.in : values.from.map(({ key }) => key).join(' or ')}`;
    }
    case 'unknown':
      return 'nowhere';
  }
}

/** `Object.hasOwn`, because a label may be called `constructor`. */
function labelIn(labels: StringMap, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** A placeholder as in the text, cut to fit into a message. */
export function written(name: string): string {
  return asWritten(name.length > 80 ? `${name.slice(0, 77)}…` : name);
}
