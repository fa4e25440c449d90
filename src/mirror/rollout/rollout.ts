import type { ObjectKey } from '../../kube/api/object-key.ts';
import { type Edition, type EditionIn, type NoEdition, ownEdition } from '../companion/companion.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { isAsWritten, shortChecksum, writtenContent } from '../observe/revision.ts';
import { quoted } from '../parsed.ts';
import type { CanaryRequest } from '../request/rollout-request.ts';
import { rfc3339 } from '../rfc3339.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { History, type HistoryFacts } from './history.ts';
import type { RevisionStep } from './revision-step.ts';

/**
 * How far new content is on its way to the companions of a source with a canary (SPEC D6).
 * - `rolling out`: the canaries get it.
 * - `baking`: all canaries hold it, and time passes.
 * - `waiting for approval`: all canaries hold it, and somebody must approve it.
 * - `failed`: a verdict was bad. The canaries hold the previous content again.
 * - `done`: every companion may have it.
 */
export const CANARY_STATES = ['rolling out', 'baking', 'waiting for approval', 'failed', 'done'] as const;
export type CanaryState = (typeof CANARY_STATES)[number];

/** What decides a rollout: all of it is in the cluster, so it goes on after a restart. */
export interface RolloutFacts extends HistoryFacts {
  /** The companions that should exist in canary namespaces; undefined: one that does not. */
  readonly canaries: readonly (ObservedConfigMap | undefined)[];
  readonly isCanary: (namespace: string) => boolean;
  readonly holds: Holds;
  /** The time of day (ms since the epoch). */
  readonly now: number;
}

/** Whether a companion holds a content: the source's or a revision's, as it is rendered there. */
export type Holds = (companion: ObservedConfigMap, content: ObservedConfigMap) => boolean;

export interface RolloutRemark {
  readonly kind: 'canary waiting' | 'canary failed' | 'missing revision';
  /** One sentence. */
  readonly text: string;
}

/** What to do now about the contents of one source. */
export interface Rollout {
  /** Undefined: the source has no canary, or is pinned. */
  readonly state: CanaryState | undefined;
  /** What a person should know. Undefined: nothing, or it is over in a moment. */
  readonly remark: RolloutRemark | undefined;
  /** A sentence about a verdict that is not `bad`. */
  readonly unknownVerdict?: string | undefined;
  /** When to look again (ms since the epoch). */
  readonly until?: number | undefined;
  /** Until those that keep or mark a revision are made, no companion may get content. */
  readonly steps: readonly RevisionStep[];
  readonly editionIn: EditionIn;
  /** Whether a pin or a canary keeps the source's content from some companions. */
  readonly isHeldBack: boolean;
}

/** Decides, from what is in the cluster now, which contents are kept and which goes where. */
export function rolloutOf(facts: RolloutFacts, vocabulary: Vocabulary): Rollout {
  const history = new History(facts, vocabulary);
  const { source, request } = facts;
  const isIt = (short: string | undefined) => short !== undefined && source.digest.startsWith(short);
  const pin = request?.pin;
  const canary = request?.canary;
  if (pin !== undefined && !isIt(pin)) return pinned(history, pin);
  // Who pins the source's own content wants it everywhere.
  const isFree = canary === undefined || isIt(pin) || isIt(canary.approved);
  if (isFree || history.stage === undefined) {
    const state = canary && 'done';
    const steps = history.steps(undefined, []);
    return { state, remark: undefined, steps, editionIn: ownEdition(source), isHeldBack: false };
  }
  const verdicts = verdictsOn(facts, vocabulary);
  return history.stage === 'failed' || verdicts.some(isBad)
    ? failed(facts, history, vocabulary)
    : { ...tried(facts, canary, history, vocabulary), unknownVerdict: noEffect(verdicts, vocabulary) };
}

function pinned(history: History, pin: string): Rollout {
  const { stage, stable } = history;
  const revision = history.find(pin);
  const steps = history.steps(stage, [revision, stage && stable]);
  const missing = `pinned to revision ${pin}, which does not exist`;
  if (revision === undefined) {
    const remark = { kind: 'missing revision', text: `${missing}, so companions stay as they are` } as const;
    return { state: undefined, remark, steps, editionIn: () => ({ missing }), isHeldBack: true };
  }
  const edition = { digest: revision.digest, revision };
  return { state: undefined, remark: undefined, steps, editionIn: () => edition, isHeldBack: true };
}

interface Verdict {
  readonly canary: ObjectKey;
  readonly verdict: string;
}

/** `Bad` in any case: it must not be missed. */
const isBad = ({ verdict }: Verdict): boolean => verdict.toLowerCase() === 'bad';

/** Of verdicts none of which is bad. */
function noEffect([unknown]: readonly Verdict[], vocabulary: Vocabulary): string | undefined {
  if (unknown === undefined) return undefined;
  const { canary, verdict } = unknown;
  return `${vocabulary.verdict} ${quoted(verdict)} on ${canary} has no effect; write "bad" if the content failed`;
}

/**
 * A verdict counts for the content that the canary was last given, even if somebody or new values
 * have changed it since.
 */
