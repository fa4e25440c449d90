import { type ApiError, malformed } from '../errors.ts';
import { parseJsonObject } from '../http/json.ts';
import { apiErrorOfWatch } from '../http/status.ts';
import { LineSplitter, LineTooLongError } from './json-lines.ts';
import type { WatchEvent } from './list-watch.ts';
import type { KubeObject } from './types.ts';

/** https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/3157-watch-list */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/**
 * The events in the body of a watch, one batch per chunk that completes any. Yields what came
 * before a bad line, then throws: `ApiError` for an ERROR event, `NetworkError` (`MALFORMED`) for a
 * line that is truncated, too long, or not an event. `server` is `host:port`, for messages.
 */
export async function* watchEvents<T extends KubeObject>(
  chunks: AsyncIterable<Buffer>,
  server: string,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const lines = new LineSplitter();
  for await (const chunk of chunks) {
    const { events, error } = readChunk<T>(lines, chunk, server);
    if (events.length > 0) yield events;
    if (error !== undefined) throw error;
  }
  if (lines.isInsideLine) throw malformed(`the watch of ${server} ended in the middle of an event`);
}

function readChunk<T extends KubeObject>(
  lines: LineSplitter,
  chunk: Buffer,
  server: string,
): { events: WatchEvent<T>[]; error?: Error } {
  const events: WatchEvent<T>[] = [];
  try {
    for (const line of lines.push(chunk)) {
      const event = parseEvent<T>(line);
      if (event instanceof Error) return { events, error: event };
      if (event === undefined)
        return { events, error: malformed(`the watch of ${server} holds a line that is not an event`) };
      events.push(event);
    }
  } catch (error) {
    if (!(error instanceof LineTooLongError)) throw error;
    return { events, error: malformed(`the watch of ${server} holds a line that is longer than any object`) };
  }
  return { events };
}

/** The event of a line; the `ApiError` of an ERROR event; undefined for anything else. */
function parseEvent<T extends KubeObject>(line: string): WatchEvent<T> | ApiError | undefined {
  const { type, object }: { type?: unknown; object?: unknown } = parseJsonObject(line) ?? {};
  if (type === 'ERROR') return apiErrorOfWatch(object);
  if (!isKubeObject(object)) return undefined;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: object as T };
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = object.metadata;
      return { type, resourceVersion, initialEventsEnd: annotations?.[INITIAL_EVENTS_END] === 'true' };
    }
    default:
      return undefined;
  }
}

function isKubeObject(value: unknown): value is KubeObject {
  const metadata = (value as Partial<KubeObject> | null | undefined)?.metadata;
  return typeof metadata?.resourceVersion === 'string' && metadata.resourceVersion !== '';
}
