import { type Cast, GUEST, TEAMS } from './cast.ts';
import { annotateConfigMap, createConfigMap, createNamespace, deleteConfigMap } from './command.ts';
import { allFollow, allHold, isAnyThere, isUntouched } from './sight.ts';
import type { Chapter, Step } from './step.ts';

const [TEAM_A, TEAM_B, TEAM_C] = TEAMS;

export function manyNamespaces(cast: Cast): Chapter {
  return {
    title: 'Many namespaces',
    steps: [target(cast), newNamespace(cast), takenName(cast), conflict(cast), narrow(cast), remove(cast)],
  };
}

function target({ source, companion, companionIn, vocabulary, home }: Cast): Step {
  const companions = [companion, companionIn(TEAM_A), companionIn(TEAM_B)];
  return {
    title: 'Name the namespaces that get a companion',
    story:
      `An annotation lists them: ${home} itself, and all whose names begin with demo-team-. Only now, when a source ` +
      'asks for it, does the controller watch Namespaces.',
    commands: [
      createNamespace(TEAM_A),
      createNamespace(TEAM_B),
      annotateConfigMap(source, vocabulary.targetNamespaces, `${home},demo-team-*`),
    ],
    expected: `a companion in each of ${home}, ${TEAM_A} and ${TEAM_B}`,
    effect: (scene) =>
      allFollow(companions, source, scene) ? `companions in ${home}, ${TEAM_A} and ${TEAM_B}` : undefined,
  };
}

function newNamespace({ source, companionIn }: Cast): Step {
  const companion = companionIn(TEAM_C);
  return {
    title: 'Create one more namespace',
    story:
      'An index finds the sources that a new namespace concerns. Only their keys are queued, however many other ' +
      'sources there are.',
    commands: [createNamespace(TEAM_C)],
    expected: `${companion}, like ${source}`,
    effect: (scene) => (allFollow([companion], source, scene) ? `${companion} is there` : undefined),
  };
}

function takenName({ companionIn }: Cast): Step {
  const foreign = companionIn(GUEST);
  return {
    title: 'Somebody else has the name',
    story: `In ${GUEST} a ConfigMap of the companion's name is there already. It is none of the controller's business.`,
    commands: [createNamespace(GUEST), createConfigMap(foreign, { owner: 'guest' })],
    expected: `${foreign} with owner=guest`,
    effect: (scene) =>
      allHold([foreign], { owner: 'guest' }, scene) ? `${foreign} holds owner=guest` : undefined,
  };
}

function conflict({ source, companionIn, vocabulary, home }: Cast): Step {
  const foreign = companionIn(GUEST);
  return {
    title: 'Ask for a companion there all the same',
    story:
      'The controller never writes to what is not its own. It reports the conflict, once, goes on with the others, ' +
      'and looks again within 30 s: when the name is free, the companion appears.',
    commands: [annotateConfigMap(source, vocabulary.targetNamespaces, `${home},demo-team-*,${GUEST}`)],
    expected: `the controller to report a conflict at ${foreign}, and to leave that as it is`,
    effect: (scene) => {
      const report = scene.log.find(
        ({ message, fields }) =>
          message === 'companion in conflict' && fields['companion'] === String(foreign),
      );
      return report !== undefined && isUntouched(foreign, scene)
        ? `left alone, and in the log: ${report.message}: ${String(report.fields['reason'])}`
        : undefined;
    },
  };
}

function narrow({ source, companion, companionIn, vocabulary, home }: Cast): Step {
  const unwanted = [companionIn(TEAM_B), companionIn(TEAM_C)];
  return {
    title: 'Narrow the list',
    story:
      'What is no longer asked for goes. Each delete names the uid and the version that it is meant for, so it can ' +
      'never hit anything else.',
    commands: [annotateConfigMap(source, vocabulary.targetNamespaces, `${home},${TEAM_A}`)],
    expected: `companions in ${home} and ${TEAM_A} only, and ${companionIn(GUEST)} untouched`,
    effect: (scene) =>
      !isAnyThere(unwanted, scene) &&
      allFollow([companion, companionIn(TEAM_A)], source, scene) &&
      isUntouched(companionIn(GUEST), scene)
        ? `gone from ${TEAM_B} and ${TEAM_C}; still in ${home} and ${TEAM_A}`
        : undefined,
  };
}

function remove({ source, companion, companionIn, home }: Cast): Step {
  const there = companionIn(TEAM_A);
  return {
    title: 'Delete the source',
    story:
      `The companion in ${home} goes by garbage collection: the source owns it. No owner reference may cross ` +
      'namespaces, so the other one is deleted by the controller, once it has asked the API server whether the ' +
      'source is really gone.',
    commands: [deleteConfigMap(source)],
    expected: `no ${source}, no ${companion}, no ${there}, and ${companionIn(GUEST)} untouched`,
    effect: (scene) =>
      !isAnyThere([source, companion, there], scene) && isUntouched(companionIn(GUEST), scene)
        ? `all gone, except ${companionIn(GUEST)}: that was never ours`
        : undefined,
  };
}
