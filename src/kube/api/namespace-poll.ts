import { type Clock, sleep } from '../../clock/clock.ts';
import { isForbidden, isNotFound } from '../errors.ts';
import type { Transport } from '../http/transport.ts';
import type { ListWatch } from './list-watch.ts';
import { readNamespace } from './read-namespace.ts';
import type { Namespace } from './types.ts';

/** A Namespace, or a placeholder for one that we may not read. */
export type PolledNamespace = Namespace & { readonly unreadable?: boolean };

/** Interval (ms) between two reads of the Namespace. */
const POLL_MS = 30_000;

/**
 * One Namespace, as a list of at most one item and a watch that reads it every 30 s: a Role can
 * allow to `get` its own Namespace, but not to watch it (SPEC P2). A Namespace that we may not read
 * is listed too, marked `unreadable`. The watch reports the Namespace whether or not it has
 * changed: a store knows the versions that it holds.
 */
export function createNamespacePoll(
  transport: Transport,
  name: string,
  clock: Clock,
): ListWatch<PolledNamespace> {
  /** Of the last Namespace read. Missing and unreadable ones get it too: none seems older. */
  let resourceVersion = '0';

  const read = async (signal: AbortSignal) => {
    try {
      const object: PolledNamespace = await readNamespace(transport, name, signal);
      resourceVersion = object.metadata.resourceVersion;
      return { type: 'MODIFIED', object } as const;
    } catch (error) {
      const object: PolledNamespace = { metadata: { name, uid: '', resourceVersion } };
      if (isNotFound(error)) return { type: 'DELETED', object } as const;
      if (isForbidden(error)) return { type: 'MODIFIED', object: { ...object, unreadable: true } } as const;
      throw error;
    }
  };
  return {
    async list(_options, signal) {
      const { type, object } = await read(signal);
      return { items: type === 'DELETED' ? [] : [object], resourceVersion, bytes: 0 };
    },
    async *watch({ sendInitialEvents }, signal) {
      if (sendInitialEvents) {
        const event = await read(signal);
        yield [event, { type: 'BOOKMARK', resourceVersion, initialEventsEnd: true }];
      }
      for (;;) {
        await sleep(clock, POLL_MS, signal);
        if (signal.aborted) return;
        yield [await read(signal)];
      }
    },
  };
}
