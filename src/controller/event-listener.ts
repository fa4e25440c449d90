import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import type { Occurrence } from '../recorder/occurrence.ts';
import type {
  CompanionCounts,
  ConsentChanged,
  Happening,
  Listener,
  ProblemChanged,
  ProblemKind,
  Reconciled,
  Written,
} from './memory/happening.ts';

/** Records what happens to sources and Namespaces, when their state changes (SPEC O3). */
export function eventListener(record: (occurrence: Occurrence) => void): Listener {
  const changed = new Set<ObjectKey>();
  return (happening) => {
    const occurrence = occurrenceOf(happening, changed);
    if (occurrence !== undefined) record(occurrence);
  };
}

/** `changed`: the sources whose set of companions may have changed since their last `Mirrored`. */
function occurrenceOf(happening: Happening, changed: Set<ObjectKey>): Occurrence | undefined {
  switch (happening.type) {
    case 'written':
      if (changesSet(happening)) changed.add(happening.source);
      return happening.heal && about(happening.object, healed(happening));
    case 'reconciled': {
      const isDue = isSettled(happening) || happening.object === undefined;
      return isDue && changed.delete(happening.source)
        ? about(happening.object, mirrored(happening.companions))
        : undefined;
    }
    case 'problem':
      if (happening.state === 'began') return problem(happening);
      // Released, by whomever, or wanted again.
      if (happening.kind === 'deletes held') changed.add(happening.source);
      return undefined;
    case 'consent':
      return happening.state === 'began' ? consent(happening) : undefined;
    case 'noticed':
      return undefined;
  }
}

type Message = Omit<Occurrence, 'regarding'>;

/** Undefined if the source is gone or unlabelled: its Events would be of no use. */
function about(source: ObservedConfigMap | undefined, message: Message): Occurrence | undefined {
  if (source?.request === undefined) return undefined;
  const { namespace, name, uid } = source;
  return { regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name, uid }, ...message };
}

export const REASONS = {
  invalid: 'InvalidAnnotation',
  unresolved: 'Unresolved',
  annotation: 'InvalidAnnotation',
  'no consent': 'Refused',
  'deletes held': 'DeletesHeld',
  flapping: 'Flapping',
  conflict: 'Conflict',
  refused: 'Refused',
  'target missing': 'TargetMissing',
  'write failed': 'WriteFailed',
  fighting: 'Fighting',
  'canary waiting': 'CanaryWaiting',
  'canary failed': 'CanaryFailed',
  'missing revision': 'RevisionMissing',
  'revision not kept': 'RevisionNotKept',
} as const satisfies Record<ProblemKind, string>;

/** What the controller was doing; Events require it. */
const MIRROR = 'Mirror';

function changesSet({ action, result, heal }: Written): boolean {
  return result === 'ok' && heal === undefined && (action === 'create' || action === 'delete');
}

/** Whether the next pass will find nothing to write, unless something else changes. */
function isSettled({ result, companions }: Reconciled): boolean {
  const { missing = 0, drifted = 0, unwanted = 0, waiting = 0 } = companions;
  return result === 'ok' && missing + drifted + unwanted + waiting === 0;
}

function mirrored(companions: CompanionCounts): Message {
  const { 'in sync': inSync = 0 } = companions;
  let note = `${inSync} ${inSync === 1 ? 'companion' : 'companions'} in sync`;
  for (const [state, words] of OTHER_STATES) {
    const count = companions[state] ?? 0;
    if (count > 0) note += `, ${count} ${words}`;
  }
  return { type: 'Normal', reason: 'Mirrored', action: MIRROR, note };
}

/** In the order in which a note tells them, with its words. */
const OTHER_STATES = [
  ['conflict', 'in conflict'],
  ['refused', 'refused'],
  ['retained', 'retained'],
  ['held', 'held'],
  ['unresolved', 'unresolved'],
  ['no namespace', 'without a namespace'],
  ['delayed', 'to be deleted later'],
] as const;

function healed({ companion, action, reason, heal }: Written): Message {
  const note =
    action === 'create'
      ? `companion ${companion} recreated after it was deleted`
      : `companion ${companion} healed after an edit by ${heal?.editedBy ?? 'an unknown client'}: ${reason}`;
  return { type: 'Normal', reason: 'Healed', action: 'Heal', note };
}

function problem(happening: ProblemChanged): Occurrence | undefined {
  const { kind, object, source, subject, reason, editedBy } = happening;
  const why = kind === 'fighting' ? `${editedBy ?? 'another client'} keeps changing it; backing off` : reason;
  const what = kind === 'revision not kept' ? 'revision' : 'companion';
  const note = subject === source ? why : `${what} ${subject}: ${why}`;
  const type = kind === 'canary waiting' ? 'Normal' : 'Warning';
  const message = { type, reason: REASONS[kind], action: MIRROR, note } as const;
  return object?.request === undefined && kind === 'deletes held'
    ? { regarding: homeOf(happening), ...message, note: `${source}: ${note}` }
    : about(object, message);
}

/** The Namespace of a source. If that is gone too, its name stands for the uid, as for Nodes. */
function homeOf({ source, namespaceUid }: ProblemChanged): Occurrence['regarding'] {
  const { namespace: name } = splitKey(source);
  return { apiVersion: 'v1', kind: 'Namespace', name, uid: namespaceUid ?? name };
}

function consent({ object, reason }: ConsentChanged): Occurrence | undefined {
  if (object === undefined) return undefined;
  const { name, uid } = object;
  const effect = 'nothing new is accepted and companions here stay as they are';
  const note = `accept-mirrors-from is malformed; ${effect}: ${reason}`;
  const regarding = { apiVersion: 'v1', kind: 'Namespace', name, uid };
  return { regarding, type: 'Warning', reason: 'InvalidAnnotation', action: MIRROR, note };
}
