import type { ObjectKey } from '../kube/api/object-key.ts';

/** Says something on a source, as an Event. */
export type Report = (
  uid: string,
  ref: ObjectKey,
  reason: 'SinkUnavailable' | 'SinkGone' | 'NotificationDropped',
  note: string,
) => void;
