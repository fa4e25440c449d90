import { splitKey } from '../../kube/api/object-key.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import { shortChecksum } from '../observe/revision.ts';
import { MAX_NAME_LENGTH } from '../request/object-name.ts';
import { commaList, includingItem, isExcluded, parseNamespacePatterns } from '../request/patterns.ts';
import { LONGEST_SOURCE_NAME } from '../request/rollout-request.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { type Question, requestOf, sourceOf } from './question.ts';

/** What would make a check hold: a command to paste, words, or what the controller does anyway. */
export type Remedy =
  /** `caution`: what else the command does. */
  | { readonly command: Command; readonly caution?: string }
  | { readonly words: string }
  | { readonly by: 'controller' };

export const ADMINISTRATOR: Remedy = {
  words: 'The administrator decides this, by flags and permissions of the controller.',
};

export type Command =
  | {
      readonly verb: 'label' | 'annotate';
      readonly kind: 'configmap' | 'namespace';
      /** Absent for a Namespace. */
      readonly namespace?: string;
      readonly name: string;
      readonly key: string;
      /** Undefined: remove it. */
      readonly value: string | undefined;
    }
  | { readonly verb: 'create'; readonly kind: 'namespace'; readonly name: string };

export function commandInWords(command: Command): string {
  const { verb, kind, name } = command;
  if (verb === 'create') return `kubectl create ${kind} ${name}`;
  const { namespace, key, value } = command;
  const where = namespace === undefined ? '' : ` --namespace ${namespace}`;
  const entry = value === undefined ? `${key}-` : `${key}=${shellQuoted(value)}`;
  return `kubectl ${verb} ${kind} ${name}${where} --overwrite ${entry}`;
}

function shellQuoted(value: string): string {
  return /^[-\w./]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/**
 * The problem begins with the key of the annotation (`parseRequest`). Of some annotations only
 * their author knows what they should say: any other value might publish or delete something.
 */
export function fixAnnotations(question: Question, problem: string, vocabulary: Vocabulary): Remedy {
  const key = problem.slice(0, problem.indexOf(':'));
  const { name } = splitKey(question.source);
  switch (key) {
    case vocabulary.targetNamespaces: {
      const items = repaired(sourceOf(question).annotations[key] ?? '', { exclusions: true });
      const caution = 'Companions in namespaces that it does not name will be deleted.';
      return { ...annotateSource(question, key, including(items, question.namespace)), caution };
    }
    case vocabulary.companionName:
      return { ...annotateSource(question, key, defaultName(name)), caution: RENAMED };
    case vocabulary.keepRevisions:
      return annotateSource(question, key, name.length > LONGEST_SOURCE_NAME ? undefined : '5');
    case vocabulary.deletionPolicy:
      return annotateSource(question, key, 'retain');
    case vocabulary.deleteAfter:
      return annotateSource(question, key, '10m');
    case vocabulary.settle:
      return annotateSource(question, key, '2s');
    default:
      return { words: `Correct the annotation ${key}. Until then companions stay as they are.` };
  }
}

/** The items of a list of namespaces that are right, or would be in lower case. */
function repaired(text: string, options: { readonly exclusions: boolean }): readonly string[] {
  return commaList(text).flatMap((item) => {
    const right = [item, item.toLowerCase()].find(
      (candidate) => parseNamespacePatterns(candidate, options).ok,
    );
    return right === undefined ? [] : [right];
  });
}

/** A list of these items that includes the namespace, by an item of its own if need be. */
function including(items: readonly string[], namespace: string): string {
  const patterns = parseNamespacePatterns(items.join(','), { exclusions: true });
  const isIncluded = patterns.ok && includingItem(patterns.value, namespace) !== undefined;
  return [...new Set(isIncluded ? items : [...items, namespace])].join(',');
}

function excludes(item: string, namespace: string): boolean {
  const patterns = parseNamespacePatterns(item, { exclusions: true });
  return patterns.ok && isExcluded(patterns.value, namespace);
}

/** The default, or if a name is too long for that, the default of its beginning. */
function defaultName(source: string): string {
  const longest = MAX_NAME_LENGTH - '-synced'.length;
  return source.length > longest
    ? `${source.slice(0, longest).replace(/[-.]+$/, '')}-synced`
    : '{name}-synced';
}

/** Nothing includes the namespace, or an item with `!` excludes it. */
export function fixTargets(question: Question, vocabulary: Vocabulary): Remedy {
  const { namespace } = question;
  const { annotations, namespace: own } = sourceOf(question);
  const key = vocabulary.targetNamespaces;
  const hasSelector = annotations[vocabulary.targetNamespaceSelector] !== undefined;
  // Without targets, the companion beside the source would go.
  const before = annotations[key] ?? (hasSelector ? '' : own);
  const items = commaList(before).filter((item) => !excludes(item, namespace));
  return annotateSource(question, key, including(items, namespace));
}

/** A name that another object hardly has. */
export function fixName(question: Question, vocabulary: Vocabulary): Remedy {
  const key = vocabulary.companionName;
  const tried = sourceOf(question).annotations[key];
  const name = tried === '{namespace}-{name}' ? '{name}-mirrored' : '{namespace}-{name}';
  return { ...annotateSource(question, key, name), caution: RENAMED };
}

const RENAMED = 'All companions of the source get that name; those with another one are deleted.';

export function fixConsent(namespace: ObservedNamespace, from: string, vocabulary: Vocabulary): Remedy {
  const { consent, acceptMirrorsFrom, name } = namespace;
  if (consent.kind === 'unreadable') {
    return { words: 'Give the controller the right to get this Namespace.' };
  }
  const key = vocabulary.acceptMirrorsFrom;
  const value = including(repaired(acceptMirrorsFrom ?? '', { exclusions: false }), from);
  return { command: { verb: 'annotate', kind: 'namespace', name, key, value } };
}

/** New content waits until the source is quiet (SPEC D7). */
export function fixSettle(question: Question, vocabulary: Vocabulary): Remedy {
  return annotateSource(question, vocabulary.settle, undefined);
}

/** New content waits for its canary, or the pinned one is not there (SPEC D5, D6). */
export function fixRollout(question: Question, vocabulary: Vocabulary): Remedy {
  return requestOf(question).rollout?.pin === undefined
    ? annotateSource(question, vocabulary.canaryApprove, shortChecksum(sourceOf(question).digest))
    : annotateSource(question, vocabulary.pin, undefined);
}

function annotateSource({ source }: Question, key: string, value: string | undefined) {
  return { command: { verb: 'annotate', kind: 'configmap', ...splitKey(source), key, value } } as const;
}
