import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { type ObservedConfigMap, usesOf } from '../observe/observed-config-map.ts';
import { type Step, unconsentedMatches } from '../plan/step.ts';
import { parseNotify } from '../request/notify.ts';
import { unknownAnnotations } from '../request/unknown-annotations.ts';
import type { Rollout, RolloutRemark } from '../rollout/rollout.ts';
import type { Vocabulary } from '../vocabulary.ts';

export interface Remark {
  readonly kind:
    | 'deletes held'
    | 'flapping'
    | 'unresolved'
    | 'annotation'
    | 'no consent'
    | RolloutRemark['kind'];
  /** One sentence. */
  readonly text: string;
  /** What makes it news, where that is not the text: a number in it may change by itself. */
  readonly topic?: string;
}

/**
 * What the author of a valid source should know: what is held, what new content waits for, and what
 * was probably not meant (SPEC D1, D5-D7, V4, R13, N1, P3).
 */
export function remarksOn(
  source: ObservedConfigMap,
  steps: readonly Step[],
  vocabulary: Vocabulary,
  {
    rollout,
    isFlapping = false,
  }: { readonly rollout?: Rollout | undefined; readonly isFlapping?: boolean } = {},
): readonly Remark[] {
  const remarks: Remark[] = annotationRemarks(source, vocabulary).map(
    (text): Remark => ({ kind: 'annotation', text }),
  );
  remarks.unshift(...unresolved(steps));
  if (isFlapping) remarks.unshift(flapping(vocabulary));
  if (rollout?.remark !== undefined) remarks.unshift(rollout.remark);
  const unconsented = unconsentedMatches(steps);
  if (unconsented > 0) {
    const text = `${unconsented} matching ${unconsented === 1 ? 'namespace has' : 'namespaces have'} no accept-mirrors-from, and --require-consent is set`;
    remarks.push({ kind: 'no consent', text, topic: 'no consent' });
  }
  return [...heldDeletions(steps, source.key, 'it', vocabulary), ...remarks];
}

/** A sentence for each annotation of a valid source that is unknown or has no effect. */
export function annotationRemarks(source: ObservedConfigMap, vocabulary: Vocabulary): readonly string[] {
  const { annotations } = source;
  const sinks = parseNotify(annotations[vocabulary.notify] ?? 'none');
  const rendersNothing = annotations[vocabulary.renderKeys] !== undefined && usesOf(source) === undefined;
  return [
    ...unknownAnnotations(source, vocabulary),
    ...(rendersNothing
      ? [`${vocabulary.renderKeys} has no effect: no text that it selects has a placeholder`]
      : []),
    ...(sinks.ok ? [] : [`${vocabulary.notify}: ${sinks.problem}; no sink is notified`]),
  ];
}

function flapping({ settle }: Vocabulary): Remark {
  const text = `it has changed more than ten times within a minute; set ${settle}, or a longer one, to mirror it only when it is quiet`;
  return { kind: 'flapping', text };
}

/** Most reasons that are named at once. */
const MOST_REASONS = 3;

/** One for each reason, however many namespaces it concerns. */
function unresolved(steps: readonly Step[]): readonly Remark[] {
  const namespaces = new Map<string, string[]>();
  for (const { state, reason, companion } of steps) {
    if (state !== 'unresolved') continue;
    const { namespace } = splitKey(companion);
    const others = namespaces.get(reason);
    if (others === undefined) namespaces.set(reason, [namespace]);
    else others.push(namespace);
  }
  const reasons = [...namespaces].sort(([a], [b]) => (a < b ? -1 : 1));
  const remarks = reasons.map(([reason, where]): Remark => {
    const [first] = where.toSorted();
    const more = where.length === 1 ? '' : ` and ${where.length - 1} more`;
    const text = `nothing is written in ${first}${more}: ${reason}`;
    return { kind: 'unresolved', text, topic: `${first}: ${reason}` };
  });
  const left = remarks.length - MOST_REASONS;
  if (left <= 0) return remarks;
  return [...remarks.slice(0, MOST_REASONS), { kind: 'unresolved', text: `${left} more reasons` }];
}

/** The same for a source that is gone or unlabelled. */
export function remarksOnOrphans(
  source: ObjectKey,
  steps: readonly Step[],
  vocabulary: Vocabulary,
): readonly Remark[] {
  return heldDeletions(steps, source, `Namespace ${splitKey(source).namespace}`, vocabulary);
}

/** At most one remark. `where`: what to annotate. */
function heldDeletions(
  steps: readonly Step[],
  source: ObjectKey,
  where: string,
  { allowDeletes }: Vocabulary,
): readonly Remark[] {
  const held = steps.filter((step) => step.state === 'held');
  if (held.length === 0) return [];
  const waves = [...new Set(held.map(({ wave }) => wave))].join(',');
  const what = `${held.length} ${held.length === 1 ? 'deletion is' : 'deletions are'} held (wave ${waves})`;
  const release = `mirror-controller release ${source}, or annotate ${where} with ${allowDeletes}=${waves}`;
  return [{ kind: 'deletes held', text: `${what}; if that is intended: ${release}`, topic: waves }];
}
