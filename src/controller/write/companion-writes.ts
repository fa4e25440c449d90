import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { NewConfigMap } from '../../kube/api/types.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { type CompanionShape, desiredEdition, newCompanion } from '../../mirror/companion/companion.ts';
import { differences } from '../../mirror/companion/drift.ts';
import { mayDelete } from '../../mirror/companion/ownership.ts';
import { replacement } from '../../mirror/companion/patch.ts';
import { observe } from '../../mirror/observe/observed-config-map.ts';
import { planCompanion } from '../../mirror/plan/plan.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import type { Deletions } from '../memory/deletions.ts';
import { BlockedError, NotYetError } from '../memory/failure.ts';
import { createFollowed, deleteFollowed, type FollowedWriteDeps, patchFollowed } from './followed-writes.ts';
import type { SourceBodies } from './source-bodies.ts';
import type { Pass } from './write-queue.ts';
import type { WriteRate } from './write-rate.ts';
import { bringsContent, type CompanionWriteStep, type DriftedStep, shapeOf } from './write-step.ts';

export interface CompanionWriteDeps extends FollowedWriteDeps {
  readonly view: ClusterView;
  readonly bodies: SourceBodies;
  readonly deletions: Pick<Deletions, 'begins'>;
  readonly memory: Pick<CompanionMemory, 'replaces' | 'replaced'>;
  /** The queue has counted the first request of a step. */
  readonly rate: Pick<WriteRate, 'next'>;
}

/**
 * Writes a companion. Resolves to the step that was carried out: a create that meets our own
 * companion becomes a heal of it, or nothing.
 * @throws BlockedError if an unrelated object has the name or another source comes first,
 * NotYetError if our own companion there has to stay as it is, or what the API throws.
 */
export async function writeCompanion(
  step: CompanionWriteStep,
  pass: Pass,
  deps: CompanionWriteDeps,
): Promise<Step> {
  switch (step.action) {
    case 'delete':
      if (step.counts) deps.deletions.begins(pass.key, step.actual);
      await deleteFollowed(step.actual, deps);
      return step;
    case 'update': {
      const { companion, actual } = step;
      const loaded = bringsContent(step) ? await load(companion, shapeOf(pass), deps) : undefined;
      await patchFollowed(actual, step.differences, loaded, deps);
      return step;
    }
    case 'replace':
      return replace(step, pass, deps);
    case 'create': {
      const shape = shapeOf(pass);
      const { vocabulary } = deps.view.settings;
      const { digest, content } = await load(step.companion, shape, deps);
      const before = deps.memory.replaced(pass.key, step.companion);
      const body = before
        ? replacement(before, differences(before, shape, vocabulary), content)
        : newCompanion(step.companion, shape, content, vocabulary);
      return createOrMeet(step, body, digest, pass, deps);
    }
    case 'defer':
      return defer(step, pass, deps);
  }
}

async function createOrMeet(
  step: CompanionWriteStep,
  body: NewConfigMap,
  digest: string,
  pass: Pass,
  deps: CompanionWriteDeps,
): Promise<Step> {
  try {
    await createFollowed(body, digest, deps);
    return step;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return meet(step.companion, pass, deps);
  }
}

/** Deletes and creates (SPEC R12). First heals the marks without which R8 forbids a delete. */
async function replace(step: DriftedStep, pass: Pass, deps: CompanionWriteDeps): Promise<Step> {
  const { memory, rate, view } = deps;
  const shape = shapeOf(pass);
  const { digest, content } = await load(step.companion, shape, deps);
  let { actual } = step;
  if (!mayDelete(actual, shape.source, view.settings.vocabulary)) {
    const marks = step.differences.filter(({ kind }) => kind !== 'content');
    actual = await patchFollowed(actual, marks, undefined, deps);
    await rate.next();
  }
  const body = replacement(actual, step.differences, content);
  // What others put on it is lost if the delete has no answer or the create fails.
  memory.replaces(pass.key, actual);
  await deleteFollowed(actual, deps);
  await rate.next();
  return createOrMeet(step, body, digest, pass, deps);
}

/** Leaves the name to the source that comes first, unless our own companion is already there. */
async function defer(step: CompanionWriteStep, pass: Pass, deps: CompanionWriteDeps): Promise<Step> {
  try {
    return await meet(step.companion, pass, deps);
  } catch (error) {
    if (isNotFound(error)) throw new BlockedError(step.reason);
    throw error;
  }
}

/**
 * Reads the object at the name, which the cache does not have, and acts on it (SPEC R2, R6): a
 * companion without its label, one whose create got no reply, or an unrelated object.
 */
async function meet(companion: ObjectKey, pass: Pass, deps: CompanionWriteDeps): Promise<Step> {
  const { api, rate, view } = deps;
  const actual = observe(await api.get(companion), view.settings.vocabulary);
  const step = planCompanion(companion, actual, shapeOf(pass), view);
  if (step.action !== 'none') {
    await rate.next();
    return writeCompanion(step, pass, deps);
  }
  if (step.state === 'conflict') throw new BlockedError(step.reason);
  if (step.state === 'waiting' || step.state === 'unresolved') throw new NotYetError(step.reason);
  return step;
}

/** What a companion should hold. */
async function load(companion: ObjectKey, shape: CompanionShape, { bodies }: CompanionWriteDeps) {
  const { source, rendering } = shape;
  const { namespace } = splitKey(companion);
  const { digest, revision } = desiredEdition(namespace, shape);
  if (rendering) return { digest, content: rendering.contentIn(namespace, revision ?? source) };
  return { digest, content: await bodies.content(revision ?? source, revision !== undefined) };
}
