import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock/clock.ts';
import type { Cluster } from '../../src/kube/config/cluster.ts';
import { createTransport } from '../../src/kube/http/pooled-transport.ts';
import type { Transport, TransportOptions } from '../../src/kube/http/transport.ts';

/** A transport that stops with the test, or earlier through `stop`. */
export function openTransport(
  cluster: Cluster,
  options: Partial<TransportOptions> = {},
): { readonly transport: Transport; readonly stop: AbortController } {
  const stop = new AbortController();
  const transport = createTransport(cluster, {
    clock: systemClock,
    userAgent: 'mirror-controller/test',
    signal: stop.signal,
    ...options,
  });
  onTestFinished(async () => {
    stop.abort();
    await transport.close();
  });
  return { transport, stop };
}

/** The error that `promise` rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was expected to fail');
}
