import { annotateConfigMap, createConfigMap, createNamespace, deleteConfigMap } from './commands.ts';
import { companionIn, GUEST, type Setting, TEAMS } from './setting.ts';
import type { Step } from './step.ts';

const [TEAM_A, TEAM_B, TEAM_C] = TEAMS;
const [IN_A, IN_B, IN_C] = [companionIn(TEAM_A), companionIn(TEAM_B), companionIn(TEAM_C)];
/** Not a companion: an unrelated object has the name. */
const UNRELATED = companionIn(GUEST);

export function manyNamespaces({ source, companion, vocabulary, home }: Setting): readonly Step[] {
  const target = (list: string) => annotateConfigMap(source, vocabulary.targetNamespaces, list);
  return [
    {
      title: 'Name the namespaces that get a companion',
      story:
        `An annotation lists them: ${home} itself, and all whose names begin with demo-team-. The controller starts ` +
        'to watch Namespaces only now, when a source asks for it.',
      commands: [createNamespace(TEAM_A), createNamespace(TEAM_B), target(`${home},demo-team-*`)],
      expected: `a companion in each of ${home}, ${TEAM_A} and ${TEAM_B}`,
      effect: (view) =>
        view.hold([companion, IN_A, IN_B], view.now(source)?.data) &&
        `companions in ${home}, ${TEAM_A} and ${TEAM_B}`,
    },
    {
      title: 'Create one more namespace',
      story:
        'An index finds the sources that target the new namespace. The controller queues only their keys, however ' +
        'many other sources there are.',
      commands: [createNamespace(TEAM_C)],
      expected: `${IN_C}, like ${source}`,
      effect: (view) => view.hold([IN_C], view.now(source)?.data) && `${IN_C} exists`,
    },
    {
      title: 'Take the name in another namespace',
      story: `An unrelated ConfigMap takes the companion's name in ${GUEST}.`,
      commands: [createNamespace(GUEST), createConfigMap(UNRELATED, { owner: 'guest' })],
      expected: `${UNRELATED} with owner=guest`,
      effect: (view) => view.hold([UNRELATED], { owner: 'guest' }) && `${UNRELATED} holds owner=guest`,
    },
    {
      title: 'Ask for a companion there anyway',
      story:
        'The controller never writes to an unrelated object. It reports the conflict once and goes on with the other ' +
        'companions. When the name is free, the companion appears within 30 s.',
      commands: [target(`${home},demo-team-*,${GUEST}`)],
      expected: `the controller to report a conflict at ${UNRELATED}, and to leave it as it is`,
      effect: (view) =>
        view.isUntouched(UNRELATED) &&
        view.log.some(({ level, companion }) => level === 'warn' && companion === UNRELATED) &&
        `${UNRELATED} is left alone, and the conflict is reported`,
    },
    {
      title: 'Narrow the list',
      story:
        'The controller deletes companions that the source no longer asks for. Each delete names the uid and the ' +
        'version of the object, so it cannot hit any other.',
      commands: [target(`${home},${TEAM_A}`)],
      expected: `companions in ${home} and ${TEAM_A} only, and ${UNRELATED} untouched`,
      effect: (view) =>
        !view.now(IN_B) &&
        !view.now(IN_C) &&
        view.hold([companion, IN_A], view.now(source)?.data) &&
        view.isUntouched(UNRELATED) &&
        `deleted in ${TEAM_B} and ${TEAM_C}; still in ${home} and ${TEAM_A}`,
    },
    {
      title: 'Delete the source',
      story:
        `Garbage collection deletes the companion in ${home}, because the source owns it. Owner references cannot ` +
        'cross namespaces, so the controller deletes the other one, after it has asked the API server whether the ' +
        'source is really gone.',
      commands: [deleteConfigMap(source)],
      expected: `no ${source}, no ${companion}, no ${IN_A}, and ${UNRELATED} untouched`,
      effect: (view) =>
        ![source, companion, IN_A].some((key) => view.now(key)) &&
        view.isUntouched(UNRELATED) &&
        `all deleted, except the unrelated ${UNRELATED}`,
    },
  ];
}
