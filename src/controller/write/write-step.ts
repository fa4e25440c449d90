import { splitKey } from '../../kube/api/object-key.ts';
import type { CompanionShape } from '../../mirror/companion/companion.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { Intent } from '../memory/companion-memory.ts';

export type CompanionWriteStep = Exclude<Step, { readonly action: 'none' }>;

/** A step that changes an existing companion. */
export type DriftedStep = Extract<CompanionWriteStep, { readonly differences: unknown }>;

/** What is to be written, of whichever kind. */
export type WriteStep = CompanionWriteStep | RevisionStep;

/** What a step was planned from. */
export interface Origin {
  /** Undefined when it is gone. */
  readonly source: ObservedConfigMap | undefined;
  /** What every companion should carry; undefined when the source is gone or unlabelled. */
  readonly shape: CompanionShape | undefined;
}

/** Whether a source wants the companion. If not, its steps do not depend on any content. */
export function isOfDesired({ state }: CompanionWriteStep): boolean {
  return state !== 'unwanted' && state !== 'held' && state !== 'retained';
}

/** Whether it is about a revision, not about a companion. */
export function isOfRevision(step: WriteStep): step is RevisionStep {
  return !('state' in step);
}

/** Whether it changes the content of an existing companion, not only what goes with it. */
export function bringsContent(step: CompanionWriteStep): step is DriftedStep {
  return 'differences' in step && step.differences.some(({ kind }) => kind === 'content');
}

/** @throws TypeError if there is none: then the plan has no step that writes content. */
export function shapeOf({ shape }: Origin): CompanionShape {
  if (shape === undefined) throw new TypeError('a step that writes content needs to know what is desired');
  return shape;
}

/** What an attempt of the step is for, by which `CompanionMemory` tells attempts apart. */
export function intentOf(step: WriteStep, { source, shape }: Origin): Intent {
  const ofSource = source === undefined ? '' : `${source.uid}/${source.resourceVersion}`;
  // What is rendered, or which revision is meant, may change while the source does not.
  const heals = step.action !== 'delete';
  const edition = heals && 'state' in step && shape?.editionIn(splitKey(step.companion).namespace);
  const isOther = edition && 'digest' in edition && edition.digest !== source?.digest;
  const sourceVersion = isOther ? `${ofSource}/${edition.digest}` : ofSource;
  const actualVersion = ('actual' in step && step.actual?.resourceVersion) || '';
  return { sourceVersion, fingerprint: `${sourceVersion} ${step.action} ${actualVersion}`, heals };
}
