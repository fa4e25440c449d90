import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../clock/clock.ts';
import type { WriteFence } from '../../kube/api/config-maps.ts';
import { createListWatch } from '../../kube/api/http-list-watch.ts';
import { createLeaseApi, leasesPath } from '../../kube/api/leases.ts';
import type { Lease } from '../../kube/api/types.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { podNamespace } from '../../kube/config/pod-cluster.ts';
import { createTransport } from '../../kube/http/pooled-transport.ts';
import type { TransportOptions } from '../../kube/http/transport.ts';
import { Elector } from '../../leaderelection/elector.ts';
import { watchHolder } from '../../leaderelection/watch-holder.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { UsageError } from '../errors.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { RUN_FLAGS } from '../flags/run-flags.ts';
import { USER_AGENT } from '../version.ts';
import type { Follower } from './follower.ts';

/** client-go's bound for how much longer than the retry period a candidate may wait. */
const JITTER_FACTOR = 1.2;

/** client-go's tolerance (ms) for a holder that does not renew its Lease in time. */
const TOLERANCE_MS = 20_000;

export interface Election extends AsyncDisposable {
  /** Whether this process leads. */
  readonly fence: WriteFence;
  /** The name of the Lease. */
  readonly name: string;
  /**
   * Why this process must not go on: it believes that it leads, long after others could take over.
   * Undefined: all is well.
   */
  problem(): string | undefined;
  /** Like `Elector.run`, with a watch on the Lease beside it. */
  run(signal: AbortSignal, onGained: () => void): Promise<void>;
}

/**
 * The election that `--leader-elect` asks for, on its own transport, so that no other request
 * delays a renewal; undefined: every replica may write. A dry run writes nothing and needs no
 * Lease. `onAnswer`: see `TransportOptions`.
 * @throws UsageError
 */
export function openElection(
  cluster: Cluster,
  flags: FlagValues<typeof RUN_FLAGS>,
  log: Logger,
  clock: Clock,
  onAnswer?: TransportOptions['onAnswer'],
): Election | undefined {
  if (!flags['leader-elect']) return undefined;
  const namespace = checkedNamespace(flags);
  if (flags['dry-run']) return undefined;
  const name = flags['leader-elect-lease-name'];
  const retryPeriodMs = flags['leader-elect-retry-period'];
  const requests = new AbortController();
  const transport = createTransport(cluster, {
    clock,
    userAgent: `${USER_AGENT} leader-election`,
    signal: requests.signal,
    // A longer one would end the leadership, and a stop would not release the Lease.
    longestDelayMs: retryPeriodMs,
    onAnswer,
  });
  const elector = new Elector({
    leases: createLeaseApi(transport, namespace, name),
    identity: `${hostname()}_${randomUUID()}`,
    leaseDurationMs: flags['leader-elect-lease-duration'],
    renewDeadlineMs: flags['leader-elect-renew-deadline'],
    retryPeriodMs,
    clock,
    random: Math.random,
    log,
  });
  const leases = createListWatch<Lease>(transport, {
    path: leasesPath(namespace),
    fieldSelector: `metadata.name=${name}`,
  });
  const onChange = (holder: string | undefined) => elector.hint(holder);
  const watch = { leases, onChange, retryPeriodMs, clock, log };
  return {
    fence: elector.leadership,
    name,
    problem: () => {
      const ms = elector.leadership.renewalAgeMs() ?? 0;
      const isLate = ms > flags['leader-elect-lease-duration'] + TOLERANCE_MS;
      return isLate ? `leading, and the Lease was not renewed for ${Math.round(ms / 1000)} s` : undefined;
    },
    run: async (signal, onGained) => {
      await Promise.all([elector.run(signal, onGained), watchHolder(watch, signal)]);
    },
    [Symbol.asyncDispose]: async () => {
      requests.abort();
      await transport.close();
    },
  };
}

/**
 * Runs the controller, with what follows it, and the election beside it. The Lease is released
 * last, when writes in flight have ended or are aborted, and also if the controller fails (SPEC
 * L3).
 */
export async function runElected(
  follower: Follower,
  election: Pick<Election, 'run'>,
  signal: AbortSignal,
): Promise<void> {
  const resign = new AbortController();
  const campaign = election.run(resign.signal, () => void follower.takeOver());
  try {
    await follower.run(signal);
  } finally {
    resign.abort();
    await campaign;
  }
}

/** The namespace of the Lease. Checks the other flags too. */
function checkedNamespace(flags: FlagValues<typeof RUN_FLAGS>): string {
  const namespace = flags['leader-elect-lease-namespace'] ?? podNamespace();
  const problems = [...problemsOf(flags, namespace)];
  if (namespace === undefined || problems.length > 0) throw new UsageError(problems.join('\n'));
  return namespace;
}

function* problemsOf(flags: FlagValues<typeof RUN_FLAGS>, namespace: string | undefined): Iterable<string> {
  const leaseMs = flags['leader-elect-lease-duration'];
  const deadlineMs = flags['leader-elect-renew-deadline'];
  const retryMs = flags['leader-elect-retry-period'];
  if (flags.once) {
    yield '--once cannot be combined with --leader-elect, because it does not wait to become the leader; leave one out';
  }
  if (leaseMs < 1000 || leaseMs % 1000 !== 0) {
    yield '--leader-elect-lease-duration must be whole seconds, at least 1s: a Lease holds no others';
  }
  if (leaseMs <= deadlineMs) {
    yield '--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline, so that the holder stops before others take over';
  }
  if (retryMs <= 0) yield '--leader-elect-retry-period must be above 0';
  if (deadlineMs <= JITTER_FACTOR * retryMs) {
    yield `--leader-elect-renew-deadline must be longer than ${JITTER_FACTOR} × --leader-elect-retry-period, so that there is time for a second attempt`;
  }
  if (namespace === undefined) {
    yield 'not running in a Pod, so the namespace of the Lease is unknown; set --leader-elect-lease-namespace';
  }
}
