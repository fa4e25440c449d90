import { splitKey } from '../../kube/api/object-key.ts';
import type { CompanionShape } from '../companion/companion.ts';
import type { Difference } from '../companion/drift.ts';
import { isAsWritten } from '../observe/revision.ts';
import type { RevisionStep } from '../rollout/revision-step.ts';
import type { Rollout } from '../rollout/rollout.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { type Step, waiting } from './step.ts';
import type { ClusterView } from './view.ts';

type Update = Extract<
  Step,
  { readonly action: 'update' | 'replace'; readonly state: 'drifted' | 'retained' }
>;

/**
 * A source's plan, in which new content waits until the source has been quiet for as long as it
 * asks (SPEC D7). Everything else is done at once: what else differs, heals, new companions,
 * deletions.
 */
export function onceQuiet(steps: readonly Step[], shape: CompanionShape, view: ClusterView): readonly Step[] {
  const until = quietAt(shape, view);
  if (until === undefined) return steps;
  const { vocabulary } = view.settings;
  return steps.map((step) => {
    if (!bringsNewContent(step, shape, vocabulary)) return step;
    const differences = step.differences.filter((each) => !goesWithContent(each, vocabulary));
    return differences.length === 0
      ? waiting(step.companion, 'its content waits until the source has been quiet for a while', until)
      : { ...step, action: 'update', differences, until };
  });
}

/**
 * A rollout that keeps new content, or makes a kept one the newest again, only once it is mirrored.
 * Else versions that nobody got would come between those that companions held (SPEC D4, D7).
 */
export function rolloutOnceQuiet(
  rollout: Rollout | undefined,
  steps: readonly Step[],
  shape: CompanionShape,
  view: ClusterView,
): Rollout | undefined {
  const until = quietAt(shape, view);
  if (rollout === undefined || until === undefined) return rollout;
  const { revision } = view.settings.vocabulary;
  const isNew = rollout.steps.some((step) => makesNewest(step, revision));
  if (!isNew || steps.some((step) => givesOwnContent(step, shape))) return rollout;
  return { ...rollout, steps: [], until: Math.min(until, rollout.until ?? until) };
}

/** When the source has been quiet for long enough (ms since the epoch); undefined: it has. */
function quietAt({ source, request }: CompanionShape, view: ClusterView): number | undefined {
  const unsettledMs = request.settle && view.unsettledMs(source.key, request.settle.ms);
  return unsettledMs ? view.now() + unsettledMs : undefined;
}

function makesNewest(step: RevisionStep, orderKey: string): boolean {
  if (step.action === 'mark') return step.differences.some(({ key }) => key === orderKey);
  return step.action === 'keep';
}

/** Whether it gives the companion what the source holds now, not what a revision does. */
function givesOwnContent(step: Step, { editionIn }: CompanionShape): boolean {
  const isNew = step.action === 'create' || step.action === 'defer';
  const isOther = 'differences' in step && step.differences.some(({ kind }) => kind === 'content');
  if (!isNew && !isOther) return false;
  const { namespace } = splitKey(step.companion);
  const edition = editionIn(namespace, 'actual' in step ? step.actual : undefined);
  return !('missing' in edition) && edition.revision === undefined;
}

/**
 * Not a heal: it holds what its checksum says. Not a content of before, either: that is a rescue.
 */
function bringsNewContent(step: Step, shape: CompanionShape, vocabulary: Vocabulary): step is Update {
  return step.state === 'drifted' && isAsWritten(step.actual, vocabulary) && givesOwnContent(step, shape);
}

function goesWithContent(difference: Difference, vocabulary: Vocabulary): boolean {
  const { sourceChecksum, renderedFrom, verdict, canaryFailed } = vocabulary;
  return (
    difference.kind === 'content' ||
    ('key' in difference && [sourceChecksum, renderedFrom, verdict, canaryFailed].includes(difference.key))
  );
}
