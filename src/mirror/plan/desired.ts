import { type CompanionShape, companionShape, ownEdition } from '../companion/companion.ts';
import { isCompanionOf } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { revisionKey, shortChecksum, writtenContent } from '../observe/revision.ts';
import type { Rendering } from '../render/rendering.ts';
import { companionKey, type MirrorRequest } from '../request/request.ts';
import { matchesTargets, type Targets } from '../request/targets.ts';
import { History, type HistoryFacts } from '../rollout/history.ts';
import { isRevisionOf } from '../rollout/revision-step.ts';
import { type Holds, type Rollout, rolloutOf } from '../rollout/rollout.ts';
import { desiredNamespaces } from './placement.ts';
import type { ClusterView } from './view.ts';

/** What a source wants now. */
export interface Desired {
  readonly shape: CompanionShape;
  /** Undefined: its content goes everywhere, and no revision is kept. */
  readonly rollout: Rollout | undefined;
}

/** `rendering`: of a source that has something to render. */
export function desiredOf(
  source: ObservedConfigMap,
  request: MirrorRequest,
  rendering: Rendering | undefined,
  view: ClusterView,
): Desired {
  const { vocabulary } = view.settings;
  const revisions = revisionsOf(source, view);
  if (request.rollout === undefined && revisions.length === 0) {
    const shape = companionShape(source, request, vocabulary, ownEdition(source), rendering);
    return { shape, rollout: undefined };
  }
  const holds: Holds = (companion, content) =>
    companion.digest ===
    (rendering === undefined ? content : rendering.in(companion.namespace, content))?.digest;
  const canary = request.rollout?.canary;
  const facts = {
    ...(canary === undefined ? NO_CANARY : lookAt(canary.namespaces, source, request, holds, view)),
    source,
    request: request.rollout,
    revisions,
    holds,
    now: view.now(),
    namesake: view.configMap(revisionKey(source, source.digest)),
  };
  const rollout = rolloutOf(facts, vocabulary);
  return { shape: companionShape(source, request, vocabulary, rollout.editionIn, rendering), rollout };
}

/** What companions of the source may hold: its content, and that of one revision. */
export function basesOf(
  source: ObservedConfigMap,
  { rollout }: MirrorRequest,
  view: ClusterView,
): readonly ObservedConfigMap[] {
  const { pin, canary } = rollout ?? {};
  if (pin === undefined && canary === undefined) return [source];
  const history = historyOf(source, view);
  const other = pin === undefined ? history.stable : history.find(pin);
  return other === undefined || other.digest === source.digest ? [source] : [source, other];
}

/** The contents of a source that are kept. */
export function historyOf(source: ObservedConfigMap, view: ClusterView): History {
  const request = source.request?.ok ? source.request.value.rollout : undefined;
  const facts = { source, request, revisions: revisionsOf(source, view), namesake: undefined };
  return new History({ ...facts, othersHold: 'it' }, view.settings.vocabulary);
}

/** In any order. */
function revisionsOf(source: ObservedConfigMap, view: ClusterView): readonly ObservedConfigMap[] {
  const { vocabulary } = view.settings;
  return view.revisions(source.key).filter((object) => isRevisionOf(object, source, vocabulary));
}

const NO_CANARY = { canaries: [], isCanary: () => false, othersHold: 'it' } as const;

/** Looks at the companions in canary namespaces, and at the others. */
function lookAt(
  namespaces: Targets,
  source: ObservedConfigMap,
  request: MirrorRequest,
  holds: Holds,
  view: ClusterView,
) {
  const isCanary = (name: string) =>
    matchesTargets(namespaces, { name, labels: view.namespace(name)?.labels });
  const canaries: (ObservedConfigMap | undefined)[] = [];
  const others: ObservedConfigMap[] = [];
  for (const name of desiredNamespaces(source, request, view)) {
    const object = view.configMap(companionKey(request, name));
    const isOurs = object && !object.deleting && isCompanionOf(object, source, view.settings.vocabulary);
    const actual = isOurs ? object : undefined;
    if (isCanary(name)) canaries.push(actual);
    else if (actual !== undefined) others.push(actual);
  }
  return { canaries, isCanary, othersHold: held(others, source, holds, view) };
}

/** Each by its content or, if another client has edited that, by what was last written. */
function held(
  others: readonly ObservedConfigMap[],
  source: ObservedConfigMap,
  holds: Holds,
  { settings: { vocabulary } }: ClusterView,
): HistoryFacts['othersHold'] {
  const holdsIt = (companion: ObservedConfigMap) =>
    writtenContent(companion, vocabulary) === shortChecksum(source.digest) || holds(companion, source);
  if (others.length === 0) return 'nothing';
  return others.every(holdsIt) ? 'it' : 'another';
}
