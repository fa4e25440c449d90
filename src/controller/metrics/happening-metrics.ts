import type { Clock } from '../../clock/clock.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Listener, Noticed, Reconciled, Written } from '../memory/happening.ts';
import { Propagation } from './propagation.ts';

const CAUSES: readonly Noticed['cause'][] = ['edit', 'heal', 'namespace'];
const VERBS: readonly Written['action'][] = ['create', 'update', 'replace', 'delete'];
const WRITE_RESULTS: readonly Written['result'][] = ['ok', 'stale', 'failed'];
const RECONCILE_RESULTS: readonly Reconciled['result'][] = ['ok', 'invalid', 'failed', 'stale'];
/** Upper bounds (s). */
const RECONCILE_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const PROPAGATION_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts what the controller does (SPEC O1). `mayWrite`: false on a standby. */
export function happeningMetrics(metrics: Metrics, clock: Clock, mayWrite: () => boolean): Listener {
  const reconciles = metrics.counter({
    name: 'mirror_reconciles_total',
    help: 'Passes over a source that have ended.',
    labels: { result: RECONCILE_RESULTS },
  });
  const reconcileDuration = metrics
    .histogram({
      name: 'mirror_reconcile_duration_seconds',
      help: 'Time from the beginning of a pass to the answer to its last write.',
      labels: {},
      buckets: RECONCILE_BUCKETS,
    })
    .with();
  const writes = metrics.counter({
    name: 'mirror_writes_total',
    help: 'Writes of companions; stale: the cache was behind, which is normal, and it is planned again.',
    labels: { verb: VERBS, result: WRITE_RESULTS },
  });
  const single = (name: string, help: string) => metrics.counter({ name, help, labels: {} }).with();
  const heals = single('mirror_heals_total', 'Writes that undid what another client did to a companion.');
  const fights = single(
    'mirror_fights_total',
    'Times that another client began to change a companion again and again.',
  );
  const durations = metrics.histogram({
    name: 'mirror_propagation_seconds',
    help: 'Time from the watch event of a change to the answer to the last write of a companion.',
    labels: { cause: CAUSES },
    buckets: PROPAGATION_BUCKETS,
  });
  const propagation = new Propagation(clock, (cause, seconds) => durations.with(cause).observe(seconds));
  const written = ({ action, result, heal }: Written) => {
    if (VERBS.includes(action)) writes.with(action, result).inc();
    if (heal !== undefined) heals.inc();
  };
  const reconciled = ({ result, durationMs }: Reconciled) => {
    reconciles.with(result).inc();
    reconcileDuration.observe(durationMs / 1000);
  };
  return (happening) => {
    switch (happening.type) {
      case 'noticed':
        if (mayWrite()) propagation.noticed(happening);
        else propagation.forget(happening.source);
        break;
      case 'written':
        written(happening);
        propagation.written(happening);
        break;
      case 'reconciled':
        reconciled(happening);
        propagation.reconciled(happening);
        break;
      case 'problem':
        if (happening.kind === 'fighting' && happening.state === 'began') fights.inc();
    }
  };
}
