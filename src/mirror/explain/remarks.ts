import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { type ObservedConfigMap, usesOf } from '../observe/observed-config-map.ts';
import { quoted } from '../parsed.ts';
import { approvedWaves } from '../plan/brake.ts';
import type { Step } from '../plan/step.ts';
import type { ClusterView } from '../plan/view.ts';
import { parseNotify } from '../request/notify.ts';
import { unknownAnnotations } from '../request/unknown-annotations.ts';
import type { Rollout, RolloutRemark } from '../rollout/rollout.ts';
import { DEFAULT_DOMAIN, type Vocabulary } from '../vocabulary.ts';

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
  view: ClusterView,
  {
    rollout,
    isFlapping = false,
  }: { readonly rollout?: Rollout | undefined; readonly isFlapping?: boolean } = {},
): readonly Remark[] {
  const { vocabulary } = view.settings;
  const { remark, unknownVerdict: verdict } = rollout ?? {};
  return [
    ...heldDeletions(steps, 'it', approvedWaves(source.key, source, view), source.key, vocabulary),
    ...(remark === undefined ? [] : [remark]),
    ...(isFlapping ? [flapping(vocabulary)] : []),
    ...unresolved(steps),
    ...annotationRemarks(source, vocabulary).map((text): Remark => ({ kind: 'annotation', text })),
    ...unconsented(steps),
    ...(verdict === undefined ? [] : [{ kind: 'annotation', text: verdict } as const]),
  ];
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

/** Matching namespaces, not named exactly, that are refused for want of consent (SPEC P3). */
function unconsented(steps: readonly Step[]): readonly Remark[] {
  const { length } = steps.filter((step) => step.state === 'refused' && step.unsaid && !step.named);
  if (length === 0) return [];
  const which = `${length} matching ${length === 1 ? 'namespace has' : 'namespaces have'}`;
  const text = `${which} no accept-mirrors-from, and --require-consent is set`;
  return [{ kind: 'no consent', text, topic: 'no consent' }];
}

/**
 * The same for a source that is gone or unlabelled.
 * @param live what a live read found at the source's key; undefined: nothing
 */
export function remarksOnOrphans(
  source: ObjectKey,
  live: ObservedConfigMap | undefined,
  steps: readonly Step[],
  view: ClusterView,
): readonly Remark[] {
  const where = `Namespace ${splitKey(source).namespace}`;
  return heldDeletions(steps, where, approvedWaves(source, live, view), source, view.settings.vocabulary);
}

/**
 * At most one remark.
 * @param where what to annotate
 * @param approved the waves that it lists now: others, or these would not be held
 */
function heldDeletions(
  steps: readonly Step[],
  where: string,
  approved: ReadonlySet<string>,
  source: ObjectKey,
  { allowDeletes, domain }: Vocabulary,
): readonly Remark[] {
  const held = steps.filter((step) => step.state === 'held');
  if (held.length === 0) return [];
  const waves = [...new Set(held.map(({ wave }) => wave))].join(',');
  const what = `${held.length} ${held.length === 1 ? 'deletion is' : 'deletions are'} held (wave ${waves})`;
  const flags = domain === DEFAULT_DOMAIN ? '' : ` --domain ${domain}`;
  const release = `mirror-controller release ${source}${flags}, or annotate ${where} with ${allowDeletes}=${waves}`;
  const others = approved.size === 0 ? '' : `; ${quoted([...approved].join())} does not release them`;
  const text = `${what}; if that is intended: ${release}${others}`;
  return [{ kind: 'deletes held', text, topic: `${waves}${others}` }];
}
