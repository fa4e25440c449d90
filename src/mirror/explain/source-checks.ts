import { splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { approvedWaves } from '../plan/brake.ts';
import { isOutOfScope } from '../plan/placement.ts';
import { waveOn } from '../plan/removal.ts';
import type { ClusterView } from '../plan/view.ts';
import { MANAGED_COMPANION, MANAGED_REVISION, MANAGED_SOURCE, MANAGED_VALUES } from '../vocabulary.ts';
import type { Result } from './finding.ts';
import { type Question, sourceOf } from './question.ts';
import { annotationRemarks } from './remarks.ts';
import { ADMINISTRATOR, fixAnnotations, LEFT_ALONE } from './remedies.ts';

export function checkLabel({ source, live, actual }: Question, view: ClusterView): Result {
  if (live === undefined) {
    const { namespace, name } = splitKey(source);
    const words =
      actual === undefined
        ? 'Create it, or check its name and namespace. Names are NAMESPACE/NAME, not TYPE/NAME.'
        : 'Create it again if its companions are still needed.';
    return { evidence: `there is no ConfigMap ${name} in namespace ${namespace}`, fails: { words } };
  }
  if (live.request === undefined) return noSource(live, view);
  if (isOutOfScope(source, view)) {
    return { evidence: "the source's namespace is not among --namespaces", fails: ADMINISTRATOR };
  }
  if (live.deleting) {
    return { evidence: 'the source is being deleted', fails: { words: 'Create it again when it is gone.' } };
  }
  return { evidence: `${view.settings.vocabulary.managed}=${MANAGED_SOURCE}` };
}

function noSource(live: ObservedConfigMap, view: ClusterView): Result {
  const { managed, valuesFrom } = view.settings.vocabulary;
  const value = live.labels[managed];
  switch (value) {
    case MANAGED_SOURCE:
      return {
        evidence: 'it is a companion itself, and a companion is never a source',
        fails: { words: 'Ask about its source instead.' },
      };
    case MANAGED_VALUES: {
      const users = view.valuesUsers(live.key).map(({ key }) => key);
      const words =
        users.length === 0
          ? `No source uses a text of it. ${valuesFrom} alone, without a placeholder, does not.`
          : `Ask about a source that uses it: ${users.slice(0, 5).join(', ')}.`;
      return { evidence: `it holds values for sources (${managed}=${value})`, fails: { words } };
    }
    case MANAGED_COMPANION:
    case MANAGED_REVISION:
      return {
        evidence: `the label says that it is a ${value}, but it names no source`,
        fails: LEFT_ALONE,
      };
    default: {
      const label = { verb: 'label', kind: 'configmap', ...splitKey(live.key), key: managed } as const;
      const [user] = view.valuesUsers(live.key);
      if (user !== undefined) {
        const is = value === undefined ? 'missing' : `"${value}"`;
        const evidence = `the label ${managed} is ${is}, and values-from of ${user.key} names it`;
        const caution = 'Its texts will be filled in wherever companions of such sources use them.';
        return { evidence, fails: { command: { ...label, value: MANAGED_VALUES }, caution } };
      }
      const is = value === undefined ? 'missing' : `"${value}", not "${MANAGED_SOURCE}"`;
      const caution = 'It gets companions wherever its annotations say, or without targets one beside it.';
      const fails = { command: { ...label, value: MANAGED_SOURCE }, caution };
      return { evidence: `the label ${managed} is ${is}`, fails };
    }
  }
}

export function checkAnnotations(question: Question, view: ClusterView): Result {
  const { vocabulary } = view.settings;
  const source = sourceOf(question);
  if (source.request?.ok === false) {
    const { problem } = source.request;
    return { evidence: problem, fails: fixAnnotations(question, problem, vocabulary) };
  }
  const prefix = `${vocabulary.domain}/`;
  const ours = Object.entries(source.annotations)
    .filter(([key]) => key.startsWith(prefix) && Object.values(vocabulary).includes(key))
    .map(([key, value]) => `${key.slice(prefix.length)}: ${value}`);
  const remarks = [...annotationRemarks(source, vocabulary), ...idleWaves(source, view)];
  const evidence = ours.length === 0 ? 'none, so the companion is beside the source' : ours.join('; ');
  return { evidence: [evidence, ...remarks].join('; but ') };
}

/** Usual once a wave is deleted, so only `explain` says it (SPEC D2). */
function idleWaves(source: ObservedConfigMap, view: ClusterView): readonly string[] {
  const { vocabulary } = view.settings;
  const held = new Set(view.referrers(source).map((object) => waveOn(object, vocabulary)));
  const idle = [...approvedWaves(source.key, source, view)].filter((wave) => !held.has(wave));
  return idle.length === 0
    ? []
    : [`${vocabulary.allowDeletes}: no companion is held with ${idle.join(', ')}`];
}
