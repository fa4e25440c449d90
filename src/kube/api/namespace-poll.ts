import { type Clock, sleep } from '../../clock/clock.ts';
import { isForbidden, isNotFound } from '../errors.ts';
import type { Transport } from '../http/transport.ts';
import { callForObject } from './call-for-object.ts';
import type { ListWatch, WatchEvent } from './list-watch.ts';
import type { Namespace } from './types.ts';

/** A Namespace, or a placeholder for one that we may not read. */
export type PolledNamespace = Namespace & { readonly unreadable?: boolean };

/** Interval (ms) between two reads of the Namespace. */
const POLL_MS = 30_000;

/**
 * One Namespace, as a list of at most one item and a watch that reads it every 30 s: a Role can
 * allow to `get` its own Namespace, but not to watch it (SPEC P2). A Namespace that we may not read
 * is listed too, marked `unreadable`.
 */
export function createNamespacePoll(
  transport: Transport,
  name: string,
  clock: Clock,
): ListWatch<PolledNamespace> {
  const read = async (signal: AbortSignal): Promise<PolledNamespace | undefined> => {
    try {
      const path = `/api/v1/namespaces/${name}`;
      return await callForObject<Namespace>(transport, { method: 'GET', path, signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (isForbidden(error)) return unreadable(name);
      throw error;
    }
  };
  return {
    list: async (_options, signal) => {
      const namespace = await read(signal);
      return {
        items: namespace === undefined ? [] : [namespace],
        resourceVersion: namespace?.metadata.resourceVersion ?? ABSENT,
        bytes: 0,
      };
    },
    watch: async function* (options, signal) {
      let seen = options.resourceVersion ?? ABSENT;
      if (options.sendInitialEvents) {
        const namespace = await read(signal);
        seen = namespace?.metadata.resourceVersion ?? ABSENT;
        const end = { type: 'BOOKMARK', resourceVersion: seen, initialEventsEnd: true } as const;
        yield namespace === undefined ? [end] : [{ type: 'ADDED', object: namespace }, end];
      }
      yield* poll(read, seen, name, clock, signal);
    },
  };
}

/** The resourceVersion of a missing Namespace; a real one is never 0. */
const ABSENT = '0';

async function* poll(
  read: (signal: AbortSignal) => Promise<PolledNamespace | undefined>,
  resourceVersion: string,
  name: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent<PolledNamespace>[]> {
  let seen = resourceVersion;
  for (;;) {
    await sleep(clock, POLL_MS, signal);
    if (signal.aborted) return;
    const namespace = await read(signal);
    const now = namespace?.metadata.resourceVersion ?? ABSENT;
    yield [changeOf(seen, now, namespace, name)];
    seen = now;
  }
}

/** A bookmark if nothing has changed: the sign of life that a watch would give. */
function changeOf(
  seen: string,
  now: string,
  namespace: PolledNamespace | undefined,
  name: string,
): WatchEvent<PolledNamespace> {
  if (now === seen) return { type: 'BOOKMARK', resourceVersion: now, initialEventsEnd: false };
  if (namespace === undefined)
    return { type: 'DELETED', object: { metadata: { name, uid: '', resourceVersion: ABSENT } } };
  return { type: seen === ABSENT ? 'ADDED' : 'MODIFIED', object: namespace };
}

function unreadable(name: string): PolledNamespace {
  return { metadata: { name, uid: '', resourceVersion: 'unreadable' }, unreadable: true };
}
