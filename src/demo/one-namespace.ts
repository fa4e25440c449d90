import type { Cast } from './cast.ts';
import { createConfigMap, deleteConfigMap, labelConfigMap, patchData } from './command.ts';
import { allHold, describeData } from './sight.ts';
import type { Chapter, Scene, Step } from './step.ts';

/** So many writes fail before the API server recovers: enough to see the delays grow, in about a second. */
const FAILURES = 5;

export function oneNamespace(cast: Cast): Chapter {
  return {
    title: 'One namespace',
    steps: [create(cast), label(cast), editSource(cast), editCompanion(cast), remove(cast), outage(cast)],
  };
}

function create({ source, companion }: Cast): Step {
  return {
    title: 'Create a ConfigMap',
    story:
      'The controller watches ConfigMaps that bear its label, and no others. This one does not: the controller ' +
      'never hears of it.',
    commands: [createConfigMap(source, { sky: 'blue' })],
    expected: `${source} with sky=blue, and no ${companion}`,
    effect: (scene) =>
      allHold([source], { sky: 'blue' }, scene) && scene.now(companion) === undefined
        ? `${source} holds sky=blue; there is no companion`
        : undefined,
  };
}

function label({ source, companion, vocabulary }: Cast): Step {
  return {
    title: 'Label it',
    story:
      'Now it is a source. The informer, a cache that follows the API server over a watch, hears of it and puts ' +
      'its key on a queue. A worker takes the key and reconciles: the companion should be there, it is not, so it ' +
      'is created.',
    commands: [labelConfigMap(source, vocabulary.managed, 'true')],
    expected: `${companion} with sky=blue, owned by ${source}`,
    effect: (scene) => {
      const owner = scene.now(source)?.uid;
      const isOwned = owner !== undefined && scene.now(companion)?.owners.includes(owner);
      return isOwned && allHold([companion], { sky: 'blue' }, scene)
        ? `${companion} holds sky=blue, owned by ${source}`
        : undefined;
    },
  };
}

function editSource({ source, companion }: Cast): Step {
  return {
    title: 'Edit the source',
    story:
      'The same way again: informer, queue, worker. The worker compares what is with what should be, and writes ' +
      'the difference.',
    commands: [patchData(source, { sky: 'orange' })],
    expected: `${companion} to follow with sky=orange`,
    effect: (scene) =>
      allHold([source, companion], { sky: 'orange' }, scene)
        ? `${companion} follows with sky=orange`
        : undefined,
  };
}

function editCompanion({ source, companion }: Cast): Step {
  return {
    title: 'Edit the companion by hand',
    story:
      'Companions are watched too. What the queue holds is only the key of the source, not what happened: the ' +
      'worker looks at how things are, not at what changed them. That is called level-triggered.',
    commands: [patchData(companion, { sky: 'black' })],
    expected: `${companion} to be healed to sky=orange, as ${source} has it`,
    effect: (scene) => {
      // Between the same content before and after lie two writes: the edit, and the heal.
      const isWritten = scene.now(companion)?.resourceVersion !== scene.before(companion)?.resourceVersion;
      return isWritten && allHold([source, companion], { sky: 'orange' }, scene)
        ? `${companion} is healed: sky=orange`
        : undefined;
    },
  };
}

function remove({ companion }: Cast): Step {
  return {
    title: 'Delete the companion',
    story:
      'Nothing new is needed for this: it should be there, it is not, it is created. What goes wrong while the ' +
      'controller is down is mended in the same way, when it starts.',
    commands: [deleteConfigMap(companion)],
    expected: `another ${companion}, with sky=orange`,
    effect: (scene) => {
      const now = scene.now(companion);
      const isAnother = now !== undefined && now.uid !== scene.before(companion)?.uid;
      return isAnother && allHold([companion], { sky: 'orange' }, scene)
        ? `${companion} is back: ${describeData(now)}, with a new uid`
        : undefined;
    },
  };
}

function outage({ source, companion }: Cast): Step {
  return {
    title: 'Let the API server fail for a while',
    story:
      'Now the server answers every write of the controller with 503. What fails is tried again after a delay that doubles each ' +
      'time, less a random part, so that a server in trouble is not overrun. The first success ends it.',
    commands: [patchData(source, { sky: 'violet' })],
    expected: `${FAILURES} failed writes at growing intervals, then ${companion} with sky=violet`,
    outageUntil: (scene) => delaysOf(scene).length >= FAILURES,
    effect: (scene) => {
      const delays = delaysOf(scene);
      return delays.length >= FAILURES && allHold([source, companion], { sky: 'violet' }, scene)
        ? `${delays.length} writes failed, tried again after ${delays.join(', ')} ms; then ${companion} holds sky=violet`
        : undefined;
    },
  };
}

/** How long the controller waited after each failed write, milliseconds, as its log says. */
function delaysOf({ log }: Scene): readonly number[] {
  return log
    .filter(({ message }) => message === 'companion not written')
    .flatMap(({ fields }) => (typeof fields['retryInMs'] === 'number' ? fields['retryInMs'] : []));
}
