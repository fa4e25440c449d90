import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';

/** Resolves a host name, as `dns.lookup` does if asked for all addresses. */
export type ResolveHost = (hostname: string, options: LookupOptions) => Promise<readonly LookupAddress[]>;

export const systemResolver: ResolveHost = (hostname, options) => lookup(hostname, { ...options, all: true });

/**
 * Runs one lookup at a time; lookups of one name share it. A lookup occupies a thread, and libuv
 * gives lookups two of the process's four. Two names that do not resolve would otherwise delay
 * every other lookup in the process, those of the API server included.
 */
export function oneAtATime(resolve: ResolveHost): ResolveHost {
  const pending = new Map<string, ReturnType<ResolveHost>>();
  let last: Promise<unknown> = Promise.resolve();
  return (hostname, options) => {
    const shared = pending.get(hostname);
    if (shared !== undefined) return shared;
    const addresses = last.then(() => resolve(hostname, options)).finally(() => pending.delete(hostname));
    pending.set(hostname, addresses);
    last = addresses.catch(() => undefined);
    return addresses;
  };
}
