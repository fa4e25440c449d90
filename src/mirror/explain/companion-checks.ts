import type { CompanionShape } from '../companion/companion.ts';
import { usesOf } from '../observe/observed-config-map.ts';
import { desiredOf } from '../plan/desired.ts';
import { planCompanion } from '../plan/plan.ts';
import { onceQuiet } from '../plan/settle.ts';
import type { Step } from '../plan/step.ts';
import type { ClusterView } from '../plan/view.ts';
import { companionOf, type Finding, type Question, requestOf } from './finding.ts';
import { fixName, fixRollout, fixSettle } from './remedies.ts';

/** Nothing can be said of a source whose content is not known. */
export function checkRead({ live, rendering }: Question): Finding | undefined {
  if (live === undefined || usesOf(live) === undefined || rendering !== undefined) return undefined;
  const evidence = 'the source or its values have just changed';
  return { check: 'values', evidence, fails: { words: 'Run the command again.' } };
}

export function checkName(question: Question, view: ClusterView): Finding {
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
export function checkValues(question: Question, view: ClusterView): Finding | undefined {
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

export function checkContent(question: Question, view: ClusterView): Finding {
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
