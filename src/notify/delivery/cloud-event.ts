import { createHash } from 'node:crypto';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Content } from '../../mirror/observe/content.ts';
import { fullType } from '../event-types.ts';
import type { Notification } from '../state/record.ts';

/** Most data (bytes) in a body; more is left out. */
const MAX_CONTENT_BYTES = 256 * 1024;

/** A notification, and the source that it is about. */
export interface Item {
  readonly uid: string;
  readonly ref: ObjectKey;
  readonly notification: Notification;
}

/** The same for every attempt and every replica (SPEC N3). */
export function notificationId(sink: string, uid: string, { type, seq, version }: Notification): string {
  const parts = [sink, fullType(type), uid, seq, version];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

export interface CloudEventOptions extends Item {
  readonly id: string;
  readonly cluster: string;
  /** Whether the names of the keys that changed may be said. */
  readonly withKeys: boolean;
  /** Undefined: it is not asked for. `omitted`: it is, and no longer there. */
  readonly content: Content | 'omitted' | undefined;
}

/** A structured CloudEvent: the body of a webhook (docs/notifications.md describes it). */
export function cloudEvent(options: CloudEventOptions): string {
  const { id, cluster, uid, ref, notification, withKeys, content } = options;
  const { type, seq, at, changedKeys, ...facts } = notification;
  return JSON.stringify({
    specversion: '1.0',
    id,
    // A URI reference.
    source: encodeURI(`/mirror-controller/${cluster}`),
    type: fullType(type),
    subject: ref,
    time: at,
    // https://github.com/cloudevents/spec/blob/main/cloudevents/extensions/sequence.md
    sequence: String(seq),
    datacontenttype: 'application/json',
    data: {
      uid,
      ...facts,
      ...(withKeys && changedKeys && { changedKeys }),
      ...contentOf(content),
    },
  });
}

function contentOf(content: CloudEventOptions['content']): object {
  if (content === undefined) return {};
  if (content === 'omitted' || sizeOf(content) > MAX_CONTENT_BYTES) return { contentOmitted: true };
  const { data, binaryData } = content;
  return { data, ...(Object.keys(binaryData).length > 0 && { binaryData }) };
}

function sizeOf({ data, binaryData }: Content): number {
  const entries = [...Object.entries(data), ...Object.entries(binaryData)];
  return entries.reduce((bytes, [key, value]) => bytes + key.length + Buffer.byteLength(value), 0);
}
