import { splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { approvedWaves } from '../plan/brake.ts';
import { isOutOfScope } from '../plan/placement.ts';
import { waveOn } from '../plan/removal.ts';
import type { ClusterView } from '../plan/view.ts';
import { MANAGED_COMPANION, MANAGED_REVISION, MANAGED_SOURCE, MANAGED_VALUES } from '../vocabulary.ts';
import { ADMINISTRATOR, type Finding, type Question } from './finding.ts';
import { annotationRemarks } from './remarks.ts';
import { fixAnnotations, type Remedy } from './remedies.ts';

export function checkLabel({ source, live }: Question, view: ClusterView): Finding {
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
        ? {
            words: `No source uses a text of it. ${vocabulary.valuesFrom} alone, without a placeholder, does not.`,
          }
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

export function checkAnnotations(question: Question, view: ClusterView): Finding {
  const { vocabulary } = view.settings;
  const { live } = question;
  if (live?.request?.ok === false) {
    const { problem } = live.request;
    return { check: 'annotations', evidence: problem, fails: fixAnnotations(question, problem, vocabulary) };
  }
  const prefix = `${vocabulary.domain}/`;
  const ours = Object.entries(live?.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix) && Object.values(vocabulary).includes(key))
    .map(([key, value]) => `${key.slice(prefix.length)}: ${value}`);
  const remarks =
    live === undefined ? [] : [...annotationRemarks(live, vocabulary), ...idleWaves(live, view)];
  const evidence = ours.length === 0 ? 'none, so the companion is beside the source' : ours.join('; ');
  return { check: 'annotations', evidence: [evidence, ...remarks].join('; but ') };
}

/** Usual once a wave is deleted, so only a person who asks is told (SPEC D2). */
function idleWaves(source: ObservedConfigMap, view: ClusterView): readonly string[] {
  const { vocabulary } = view.settings;
  const held = new Set(view.referrers(source).map((object) => waveOn(object, vocabulary)));
  const idle = [...approvedWaves(source.key, source, view)].filter((wave) => !held.has(wave));
  return idle.length === 0
    ? []
    : [`${vocabulary.allowDeletes}: no companion is held with ${idle.join(', ')}`];
}
