import type { Transport } from '../http/transport.ts';
import { callForObject } from './call-for-object.ts';
import { type ObjectKey, splitKey } from './object-key.ts';

/** What an Event is about. `namespace` is absent for a cluster-scoped object. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

/** How often the same was observed, from the second time on. */
export interface EventSeries {
  /** At least 2. */
  readonly count: number;
  /** RFC 3339 with microseconds. */
  readonly lastObservedTime: string;
}

/** An Event to create, in events.k8s.io/v1. */
export interface NewEvent {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  /** At most 1,024 bytes. */
  readonly note: string;
  /** RFC 3339 with microseconds. */
  readonly eventTime: string;
  readonly series?: EventSeries;
  readonly reportingController: string;
  readonly reportingInstance: string;
}

/** What both API groups call by the same name. */
export interface KubeEvent {
  readonly eventTime?: string | null;
  readonly series?: EventSeries | null;
}

/**
 * Writes of Events. All of them reject with `ApiError` or `NetworkError`, at the latest at the
 * transport's time limit.
 */
export interface EventApi {
  create(event: NewEvent, signal: AbortSignal): Promise<KubeEvent>;
  /** In events.k8s.io/v1 nothing else of an Event may change. */
  patchSeries(key: ObjectKey, series: EventSeries, signal: AbortSignal): Promise<KubeEvent>;
  /** In core/v1, which calls the note `message` and lets it change. */
  patchMessage(
    key: ObjectKey,
    change: { readonly message: string; readonly series?: EventSeries },
    signal: AbortSignal,
  ): Promise<KubeEvent>;
}

const MERGE_PATCH = 'application/merge-patch+json';

/** `mayBeSent`: as in `ApiRequest`. */
export function createEventApi(
  transport: Transport,
  options: { readonly fieldManager: string; readonly mayBeSent?: () => boolean },
): EventApi {
  const { mayBeSent } = options;
  const managed = `?fieldManager=${encodeURIComponent(options.fieldManager)}`;
  const patch = (group: string, key: ObjectKey, change: object, signal: AbortSignal) => {
    const { namespace, name } = splitKey(key);
    const path = `${collectionOf(group, namespace)}/${encodeURIComponent(name)}${managed}`;
    const headers = { 'content-type': MERGE_PATCH };
    const body = JSON.stringify(change);
    return callForObject<KubeEvent>(transport, { method: 'PATCH', path, headers, body, mayBeSent, signal });
  };
  return {
    create: (event, signal) =>
      callForObject<KubeEvent>(transport, {
        method: 'POST',
        path: collectionOf('/apis/events.k8s.io', event.metadata.namespace) + managed,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ apiVersion: 'events.k8s.io/v1', kind: 'Event', ...event }),
        mayBeSent,
        signal,
      }),
    patchSeries: (key, series, signal) => patch('/apis/events.k8s.io', key, { series }, signal),
    patchMessage: (key, change, signal) => patch('/api', key, change, signal),
  };
}

function collectionOf(group: string, namespace: string): string {
  return `${group}/v1/namespaces/${encodeURIComponent(namespace)}/events`;
}
