import type { EntryDifference } from '../companion/drift.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { type CanaryStage, orderOf, revisionKey, stageOf } from '../observe/revision.ts';
import type { RolloutRequest } from '../request/rollout-request.ts';
import type { Vocabulary } from '../vocabulary.ts';
import type { RevisionStep } from './revision-step.ts';

export interface HistoryFacts {
  readonly source: ObservedConfigMap;
  readonly request: RolloutRequest | undefined;
  /** The revisions of this source, in any order. */
  readonly revisions: readonly ObservedConfigMap[];
  /** What has the name of a revision of the source's content, whether it is one or not. */
  readonly namesake: ObservedConfigMap | undefined;
  /** What companions outside of canary namespaces hold: the source's content, if no other. */
  readonly othersHold: 'it' | 'another' | 'nothing';
}

/** The contents of one source that are kept. */
export class History {
  readonly source: ObservedConfigMap;
  /** The newest first. */
  readonly revisions: readonly ObservedConfigMap[];
  /** The newest other content that may be everywhere. */
  readonly stable: ObservedConfigMap | undefined;
  /** How far the canary of the source's content is. */
  readonly stage: CanaryStage | undefined;
  readonly #facts: HistoryFacts;
  /** The revision of the source's content. */
  readonly #current: ObservedConfigMap | undefined;
  readonly #vocabulary: Vocabulary;

  constructor(facts: HistoryFacts, vocabulary: Vocabulary) {
    const { source, request, revisions, othersHold } = facts;
    this.source = source;
    this.revisions = newestFirst(revisions, vocabulary);
    this.#facts = facts;
    this.#vocabulary = vocabulary;
    this.#current = this.revisions.find(({ digest }) => digest === source.digest);
    const others = this.revisions.filter((revision) => revision !== this.#current);
    this.stable = others.find((revision) => stageOf(revision, vocabulary) === undefined);
    // The first content is ahead of nobody. And one that all others hold is not new: somebody has
    // deleted its revision.
    const isFirst = othersHold === 'nothing' && others.length === 0;
    const isNew = othersHold !== 'it' && !isFirst;
    const initial = request?.canary !== undefined && isNew ? 'trying' : undefined;
    this.stage = this.#current ? stageOf(this.#current, vocabulary) : initial;
  }

  /** The revision whose checksum begins so. */
  find(short: string): ObservedConfigMap | undefined {
    return this.revisions.find(({ digest }) => digest.startsWith(short));
  }

  /** The newest revision before what companions are to hold, but none that was only tried. */
  get previous(): ObservedConfigMap | undefined {
    const { source, stage, stable, revisions } = this;
    const pin = this.#facts.request?.pin;
    const present = stage === 'failed' ? stable : this.#current;
    const held = pin === undefined ? present : this.find(pin);
    const order = held ? orderOf(held, this.#vocabulary) : Number.POSITIVE_INFINITY;
    return revisions.find(
      (revision) =>
        orderOf(revision, this.#vocabulary) < order &&
        stageOf(revision, this.#vocabulary) === undefined &&
        revision.digest !== (held ?? source).digest,
    );
  }

  /**
   * Keeps the source's content, at this stage, and as many others as the source asks for. Those in
   * use neither go nor count. Those that did not leave the canaries are counted apart: however many
   * fail in a row, the contents that were everywhere stay.
   */
  steps(stage: CanaryStage | undefined, inUse: readonly (ObservedConfigMap | undefined)[]): RevisionStep[] {
    const wanted = this.#facts.request?.keepRevisions ?? 0;
    // Nothing goes before the new one is there.
    if (wanted > 0 && this.#current === undefined) return [this.#keep(stage)];
    const others = this.revisions.filter(
      (revision) => !inUse.includes(revision) && (wanted === 0 || revision !== this.#current),
    );
    const reason = wanted === 0 ? 'revisions are no longer kept' : `only ${wanted} are kept`;
    const isTried = (revision: ObservedConfigMap) => stageOf(revision, this.#vocabulary) !== undefined;
    const tried = others.filter(isTried);
    const released = others.filter((revision) => !isTried(revision));
    const drops = [...released.slice(wanted), ...tried.slice(wanted)].map(
      (actual): RevisionStep => ({ action: 'drop', companion: actual.key, reason, actual }),
    );
    return wanted > 0 && this.#current ? [...this.#mark(this.#current, stage), ...drops] : drops;
  }

  #keep(stage: CanaryStage | undefined): RevisionStep {
    const companion = revisionKey(this.source, this.source.digest);
    const reason = 'the content is kept before a companion gets it';
    const { namesake: actual } = this.#facts;
    return { action: 'keep', companion, reason, order: this.#newestOrder() + 1, stage, actual };
  }

  /** A content that comes back is the newest again. */
  #mark(actual: ObservedConfigMap, stage: CanaryStage | undefined): readonly RevisionStep[] {
    const { canaryStage, revision } = this.#vocabulary;
    const isNewest = this.revisions[0] === actual;
    const order = isNewest ? actual.annotations[revision] : String(this.#newestOrder() + 1);
    const desired = { [revision]: order, [canaryStage]: stage };
    const differences = Object.entries(desired)
      .filter(([key, value]) => actual.annotations[key] !== value)
      .map(([key, value]): EntryDifference => ({ kind: 'annotation', key, value }));
    if (differences.length === 0) return [];
    const reason = isNewest ? MARKED[stage ?? 'passed'] : 'its content is back';
    return [{ action: 'mark', companion: actual.key, reason, actual, differences }];
  }

  #newestOrder(): number {
    const [newest] = this.revisions;
    return newest ? orderOf(newest, this.#vocabulary) : 0;
  }
}

const MARKED = {
  trying: 'its content is tried in canaries',
  failed: 'its content failed in a canary',
  passed: 'its content may go everywhere',
} as const;

function newestFirst(
  revisions: readonly ObservedConfigMap[],
  vocabulary: Vocabulary,
): readonly ObservedConfigMap[] {
  return revisions.toSorted(
    (a, b) => orderOf(b, vocabulary) - orderOf(a, vocabulary) || (a.name < b.name ? -1 : 1),
  );
}
