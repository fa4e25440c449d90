import { objectKey, splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import { shortChecksum } from '../observe/revision.ts';
import { claims } from '../plan/claims.ts';
import { desiredNamespaces } from '../plan/placement.ts';
import type { ClusterView } from '../plan/view.ts';
import { MAX_NAME_LENGTH } from '../request/object-name.ts';
import { commaList, includingItem, isExcluded, parseNamespacePatterns } from '../request/patterns.ts';
import { parseRequest } from '../request/request.ts';
import { LONGEST_SOURCE_NAME } from '../request/rollout-request.ts';
import { shellQuoted } from '../shell-quoted.ts';
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

/** For what belongs to no source. */
export const LEFT_ALONE: Remedy = {
  words: 'The controller leaves it alone. Delete it if nobody needs it.',
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

/**
 * The problem begins with the key of the annotation (`parseRequest`). Of some annotations only
 * their author knows what they should say: any other value might publish or delete something.
 */
export function fixAnnotations(question: Question, problem: string, vocabulary: Vocabulary): Remedy {
  const key = problem.slice(0, problem.indexOf(':'));
  const { name } = splitKey(question.source);
  const set = (value: string | undefined, caution = IN_EFFECT): Remedy => {
    return { ...annotateSource(question, key, value), caution };
  };
  switch (key) {
    case vocabulary.targetNamespaces: {
      const value = targetsIncluding(question, vocabulary);
      return value === undefined ? correct(key) : set(value);
    }
    case vocabulary.companionName:
      return set(defaultName(name), RENAMED);
    case vocabulary.keepRevisions:
      return name.length > LONGEST_SOURCE_NAME
        ? set(undefined)
        : set('5', `Choose how many. Older revisions are deleted. ${IN_EFFECT}`);
    case vocabulary.deletionPolicy:
      return set('retain');
    case vocabulary.deleteAfter:
      return set('10m');
    case vocabulary.settle:
      return set('2s');
    default:
      return correct(key);
  }
}

const IN_EFFECT =
  'Check the value: once all annotations are valid, companions are created, changed and deleted as they say.';
const RENAMED = 'All companions of the source get that name; those with another one are deleted.';

function correct(key: string): Remedy {
  return { words: `Correct the annotation ${key}. Until then companions stay as they are.` };
}

/**
 * A list of namespaces that has this one too, and every other one as before. Upper case is
 * corrected, because it can mean one thing only. Undefined: another item is malformed or excludes
 * the namespace, or the list would be too long.
 */
function including(
  items: readonly string[],
  namespace: string,
  options: { readonly exclusions: boolean },
): string | undefined {
  const repaired = items.map((item) => item.toLowerCase());
  const list = parseNamespacePatterns(repaired.join(','), options);
  if (!list.ok || isExcluded(list.value, namespace)) return undefined;
  const isIncluded = includingItem(list.value, namespace) !== undefined;
  const value = [...new Set(isIncluded ? repaired : [...repaired, namespace])].join(',');
  return parseNamespacePatterns(value, options).ok ? value : undefined;
}

/** `list`: a valid one, which can have no further namespace. */
function shorten(list: string, namespace: string): Remedy {
  const how = 'name fewer namespaces, or write prefixes that end in "*", such as "team-*".';
  return { words: `Shorten ${list}, and add ${namespace}: ${how}` };
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
  const key = vocabulary.targetNamespaces;
  const value = targetsIncluding(question, vocabulary);
  if (value !== undefined) return annotateSource(question, key, value);
  const { targets } = requestOf(question);
  if (targets && !isExcluded(targets.patterns, question.namespace)) return shorten(key, question.namespace);
  const words = `Change ${key} so that no exclusion matches ${question.namespace}. That pattern may exclude other namespaces too: go on excluding those.`;
  return { words };
}

/** Removes an exclusion of exactly this namespace. A pattern may exclude others, so it stays. */
function targetsIncluding(question: Question, vocabulary: Vocabulary): string | undefined {
  const { namespace } = question;
  const { annotations, namespace: own } = sourceOf(question);
  const hasSelector = annotations[vocabulary.targetNamespaceSelector] !== undefined;
  // Without targets, the companion beside the source would go.
  const before = annotations[vocabulary.targetNamespaces] ?? (hasSelector ? '' : own);
  const items = commaList(before).filter((item) => item.replace(/^!\s*/, '!') !== `!${namespace}`);
  return including(items, namespace, { exclusions: true });
}

/**
 * Values of `companion-name` that explain may propose, and the names that companions would then
 * have: such as another object hardly has.
 */
export function proposedNames(
  source: ObservedConfigMap,
  vocabulary: Vocabulary,
): readonly (readonly [value: string, name: string])[] {
  return ['{namespace}-{name}', '{name}-mirrored'].flatMap((value) => {
    const annotations = { ...source.annotations, [vocabulary.companionName]: value };
    const request = parseRequest({ ...source, annotations }, vocabulary);
    return request.ok ? [[value, request.value.companionName] as const] : [];
  });
}

/** Another name, which is free wherever the source has companions. */
export function fixName(question: Question, view: ClusterView): Remedy {
  const { vocabulary } = view.settings;
  const source = sourceOf(question);
  const namespaces = new Set(desiredNamespaces(source, requestOf(question), view)).add(question.namespace);
  const isTaken = (name: string) =>
    question.taken.has(name) ||
    [...namespaces].some((namespace) => {
      const key = objectKey(namespace, name);
      return view.configMap(key) !== undefined || view.claimants(key).some((each) => claims(each, key, view));
    });
  const key = vocabulary.companionName;
  const free = proposedNames(source, vocabulary).find(([, name]) => !isTaken(name));
  if (free === undefined) return { words: `Set ${key} to a name that is free.` };
  return { ...annotateSource(question, key, free[0]), caution: RENAMED };
}

/** `origins`: as of a {@link Question}. */
export function fixConsent(
  namespace: ObservedNamespace,
  from: string,
  origins: readonly string[],
  vocabulary: Vocabulary,
): Remedy {
  const { consent, acceptMirrorsFrom, name } = namespace;
  if (consent.kind === 'unreadable') {
    return { words: 'Give the controller the right to get this Namespace.' };
  }
  const key = vocabulary.acceptMirrorsFrom;
  const isFirst = consent.kind === 'unsaid';
  // Without --require-consent it accepts all of them now.
  const items = isFirst ? origins : commaList(acceptMirrorsFrom ?? '');
  const value = including(items, from, { exclusions: false });
  if (value === undefined) {
    const list = `${key} of Namespace ${name}`;
    return consent.kind === 'malformed' ? { words: `Correct the annotation ${list}.` } : shorten(list, from);
  }
  const command = { verb: 'annotate', kind: 'namespace', name, key, value } as const;
  if (isFirst) return { command, caution: firstListCaution(origins.filter((origin) => origin !== from)) };
  const caution =
    'Companions there whose source is in a namespace that the list does not name will be deleted.';
  return consent.kind === 'malformed' ? { command, caution } : { command };
}

function firstListCaution(kept: readonly string[]): string {
  const refused = "Sources in other namespaces will be refused there, whatever the controller's flags.";
  return kept.length === 0
    ? refused
    : `The list includes the namespaces whose sources have companions there now: ${kept.join(', ')}. ${refused}`;
}

/** New content waits until the source is quiet (SPEC D7). */
export function fixSettle(question: Question, vocabulary: Vocabulary): Remedy {
  const caution = 'Later edits of the source will not wait, either.';
  return { ...annotateSource(question, vocabulary.settle, undefined), caution };
}

/** New content waits for its canary, or the pinned one is not there (SPEC D5, D6). */
export function fixRollout(question: Question, vocabulary: Vocabulary): Remedy {
  if (requestOf(question).rollout?.pin !== undefined) {
    const caution = 'All companions of the source follow it again.';
    return { ...annotateSource(question, vocabulary.pin, undefined), caution };
  }
  const short = shortChecksum(sourceOf(question).digest);
  const caution = 'All companions of the source get this content, in other namespaces too.';
  return { ...annotateSource(question, vocabulary.canaryApprove, short), caution };
}

function annotateSource({ source }: Question, key: string, value: string | undefined) {
  return { command: { verb: 'annotate', kind: 'configmap', ...splitKey(source), key, value } } as const;
}
