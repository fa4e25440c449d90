import { isCompanionOf } from '../companion/ownership.ts';
import { sourceReference, usesOf } from '../observe/observed-config-map.ts';
import { type Desired, desiredOf } from '../plan/desired.ts';
import { planCompanion } from '../plan/plan.ts';
import { onceQuiet } from '../plan/settle.ts';
import type { Step } from '../plan/step.ts';
import type { ClusterView } from '../plan/view.ts';
import type { Result } from './finding.ts';
import { whyBlocked, whyNotOf } from './inventory.ts';
import { companionOf, type Question, requestOf, sourceOf } from './question.ts';
import { fixName, fixRollout, fixSettle, LEFT_ALONE } from './remedies.ts';

/** If an object was named that is not a companion, nothing that the source says matters. */
export function checkMarks(question: Question, view: ClusterView): Result | undefined {
  const { source, live, name, actual } = question;
  const { vocabulary } = view.settings;
  if (name === undefined || actual === undefined) return undefined;
  if (sourceReference(actual, vocabulary) !== source) return undefined;
  if (isCompanionOf(actual, { key: source, uid: live?.uid }, vocabulary)) return undefined;
  return { evidence: whyNotOf(source, actual, vocabulary), fails: LEFT_ALONE };
}

/** Nothing can be said of a source whose content is not known. */
export function checkRead(question: Question): Result | undefined {
  if (usesOf(sourceOf(question)) === undefined || question.rendering !== undefined) return undefined;
  const evidence = 'the source or its values have just changed';
  return { evidence, fails: { words: 'Run the command again.' } };
}

export function checkName(question: Question, view: ClusterView): Result {
  const { name } = question;
  const { companionName } = requestOf(question);
  if (name !== undefined && name !== companionName) {
    const evidence = `companions of the source are named ${companionName} now`;
    return { evidence, fails: { words: 'Ask about that one instead.' } };
  }
  const { state, reason } = stepOf(question, view);
  const companion = companionOf(question);
  if (state === 'conflict') return { evidence: reason, fails: fixName(question, view) };
  if (question.actual?.deleting) {
    return { evidence: reason, fails: { words: 'Wait until it is gone.' } };
  }
  const evidence =
    question.actual === undefined ? `${companion} is free` : `${companion} is this source's companion`;
  return { evidence };
}

/** Where the text of each placeholder comes from, never the text. */
export function checkValues(question: Question, view: ClusterView): Result | undefined {
  const { rendering, namespace, actual } = question;
  if (rendering === undefined) return undefined;
  const edition = desiredFor(question, view).shape.editionIn(namespace, actual);
  const revision = 'revision' in edition ? edition.revision : undefined;
  const origins = rendering.originsIn(namespace, revision ?? sourceOf(question));
  const lack = origins.find((origin) => origin.lack !== undefined)?.lack;
  if ('missing' in edition && edition.isUnresolved) {
    const words = lack?.fix ?? 'Shorten the text or the values.';
    return { evidence: edition.missing, fails: { words } };
  }
  const evidence = origins.map(({ placeholder, from }) => `${placeholder} is ${from}`).join('; ');
  return origins.length === 0 ? undefined : { evidence };
}

export function checkContent(question: Question, view: ClusterView): Result {
  const step = stepOf(question, view);
  if (step.state === 'in sync') {
    const { pin } = requestOf(question).rollout ?? {};
    const pinned = pin === undefined ? '' : `: it is pinned to ${pin}`;
    return { evidence: `as the source wants it${pinned}` };
  }
  if (step.state === 'waiting') {
    const fix = plannedStepOf(question, view).state === 'waiting' ? fixRollout : fixSettle;
    return { evidence: step.reason, fails: fix(question, view.settings.vocabulary) };
  }
  const blocked = whyBlocked(desiredFor(question, view), [step], view);
  if (blocked !== undefined) {
    const words = 'Delete that ConfigMap if nobody needs it, or keep no revisions.';
    return { evidence: blocked, fails: { words } };
  }
  const evidence = step.state === 'missing' ? 'it does not exist yet' : step.reason;
  return { evidence, fails: { by: 'controller' } };
}

function stepOf(question: Question, view: ClusterView): Step {
  const step = plannedStepOf(question, view);
  return onceQuiet([step], desiredFor(question, view).shape, view)[0] ?? step;
}

/** If the source were quiet (SPEC D7). */
function plannedStepOf(question: Question, view: ClusterView): Step {
  return planCompanion(companionOf(question), question.actual, desiredFor(question, view).shape, view);
}

function desiredFor(question: Question, view: ClusterView): Desired {
  return desiredOf(sourceOf(question), requestOf(question), question.rendering, view);
}
