import { type ObjectKey, objectKey, splitKey } from '../../kube/api/object-key.ts';
import type { CompanionShape } from '../companion/companion.ts';
import { type ObservedConfigMap, usesOf } from '../observe/observed-config-map.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import { desiredOf } from '../plan/desired.ts';
import { boundsRefusal, consentTo, isOutOfScope, matchTargets, mayMatchUnread } from '../plan/placement.ts';
import { planCompanion } from '../plan/plan.ts';
import { onceQuiet } from '../plan/settle.ts';
import type { Step } from '../plan/step.ts';
import type { ClusterView } from '../plan/view.ts';
import type { Rendering } from '../render/rendering.ts';
import { includingItem } from '../request/patterns.ts';
import type { MirrorRequest } from '../request/request.ts';
import { unknownAnnotations } from '../request/unknown-annotations.ts';
import { MANAGED_COMPANION, MANAGED_REVISION, MANAGED_SOURCE, MANAGED_VALUES } from '../vocabulary.ts';
import {
  fixAnnotations,
  fixConsent,
  fixName,
  fixRollout,
  fixSettle,
  fixTargets,
  type Remedy,
  type Subject,
} from './remedies.ts';

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

/** The checks up to the first that fails (SPEC C8). Decided by the plan's own functions. */
export function explainCompanion(question: Question, view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  for (const check of CHECKS) {
    const finding = check(question, view);
    if (finding === undefined) continue;
    findings.push(finding);
    if (finding.fails !== undefined) break;
  }
  return findings;
}

/** Undefined: there is nothing to check. */
type CheckFunction = (question: Question, view: ClusterView) => Finding | undefined;

function checkLabel({ source, live }: Question, view: ClusterView): Finding {
  const { vocabulary } = view.settings;
  const { namespace, name } = splitKey(source);
  const failing = (evidence: string, fails: Remedy): Finding => ({ check: 'label', evidence, fails });
  if (live === undefined) {
    return failing(`there is no ConfigMap ${name} in namespace ${namespace}`, {
      words: 'Create it, or check its name and namespace. Names are NAMESPACE/NAME, not TYPE/NAME.',
    });
  }
  const value = live.labels[vocabulary.managed];
  if (live.request === undefined && value === MANAGED_SOURCE) {
    return failing('it is a companion itself, and a companion is never a source', {
      words: 'Ask about its source instead.',
    });
  }
  if (live.request === undefined && value === MANAGED_VALUES) {
    const users = view.valuesUsers(source).map(({ key }) => key);
    return failing(
      `it holds values for sources (${vocabulary.managed}=${value})`,
      users.length === 0
        ? { words: `No source names it in ${vocabulary.valuesFrom}.` }
        : { words: `Ask about a source that uses it: ${users.slice(0, 5).join(', ')}.` },
    );
  }
  if (live.request === undefined && (value === MANAGED_COMPANION || value === MANAGED_REVISION)) {
    return failing(`the label says that it is a ${value}, but it names no source`, {
      words: 'The controller leaves it alone. Delete it if nobody needs it.',
    });
  }
  if (live.request === undefined) {
    const evidence =
      value === undefined
        ? `the label ${vocabulary.managed} is missing`
        : `the label ${vocabulary.managed} is "${value}", not "${MANAGED_SOURCE}"`;
    const label = { verb: 'label', kind: 'configmap', namespace, name, key: vocabulary.managed } as const;
    return failing(evidence, { command: { ...label, value: MANAGED_SOURCE } });
  }
  if (isOutOfScope(source, view)) {
    return failing("the source's namespace is not among --namespaces", ADMINISTRATOR);
  }
  if (live.deleting) {
    return failing('the source is being deleted', { words: 'Create it again when it is gone.' });
  }
  return { check: 'label', evidence: `${vocabulary.managed}=${value}` };
}

function checkAnnotations(question: Question, { settings: { vocabulary } }: ClusterView): Finding {
  const { live } = question;
  if (live?.request?.ok === false) {
    const { problem } = live.request;
    return { check: 'annotations', evidence: problem, fails: fixAnnotations(question, problem, vocabulary) };
  }
  const prefix = `${vocabulary.domain}/`;
  const ours = Object.entries(live?.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix) && Object.values(vocabulary).includes(key))
    .map(([key, value]) => `${key.slice(prefix.length)}: ${value}`);
  const remarks = live === undefined ? [] : unknownAnnotations(live, vocabulary);
  const evidence = ours.length === 0 ? 'none, so the companion is beside the source' : ours.join('; ');
  return { check: 'annotations', evidence: [evidence, ...remarks].join('; but ') };
}

