import { createHash } from 'node:crypto';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { type ObservedConfigMap, sourceReference } from '../observe/observed-config-map.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { placementIn } from './placement.ts';
import { isLeftOver, planLeftOver, planOrphan, waveOn } from './removal.ts';
import type { Step } from './step.ts';
import type { Brake, ClusterView, DueDeletions } from './view.ts';

type Deletion = Extract<Step, { readonly action: 'delete' }>;

/**
 * A source's plan, in which the brake holds deletions (SPEC D1). Those that carry a mark are held
 * also without a brake: only a person releases them.
 * @param source undefined: it is gone
 */
export function withBrake(
  key: ObjectKey,
  source: ObservedConfigMap | undefined,
  steps: readonly Step[],
  view: ClusterView,
): readonly Step[] {
  const due = steps.filter(counts);
  if (due.length === 0) return steps;
  const { brake, vocabulary } = view.settings;
  const approved: ReadonlySet<string | undefined> = approvedWaves(key, source, view);
  const markOn = ({ actual }: Deletion) => waveOn(actual, vocabulary);
  const unreleased = due.filter((step) => !approved.has(markOn(step)));
  const isMarked = unreleased.some((step) => markOn(step) !== undefined);
  const isBraking = brake !== undefined && (isMarked || mustHold(key, unreleased, brake, view));
  const wave = isBraking ? waveFor(unreleased, vocabulary) : undefined;
  return steps.map((step) => {
    if (!counts(step)) return step;
    const mark = markOn(step);
    // Also before it is marked: our own marks queue no further plan that would find it allowed.
    const isFree = approved.has(wave) || approved.has(mark);
    const own = wave ?? mark;
    if (own !== undefined && !isFree) return hold(step, own, vocabulary);
    return isFree || brake === undefined ? { ...step, counts: false } : step;
  });
}

/** The waves that `allow-deletes` releases. */
export function approvedWaves(
  key: ObjectKey,
  source: ObservedConfigMap | undefined,
  view: ClusterView,
): ReadonlySet<string> {
  return wavesIn(approvals(key, source, view).join());
}

/** What `allow-deletes` says: on the source, else on its Namespace, too. */
function approvals(
  key: ObjectKey,
  source: ObservedConfigMap | undefined,
  view: ClusterView,
): readonly string[] {
  const home = source?.request === undefined ? view.namespace(splitKey(key).namespace) : undefined;
  const texts = [source?.annotations[view.settings.vocabulary.allowDeletes], home?.allowDeletes];
  return texts.filter((text) => text !== undefined);
}

function wavesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/[\s,]+/).filter((wave) => wave !== ''));
}

function counts(step: Step): step is Deletion {
  return step.action === 'delete' && step.counts;
}

/**
 * Whether the deletions that are due for all sources of the namespace, with these, are too many.
 */
function mustHold(
  source: ObjectKey,
  deletions: readonly Deletion[],
  { count, percent }: Brake,
  view: ClusterView,
): boolean {
  if (deletions.length === 0) return false;
  const { namespace } = splitKey(source);
  const own = deletions.map(({ actual }) => actual.uid);
  const { counted, total, isHeld } = view.dueFrom(namespace, own);
  // What is held holds all else that is due.
  return isHeld || (counted.size >= count && counted.size * 100 >= percent * total);
}

/**
 * What plans would delete, for all sources of one namespace and as far as the cache knows.
 * @param companions those of these sources, and whatever else refers to them
 * @param recent uids of those that were deleted lately, or were to be, and that the brake counts
 */
export function dueAmong(
  companions: readonly ObservedConfigMap[],
  recent: ReadonlySet<string>,
  view: ClusterView,
): DueDeletions {
  const isReleased = releasesIn(view);
  const counted = new Set(recent);
  let wanted = 0;
  let isHeld = false;
  for (const companion of companions) {
    const fate = fateOf(companion, view);
    if (fate === 'wanted' && !recent.has(companion.uid)) wanted += 1;
    if (fate !== 'due' || isReleased(companion)) continue;
    counted.add(companion.uid);
    isHeld ||= waveOn(companion, view.settings.vocabulary) !== undefined;
  }
  return { counted, total: counted.size + wanted, isHeld };
}

/**
 * What a plan for its source would do with a companion, as far as the cache knows. `other`: neither
 * keep it as wanted nor delete it. Anybody can make any number of such objects, such as copies of
 * companions, so they must not make the share of what is due smaller.
 */
function fateOf(companion: ObservedConfigMap, view: ClusterView): 'wanted' | 'due' | 'other' {
  const key = sourceReference(companion, view.settings.vocabulary);
  if (key === undefined) return 'other';
  const source = view.configMap(key);
  const { request } = source ?? {};
  if (source === undefined || request === undefined) {
    const gone = { key, uid: undefined };
    const isDue = isLeftOver(companion, gone, view) && counts(planOrphan(companion, gone, undefined, view));
    return isDue ? 'due' : 'other';
  }
  if (!request.ok || source.deleting) return 'other';
  const { kind } = placementIn(companion.namespace, source, request.value, view);
  if (companion.name === request.value.companionName && kind !== 'unmatched') return 'wanted';
  const isDue =
    isLeftOver(companion, source, view) && counts(planLeftOver(companion, source, request.value, view));
  return isDue ? 'due' : 'other';
}

/**
 * Whether somebody has released the deletion of a companion. Splits each text once: one of 256 KiB
 * takes milliseconds, and a thousand held companions may ask for it.
 */
function releasesIn(view: ClusterView): (companion: ObservedConfigMap) => boolean {
  const { vocabulary } = view.settings;
  const split = new Map<string, ReadonlySet<string>>();
  const allows = (text: string, wave: string) => {
    const waves = split.get(text) ?? wavesIn(text);
    split.set(text, waves);
    return waves.has(wave);
  };
  return (companion) => {
    const wave = waveOn(companion, vocabulary);
    const key = sourceReference(companion, vocabulary);
    if (wave === undefined || key === undefined) return false;
    return approvals(key, view.configMap(key), view).some((text) => allows(text, wave));
  };
}

/**
 * A wave that all of them are marked with stays, also if there were more: so an approval that was
 * given for it still counts. Otherwise it is computed anew.
 */
function waveFor(deletions: readonly Deletion[], vocabulary: Vocabulary): string {
  const [first, ...others] = new Set(deletions.map(({ actual }) => waveOn(actual, vocabulary)));
  if (first !== undefined && others.length === 0) return first;
  const hash = createHash('sha256');
  for (const uid of deletions.map(({ actual }) => actual.uid).sort()) hash.update(`${uid}\n`);
  return hash.digest('hex').slice(0, 8);
}

function hold({ companion, actual, reason: why }: Deletion, wave: string, { held: key }: Vocabulary): Step {
  const reason = `${why}; its deletion is held (wave ${wave})`;
  const step = { companion, state: 'held', reason, wave } as const;
  if (actual.annotations[key] === wave) return { action: 'none', ...step };
  return { action: 'update', ...step, actual, differences: [{ kind: 'annotation', key, value: wave }] };
}
