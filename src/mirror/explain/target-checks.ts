import { splitKey } from '../../kube/api/object-key.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import { boundsRefusal, consentTo, mayMatchUnread } from '../plan/placement.ts';
import type { ClusterView } from '../plan/view.ts';
import { excludingItem, includingItem } from '../request/patterns.ts';
import { matchesTargets } from '../request/targets.ts';
import type { Result } from './finding.ts';
import { companionOf, type Question, requestOf } from './question.ts';
import { ADMINISTRATOR, fixConsent, fixName, fixTargets } from './remedies.ts';

export function checkTarget(question: Question, view: ClusterView): Result {
  const { source, namespace: name } = question;
  const { targets } = requestOf(question);
  const { vocabulary, bounds } = view.settings;
  const own = splitKey(source).namespace;
  const refusal = boundsRefusal(name, own, bounds);
  const failing = (evidence: string): Result =>
    refusal === undefined
      ? { evidence, fails: fixTargets(question, vocabulary) }
      : { evidence: `${evidence}, and ${refusal}`, fails: ADMINISTRATOR };
  if (targets === undefined) {
    return name === own
      ? { evidence: 'without target annotations the companion is beside the source' }
      : failing(`without target annotations the only companion is beside the source, in ${own}`);
  }
  if (companionOf(question) === source) {
    return {
      evidence: "companions have the source's own name, so there is none beside it",
      fails: fixName(question, vocabulary),
    };
  }
  const namespace = view.namespace(name);
  const exclusion = excludingItem(targets.patterns, name);
  if (exclusion !== undefined) return failing(`"!${exclusion}" in target-namespaces excludes ${name}`);
  const inclusion = includingItem(targets.patterns, name);
  if (inclusion !== undefined) return { evidence: `"${inclusion}" in target-namespaces matches ${name}` };
  if (matchesTargets(targets, { name, labels: namespace?.labels })) {
    return { evidence: `target-namespace-selector matches the labels of ${name}` };
  }
  return namespace !== undefined && mayMatchUnread(targets, namespace)
    ? {
        evidence: `the labels of Namespace ${name} may not be read, so the selector cannot match`,
        fails: ADMINISTRATOR,
      }
    : failing(`nothing in the target annotations matches ${name}`);
}

export function checkBounds({ source, namespace }: Question, { settings: { bounds } }: ClusterView): Result {
  const own = splitKey(source).namespace;
  const refusal = boundsRefusal(namespace, own, bounds);
  if (refusal !== undefined) return { evidence: refusal, fails: ADMINISTRATOR };
  const evidence =
    namespace === own ? 'always allowed in its own namespace' : "allowed by the controller's flags";
  return { evidence };
}

export function checkNamespace(question: Question, view: ClusterView): Result {
  const { namespace: name, source } = question;
  const namespace = view.namespace(name);
  const needsIt = requestOf(question).targets !== undefined || name !== splitKey(source).namespace;
  if (namespace?.active === false) {
    const words = 'Wait until it is gone, and create it again.';
    return { evidence: `${name} is being deleted`, fails: { words } };
  }
  if (namespace === undefined && needsIt) {
    const command = { verb: 'create', kind: 'namespace', name } as const;
    const caution = 'Other sources that target it get companions there, too.';
    return { evidence: `${name} does not exist`, fails: { command, caution } };
  }
  return { evidence: `${name} exists` };
}

export function checkConsent({ source, namespace: name }: Question, view: ClusterView): Result {
  const { bounds, vocabulary } = view.settings;
  const from = splitKey(source).namespace;
  const namespace = view.namespace(name);
  if (name === from || namespace === undefined) {
    return { evidence: 'a namespace accepts its own sources' };
  }
  const permission = consentTo(from, namespace.consent, bounds.requireConsent);
  if (permission.kind !== 'permitted') {
    return { evidence: permission.reason, fails: fixConsent(namespace, from, vocabulary) };
  }
  return { evidence: consentInWords(namespace, from) };
}

function consentInWords({ name, consent }: ObservedNamespace, from: string): string {
  if (consent.kind !== 'accepts') return `${name} has no accept-mirrors-from, so it accepts all namespaces`;
  return `"${includingItem(consent.patterns, from)}" in accept-mirrors-from of ${name} matches ${from}`;
}
