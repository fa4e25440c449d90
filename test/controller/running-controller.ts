import { flagValues } from '../../src/cli/flags/flag-values.ts';
import { CONTROLLER_FLAGS } from '../../src/cli/flags/run-flags.ts';
import { openController } from '../../src/cli/session/controller-session.ts';
import type { Clock } from '../../src/clock/clock.ts';
import type { Cluster } from '../../src/kube/config/cluster.ts';
import { type Metrics, NO_METRICS } from '../../src/telemetry/metrics.ts';
import { RecordedLog } from '../informer/recorded-log.ts';

/** Flags of `run`, by name and in their own notation. */
export type Flags = Readonly<Record<string, string>>;

/** A running controller, started as by `run`. */
export interface RunningController extends AsyncDisposable {
  readonly log: RecordedLog;
  /** Whether it is synced and has nothing left to do. It may not have seen the latest events. */
  isSettled(): boolean;
  /** What has failed. */
  unfinished(): readonly string[];
  /** How many passes over sources have ended. */
  passes(): number;
  /** Stops it as SIGTERM does. Idempotent. */
  stop(): Promise<void>;
}

/** `clock`: that of the controller, not of the server. */
export function startController(cluster: Cluster, flags: Flags, clock: Clock): RunningController {
  const log = new RecordedLog();
  const stopping = new AbortController();
  const values = flagValues(CONTROLLER_FLAGS, flags, {});
  let passes = 0;
  const count = () => {
    passes += 1;
  };
  const counter: Metrics['counter'] = (options) =>
    options.name === 'mirror_reconciles_total'
      ? { with: () => ({ inc: count }) }
      : NO_METRICS.counter(options);
  const session = openController(cluster, values, log, clock, { metrics: { ...NO_METRICS, counter } });
  const { controller } = session;
  const running = controller.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
    await session[Symbol.asyncDispose]();
  };
  return {
    log,
    isSettled: () => controller.isSettled(),
    unfinished: () => controller.unfinished,
    passes: () => passes,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
