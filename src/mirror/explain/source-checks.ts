import { splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { approvedWaves } from '../plan/brake.ts';
import { isOutOfScope } from '../plan/placement.ts';
import { waveOn } from '../plan/removal.ts';
import type { ClusterView } from '../plan/view.ts';
import { MANAGED_COMPANION, MANAGED_REVISION, MANAGED_SOURCE, MANAGED_VALUES } from '../vocabulary.ts';
import type { Finding } from './finding.ts';
import { type Question, sourceOf } from './question.ts';
import { annotationRemarks } from './remarks.ts';
import { ADMINISTRATOR, fixAnnotations, type Remedy } from './remedies.ts';

export function checkLabel({ source, live }: Question, view: ClusterView): Finding {
  const failing = (evidence: string, fails: Remedy): Finding => ({ check: 'label', evidence, fails });
  if (live === undefined) {
    const { namespace, name } = splitKey(source);
    return failing(`there is no ConfigMap ${name} in namespace ${namespace}`, {
      words: 'Create it, or check its name and namespace. Names are NAMESPACE/NAME, not TYPE/NAME.',
    });
  }
  if (live.request === undefined) return failing(...whyNoSource(live, view));
  if (isOutOfScope(source, view)) {
    return failing("the source's namespace is not among --namespaces", ADMINISTRATOR);
  }
  if (live.deleting) {
    return failing('the source is being deleted', { words: 'Create it again when it is gone.' });
  }
  return { check: 'label', evidence: `${view.settings.vocabulary.managed}=${MANAGED_SOURCE}` };
}

/** The evidence, and what would change it. */
function whyNoSource(live: ObservedConfigMap, view: ClusterView): [evidence: string, Remedy] {
  const { managed, valuesFrom } = view.settings.vocabulary;
  const value = live.labels[managed];
  switch (value) {
    case MANAGED_SOURCE:
      return [
        'it is a companion itself, and a companion is never a source',
        { words: 'Ask about its source instead.' },
      ];
    case MANAGED_VALUES: {
      const users = view.valuesUsers(live.key).map(({ key }) => key);
      const words =
        users.length === 0
          ? `No source uses a text of it. ${valuesFrom} alone, without a placeholder, does not.`
          : `Ask about a source that uses it: ${users.slice(0, 5).join(', ')}.`;
      return [`it holds values for sources (${managed}=${value})`, { words }];
    }
    case MANAGED_COMPANION:
    case MANAGED_REVISION:
      return [
        `the label says that it is a ${value}, but it names no source`,
        { words: 'The controller leaves it alone. Delete it if nobody needs it.' },
      ];
    default: {
      const is = value === undefined ? 'missing' : `"${value}", not "${MANAGED_SOURCE}"`;
      const label = { verb: 'label', kind: 'configmap', ...splitKey(live.key), key: managed } as const;
      return [`the label ${managed} is ${is}`, { command: { ...label, value: MANAGED_SOURCE } }];
    }
  }
}

export function checkAnnotations(question: Question, view: ClusterView): Finding {
  const { vocabulary } = view.settings;
  const source = sourceOf(question);
  if (source.request?.ok === false) {
    const { problem } = source.request;
    return { check: 'annotations', evidence: problem, fails: fixAnnotations(question, problem, vocabulary) };
  }
  const prefix = `${vocabulary.domain}/`;
  const ours = Object.entries(source.annotations)
    .filter(([key]) => key.startsWith(prefix) && Object.values(vocabulary).includes(key))
    .map(([key, value]) => `${key.slice(prefix.length)}: ${value}`);
  const remarks = [...annotationRemarks(source, vocabulary), ...idleWaves(source, view)];
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
