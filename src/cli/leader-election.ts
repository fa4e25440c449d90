import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../clock/clock.ts';
import { createInformer } from '../informer/informer.ts';
import { createListWatch } from '../kube/api/http-list-watch.ts';
import { createLeaseApi, leasesPath } from '../kube/api/leases.ts';
import { keyOf } from '../kube/api/object-key.ts';
import type { Lease } from '../kube/api/types.ts';
import type { Cluster } from '../kube/config/cluster.ts';
import { podNamespace } from '../kube/config/pod-cluster.ts';
import { createTransport, type Transport } from '../kube/http/transport.ts';
import { Elector } from '../leaderelection/elector.ts';
import type { Logger } from '../telemetry/logger.ts';
import { UsageError } from './errors.ts';
import type { FlagValues, RUN_FLAGS } from './flags.ts';
import { version } from './version.ts';

/** client-go's bound for how much longer than the retry period a candidate may wait. */
const JITTER_FACTOR = 1.2;

export interface Election extends AsyncDisposable {
  readonly elector: Elector;
  /** Like `Elector.run`, with a watch on the Lease beside it. */
  run(signal: AbortSignal, onGained: () => void): Promise<void>;
}

/**
 * The election that `--leader-elect` asks for, on its own transport, so that no other request delays
 * a renewal; undefined: every replica may write. A dry run writes nothing and needs no Lease.
 * @throws UsageError
 */
export function openElection(
  cluster: Cluster,
  flags: FlagValues<typeof RUN_FLAGS>,
  log: Logger,
  clock: Clock,
): Election | undefined {
  if (!flags['leader-elect']) return undefined;
  const namespace = checkedNamespace(flags);
  if (flags['dry-run']) return undefined;
  const name = flags['leader-elect-lease-name'];
  const requests = new AbortController();
  const transport = createTransport(cluster, {
    clock,
    userAgent: `mirror-controller/${version} leader-election`,
    signal: requests.signal,
  });
  const elector = new Elector({
    leases: createLeaseApi(transport, namespace, name),
    identity: `${hostname()}_${randomUUID()}`,
    leaseDurationMs: flags['leader-elect-lease-duration'],
    renewDeadlineMs: flags['leader-elect-renew-deadline'],
    retryPeriodMs: flags['leader-elect-retry-period'],
    clock,
    random: Math.random,
    log,
  });
  const watch = watchOf(transport, { namespace, name }, log, clock, (holder) => elector.hint(holder));
  return {
    elector,
    run: async (signal, onGained) => {
      await Promise.all([elector.run(signal, onGained), watch.run(signal)]);
    },
    [Symbol.asyncDispose]: async () => {
      requests.abort();
      await transport.close();
    },
  };
}

/** The namespace of the Lease. Checks the other flags too. */
function checkedNamespace(flags: FlagValues<typeof RUN_FLAGS>): string {
  const namespace = flags['leader-elect-lease-namespace'] ?? podNamespace();
  const problems = [...problemsOf(flags)];
  if (namespace === undefined || problems.length > 0) {
    const unknown =
      'this is not a Pod, so nothing says where the Lease is: use --leader-elect-lease-namespace';
    throw new UsageError([...problems, ...(namespace === undefined ? [unknown] : [])].join('\n'));
  }
  return namespace;
}

function* problemsOf(flags: FlagValues<typeof RUN_FLAGS>): Iterable<string> {
  const leaseMs = flags['leader-elect-lease-duration'];
  const deadlineMs = flags['leader-elect-renew-deadline'];
  const retryMs = flags['leader-elect-retry-period'];
  if (flags.once) {
    yield '--once does not go with --leader-elect: it works at once and ends, and does not wait for another holder; leave one out';
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
}

/** An informer of the one Lease, which tells its holder whenever it changes. */
function watchOf(
  transport: Transport,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  log: Logger,
  clock: Clock,
  onHolder: (holder: string | undefined) => void,
) {
  const path = leasesPath(namespace);
  const listWatch = createListWatch<Lease>(transport, { path, fieldSelector: `metadata.name=${name}` });
  const informer = createInformer({
    name: 'lease',
    listWatches: new Map([[namespace, listWatch]]),
    transform: (lease: Lease) => ({
      key: keyOf(lease),
      uid: lease.metadata.uid,
      resourceVersion: lease.metadata.resourceVersion,
      holder: lease.spec?.holderIdentity || undefined,
    }),
    indexers: {},
    clock,
    random: Math.random,
    log,
  });
  informer.addHandler({
    add: ({ holder }) => onHolder(holder),
    update: (_, { holder }) => onHolder(holder),
    delete: () => onHolder(undefined),
  });
  return informer;
}