function checkTarget(question: Question, view: ClusterView): Finding {
  const { source, namespace: name } = question;
  const { targets } = requestOf(question);
  const { vocabulary, bounds } = view.settings;
  const evidence = (text: string) => ({ check: 'target', evidence: text }) as const;
  const own = splitKey(source).namespace;
  const refusal = name === own ? undefined : boundsRefusal(name, bounds);
  const failing = (text: string, reason: Parameters<typeof fixTargets>[1]): Finding =>
    refusal === undefined
      ? { ...evidence(text), fails: fixTargets(question, reason, vocabulary) }
      : { ...evidence(`${text}, and ${refusal}`), fails: ADMINISTRATOR };
  if (targets === undefined) {
    return name === own
      ? evidence('without target annotations the companion is beside the source')
      : failing(`without target annotations the only companion is beside the source, in ${own}`, 'none');
  }
  if (companionOf(question) === source) {
    return {
      ...evidence("companions have the source's own name, so there is none beside it"),
      fails: fixName(question, vocabulary),
    };
  }
  const namespace = view.namespace(name);
  const match = matchTargets(targets, { name, labels: namespace?.labels });
  switch (match.kind) {
    case 'included':
      return evidence(`"${match.item}" in target-namespaces matches ${name}`);
    case 'selected':
      return evidence(`target-namespace-selector matches the labels of ${name}`);
    case 'excluded':
      return failing(`"!${match.item}" in target-namespaces excludes ${name}`, 'excluded');
    case 'none':
      return namespace !== undefined && mayMatchUnread(targets, namespace)
        ? {
            ...evidence(`the labels of Namespace ${name} may not be read, so the selector cannot match`),
            fails: ADMINISTRATOR,
          }
        : failing(`nothing in the target annotations matches ${name}`, 'none');
  }
}

function checkBounds({ source, namespace }: Question, { settings: { bounds } }: ClusterView): Finding {
  const isOwn = namespace === splitKey(source).namespace;
  const refusal = isOwn ? undefined : boundsRefusal(namespace, bounds);
  if (refusal !== undefined) return { check: 'bounds', evidence: refusal, fails: ADMINISTRATOR };
  return {
    check: 'bounds',
    evidence: isOwn ? 'always allowed in its own namespace' : "allowed by the controller's flags",
  };
}

function checkNamespace(question: Question, view: ClusterView): Finding {
  const { namespace: name, source } = question;
  const namespace = view.namespace(name);
  const needsIt = requestOf(question).targets !== undefined || name !== splitKey(source).namespace;
  if (namespace?.active === false) {
    const words = 'Wait until it is gone, and create it again.';
    return { check: 'namespace', evidence: `${name} is being deleted`, fails: { words } };
  }
  if (namespace === undefined && needsIt) {
    const command = { verb: 'create', kind: 'namespace', name } as const;
    return { check: 'namespace', evidence: `${name} does not exist`, fails: { command } };
  }
  return { check: 'namespace', evidence: `${name} exists` };
}

function checkConsent({ source, namespace: name }: Question, view: ClusterView): Finding {
  const { bounds, vocabulary } = view.settings;
  const from = splitKey(source).namespace;
  const namespace = view.namespace(name);
  if (name === from || namespace === undefined) {
    return { check: 'consent', evidence: 'a namespace accepts its own sources' };
  }
  const permission = consentTo(from, namespace.consent, bounds.requireConsent);
  if (permission.kind !== 'permitted') {
    const evidence = 'reason' in permission ? permission.reason : permission.kind;
    return { check: 'consent', evidence, fails: fixConsent(namespace, from, vocabulary) };
  }
  return { check: 'consent', evidence: consentInWords(namespace, from) };
}

function consentInWords({ name, consent }: ObservedNamespace, from: string): string {
  if (consent.kind !== 'accepts') return `${name} has no accept-mirrors-from, so it accepts all namespaces`;
  return `"${includingItem(consent.patterns, from)}" in accept-mirrors-from of ${name} matches ${from}`;
}

