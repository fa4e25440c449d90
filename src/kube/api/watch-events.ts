import { StringDecoder } from 'node:string_decoder';
import { malformed } from '../errors.ts';
import { parseJsonObject } from '../http/json.ts';
import { apiErrorOfWatch } from '../http/status.ts';
import { isKubeObject } from './is-kube-object.ts';
import type { WatchEvent } from './list-watch.ts';
import type { KubeObject } from './types.ts';

/** https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/3157-watch-list */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
/** Longest line (characters). It holds one object, and etcd takes objects of up to 1.5 MiB. */
const LONGEST_LINE = 8 * 1024 * 1024;

/**
 * The events in the body of a watch, one batch per chunk that completes any. Yields what came
 * before a bad line, then throws: `ApiError` for an ERROR event, `NetworkError` (`MALFORMED`) for a
 * line that is truncated, too long, or not an event. `server` is `host:port`, for messages.
 */
export async function* watchEvents<T extends KubeObject>(
  chunks: AsyncIterable<Buffer>,
  server: string,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const decoder = new StringDecoder('utf8');
  /** The line that has no end yet. */
  let line = '';
  for await (const chunk of chunks) {
    const [rest = '', ...starts] = decoder.write(chunk).split('\n');
    line += rest;
    const events: WatchEvent<T>[] = [];
    try {
      for (const start of starts) {
        if (line.trim() !== '') events.push(parseEvent<T>(line, server));
        line = start;
      }
    } finally {
      if (events.length > 0) yield events;
    }
    if (line.length > LONGEST_LINE) {
      throw malformed(`the watch of ${server} holds a line that is longer than any object`);
    }
  }
  if (line !== '') throw malformed(`the watch of ${server} ended in the middle of an event`);
}

/** Throws the `ApiError` of an ERROR event. */
function parseEvent<T extends KubeObject>(line: string, server: string): WatchEvent<T> {
  const { type, object }: { type?: unknown; object?: unknown } = parseJsonObject(line) ?? {};
  if (type === 'ERROR') throw apiErrorOfWatch(object);
  if (isKubeObject(object)) {
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') return { type, object: object as T };
    if (type === 'BOOKMARK') {
      const { resourceVersion, annotations } = object.metadata;
      return { type, resourceVersion, initialEventsEnd: annotations?.[INITIAL_EVENTS_END] === 'true' };
    }
  }
  throw malformed(`the watch of ${server} holds a line that is not an event`);
}
