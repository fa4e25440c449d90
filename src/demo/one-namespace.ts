import { createConfigMap, deleteConfigMap, labelConfigMap, patchData } from './commands.ts';
import type { Setting } from './setting.ts';
import type { Step } from './step.ts';
import type { View } from './view.ts';

/** Failed writes before the API server recovers: enough to see the delays grow within a second. */
const FAILURES = 5;

export function oneNamespace({ source, companion, vocabulary }: Setting): readonly Step[] {
  return [
    {
      title: 'Create a ConfigMap',
      story:
        'The controller watches only ConfigMaps that have its label. This one does not, so the API server never ' +
        'sends it to the controller.',
      commands: [createConfigMap(source, { sky: 'blue' })],
      expected: `${source} with sky=blue, and no ${companion}`,
      effect: (view) =>
        view.hold([source], { sky: 'blue' }) &&
        view.now(companion) === undefined &&
        `${source} holds sky=blue; there is no companion`,
    },
    {
      title: 'Label it',
      story:
        'Now it is a source. The informer, a cache that follows the API server over a watch, receives it and puts its ' +
        'key on a queue. A worker takes the key and reconciles: the companion is missing, so the worker creates it.',
      commands: [labelConfigMap(source, vocabulary.managed, 'true')],
      expected: `${companion} with sky=blue, owned by ${source}`,
      effect: (view) =>
        view.hold([companion], { sky: 'blue' }) &&
        view.now(companion)?.owners[0] === view.now(source)?.uid &&
        `${companion} holds sky=blue, owned by ${source}`,
    },
    {
      title: 'Edit the source',
      story:
        'The same path again: informer, queue, worker. The worker compares the companion with the source and writes ' +
        'the difference.',
      commands: [patchData(source, { sky: 'orange' })],
      expected: `${companion} to follow with sky=orange`,
      effect: (view) =>
        view.hold([source, companion], { sky: 'orange' }) && `${companion} follows with sky=orange`,
    },
    {
      title: 'Edit the companion by hand',
      story:
        'The controller watches companions too. The queue holds only the key of the source, not what happened: the ' +
        'worker looks at the present state, not at the change. That is called level-triggered.',
      commands: [patchData(companion, { sky: 'black' })],
      expected: `${companion} to be healed to sky=orange, as ${source} has it`,
      // The same content in another version: the edit and the heal lie between.
      effect: (view) =>
        !view.isUntouched(companion) &&
        view.hold([source, companion], { sky: 'orange' }) &&
        `${companion} is healed: sky=orange`,
    },
    {
      title: 'Delete the companion',
      story:
        'This needs nothing new: the companion is missing, so the worker creates it. What goes wrong while the ' +
        'controller is down is fixed in the same way when it starts.',
      commands: [deleteConfigMap(companion)],
      expected: `another ${companion}, with sky=orange`,
      effect: (view) =>
        view.now(companion)?.uid !== view.before(companion)?.uid &&
        view.hold([companion], { sky: 'orange' }) &&
        `${companion} is back: sky=orange, with a new uid`,
    },
    {
      title: 'Let the API server fail for a while',
      story:
        'Now the server answers every write of the controller with 503. The controller retries after a delay that ' +
        'doubles each time, less a random part, so that it does not overload a server in trouble. The first success ' +
        'ends it.',
      commands: [patchData(source, { sky: 'violet' })],
      expected: `${FAILURES} failed writes at growing intervals, then ${companion} with sky=violet`,
      outageUntil: (view) => delaysOf(view).length >= FAILURES,
      effect: (view) =>
        view.hold([source, companion], { sky: 'violet' }) &&
        delaysOf(view).length >= FAILURES &&
        `${delaysOf(view).length} writes failed and were retried after ${delaysOf(view).join(', ')} ms; then ` +
          `${companion} holds sky=violet`,
    },
  ];
}

/** The delay (ms) after each failed write of a companion, according to the controller's log. */
function delaysOf({ log }: View): readonly unknown[] {
  const failed = log.filter(({ companion, retryInMs }) => companion !== undefined && retryInMs !== undefined);
  return failed.map(({ retryInMs }) => retryInMs);
}