/** Nothing can be said of a source whose content is not known. */
function checkRead({ live, rendering }: Question): Finding | undefined {
  if (live === undefined || usesOf(live) === undefined || rendering !== undefined) return undefined;
  const evidence = 'the source or its values have just changed';
  return { check: 'values', evidence, fails: { words: 'Ask again.' } };
}

function checkName(question: Question, view: ClusterView): Finding {
  const { name } = question;
  const { companionName } = requestOf(question);
  const { vocabulary } = view.settings;
  if (name !== undefined && name !== companionName) {
    const evidence = `companions of the source are named ${companionName} now`;
    return { check: 'name', evidence, fails: { words: 'Ask about that one instead.' } };
  }
  const { state, reason } = stepOf(question, view);
  const companion = companionOf(question);
  if (state === 'conflict') return { check: 'name', evidence: reason, fails: fixName(question, vocabulary) };
  if (question.actual?.deleting) {
    return { check: 'name', evidence: reason, fails: { words: 'Wait until it is gone.' } };
  }
  const evidence =
    question.actual === undefined ? `${companion} is free` : `${companion} is this source's companion`;
  return { check: 'name', evidence };
}

/** Where the text of each placeholder comes from, never the text. */
function checkValues(question: Question, view: ClusterView): Finding | undefined {
  const { live, rendering, namespace, actual } = question;
  if (live === undefined || rendering === undefined) return undefined;
  const edition = shapeOf(question, view).editionIn(namespace, actual);
  const revision = 'revision' in edition ? edition.revision : undefined;
  const origins = rendering.originsIn(namespace, revision ?? live);
  const lack = origins.find((origin) => origin.lack !== undefined)?.lack;
  if ('missing' in edition && edition.isUnresolved) {
    const words = lack?.fix ?? 'Shorten the text or the values.';
    return { check: 'values', evidence: edition.missing, fails: { words } };
  }
  const evidence = origins.map(({ placeholder, from }) => `${placeholder} is ${from}`).join('; ');
  return origins.length === 0 ? undefined : { check: 'values', evidence };
}

function checkContent(question: Question, view: ClusterView): Finding {
  const { state, reason } = stepOf(question, view);
  if (state === 'in sync') {
    const { pin } = requestOf(question).rollout ?? {};
    const pinned = pin === undefined ? '' : `: it is pinned to ${pin}`;
    return { check: 'content', evidence: `as the source wants it${pinned}` };
  }
  if (state === 'waiting') {
    const fix = plannedStepOf(question, view).state === 'waiting' ? fixRollout : fixSettle;
    return { check: 'content', evidence: reason, fails: fix(question, view.settings.vocabulary) };
  }
  const evidence = state === 'missing' ? 'it does not exist yet' : reason;
  return { check: 'content', evidence, fails: { by: 'controller' } };
}

const CHECKS: readonly CheckFunction[] = [
  checkLabel,
  checkAnnotations,
  checkTarget,
  checkBounds,
  checkNamespace,
  checkConsent,
  checkRead,
  checkName,
  checkValues,
  checkContent,
];

const ADMINISTRATOR: Remedy = {
  words: 'The administrator decides this, by flags and permissions of the controller.',
};

function stepOf(question: Question, view: ClusterView): Step {
  const step = plannedStepOf(question, view);
  return onceQuiet([step], shapeOf(question, view), view)[0] ?? step;
}

/** If the source were quiet (SPEC D7). */
function plannedStepOf(question: Question, view: ClusterView): Step {
  return planCompanion(companionOf(question), question.actual, shapeOf(question, view), view);
}

function shapeOf(question: Question, view: ClusterView): CompanionShape {
  const { live, rendering } = question;
  if (live === undefined) throw new TypeError('the label was checked first');
  return desiredOf(live, requestOf(question), rendering, view).shape;
}

function companionOf(question: Question): ObjectKey {
  return objectKey(question.namespace, requestOf(question).companionName);
}

function requestOf({ live }: Question): MirrorRequest {
  if (!live?.request?.ok) throw new TypeError('the annotations were checked first');
  return live.request.value;
}