function verdictsOn({ source, canaries }: RolloutFacts, vocabulary: Vocabulary): readonly Verdict[] {
  return canaries.flatMap((canary) => {
    const verdict = canary?.annotations[vocabulary.verdict];
    if (canary === undefined || verdict === undefined) return [];
    const isOfIt = writtenContent(canary, vocabulary) === shortChecksum(source.digest);
    return isOfIt ? [{ canary: canary.key, verdict }] : [];
  });
}

/** The canaries go back to the previous content, like the others. */
function failed(
  { source, isCanary, holds }: RolloutFacts,
  history: History,
  vocabulary: Vocabulary,
): Rollout {
  const short = shortChecksum(source.digest);
  const reason = `content ${short} failed in a canary`;
  const previous = previousContent(history, { reason }, holds, vocabulary);
  return {
    state: 'failed',
    isHeldBack: true,
    remark: {
      kind: 'canary failed',
      text: `${reason}, so companions keep the previous one; change the source, or approve it anyway with ${vocabulary.canaryApprove}=${short}`,
    },
    steps: history.steps('failed', [history.stable]),
    editionIn: (namespace, actual) => {
      const edition = previous(actual);
      return isCanary(namespace) && !('missing' in edition) ? { ...edition, failed: short } : edition;
    },
  };
}

/** The canaries hold the new content, the others the previous one. */
function tried(
  facts: RolloutFacts,
  canary: CanaryRequest,
  history: History,
  vocabulary: Vocabulary,
): Rollout {
  const { source, isCanary, holds } = facts;
  const own = { digest: source.digest, isTried: true };
  const { state, reason, until, isOver = false } = progressOf(facts, canary, vocabulary);
  const previous = previousContent(history, { reason, ...(until && { until }) }, holds, vocabulary);
  // While canaries are written, what keeps one from it is reported as of any companion.
  const isBrief = isOver || (state === 'rolling out' && facts.canaries.length > 0);
  const text = until === undefined ? reason : `${reason}, until ${rfc3339(until)}`;
  return {
    state,
    isHeldBack: true,
    remark: isBrief ? undefined : { kind: 'canary waiting', text },
    until,
    // When it is over, the revision says so before the others get the content: whoever goes on from
    // there must not think otherwise.
    steps: history.steps(isOver ? undefined : 'trying', [history.stable]),
    editionIn: (namespace, actual) => (isCanary(namespace) ? own : previous(actual)),
  };
}

interface Progress {
  readonly state: CanaryState;
  readonly reason: string;
  readonly until?: number;
  readonly isOver?: boolean;
}

function progressOf(
  { source, canaries, holds, now }: RolloutFacts,
  { bakeMs }: CanaryRequest,
  vocabulary: Vocabulary,
): Progress {
  const content = `content ${shortChecksum(source.digest)}`;
  const count = `${canaries.length} ${canaries.length === 1 ? 'canary' : 'canaries'}`;
  if (canaries.length === 0) {
    return { state: 'rolling out', reason: `${content} waits: no target namespace is a canary` };
  }
  // Of what somebody else has put there, the time of our last write tells nothing.
  const isTrying = (actual: ObservedConfigMap) =>
    holds(actual, source) &&
    isAsWritten(actual, vocabulary) &&
    writtenContent(actual, vocabulary) === shortChecksum(source.digest);
  if (canaries.some((actual) => actual === undefined || !isTrying(actual))) {
    return { state: 'rolling out', reason: `${content} goes to ${count} first` };
  }
  const until = Math.max(...canaries.map((actual) => bakedAt(actual?.writtenAt, bakeMs)));
  if (until === Number.POSITIVE_INFINITY) {
    const how = `${vocabulary.canaryApprove}=${shortChecksum(source.digest)}`;
    return { state: 'waiting for approval', reason: `${content} is in ${count} and waits for ${how}` };
  }
  const reason = `${content} is tried in ${count}`;
  return now < until ? { state: 'baking', reason, until } : { state: 'baking', reason, isOver: true };
}

/**
 * When a canary has held the content long enough (ms since the epoch). The API server's times are
 * whole seconds, so the one in which it was written must be over. Without them, somebody decides.
 */
function bakedAt(writtenAt: number | undefined, bakeMs: number | undefined): number {
  if (writtenAt === undefined || bakeMs === undefined) return Number.POSITIVE_INFINITY;
  return (writtenAt + 1) * 1000 + bakeMs;
}

/** What a companion holds that does not get the new content yet. */
function previousContent(
  { source, stable, revisions }: History,
  held: NonNullable<Edition['held']>,
  holds: Holds,
  vocabulary: Vocabulary,
): (actual: ObservedConfigMap | undefined) => Edition | NoEdition {
  const missing = `${held.reason}, and the previous one has no revision`;
  if (stable === undefined) return () => ({ missing });
  const edition = { digest: stable.digest, revision: stable, held };
  const kept = new Set([source, ...revisions].map(({ digest }) => shortChecksum(digest)));
  const holdsKept = (actual: ObservedConfigMap) =>
    kept.has(writtenContent(actual, vocabulary)) || holds(actual, stable);
  return (actual) => {
    // Somebody has deleted the revision of what it holds. An older content would be a step back.
    const isOther = actual !== undefined && isAsWritten(actual, vocabulary) && !holdsKept(actual);
    return isOther ? { missing } : edition;
  };
}
