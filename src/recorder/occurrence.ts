import { createHash } from 'node:crypto';
import type { NewEvent } from '../kube/api/events.ts';
import { type ObjectKey, objectKey } from '../kube/api/object-key.ts';

/** Something that an Event should tell about an object. */
export type Occurrence = Pick<NewEvent, 'regarding' | 'type' | 'reason' | 'action' | 'note'>;

/** Occurrences of one object and reason that one request tells. */
export interface Told {
  readonly latest: Occurrence;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

const MAX_NAME = 253;
/** Limits of the API server, in bytes. */
const MAX_NOTE = 1024;

/** Where Events about objects without a namespace go. */
const DEFAULT_NAMESPACE = 'default';

/**
 * The key of the one Event for an object and a reason. It contains no time, so a restarted process
 * and another replica find the same Event.
 */
export function eventKey({ regarding, reason }: Pick<Occurrence, 'regarding' | 'reason'>): ObjectKey {
  const hash = createHash('sha256').update(`${regarding.uid} ${reason}`).digest('hex').slice(0, 16);
  // A cut may leave a dot or a hyphen at the end, and none may precede the dot.
  const name = regarding.name.slice(0, MAX_NAME - hash.length - 1).replace(/[.-]+$/, '');
  return objectKey(regarding.namespace ?? DEFAULT_NAMESPACE, `${name}.${hash}`);
}

/** The note of several occurrences is the last one's, with their number. */
export function noteOf({ latest, count }: Told): string {
  const others = count === 1 ? '' : ` (and ${count - 1} more)`;
  return cut(latest.note, MAX_NOTE - others.length) + others;
}

/** At most `bytes` of the text, without half a character. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const ellipsis = '…';
  const kept = Buffer.from(text).subarray(0, bytes - Buffer.byteLength(ellipsis));
  return kept.toString().replace(/\uFFFD+$/, '') + ellipsis;
}
