import { openController } from '../../src/cli/controller-session.ts';
import { flagValues } from '../../src/cli/flag-values.ts';
import { CONTROLLER_FLAGS } from '../../src/cli/flags.ts';
import type { Clock } from '../../src/clock/clock.ts';
import type { Cluster } from '../../src/kube/config/cluster.ts';
import { RecordedLog } from '../informer/recorded-log.ts';

/** Flags of `run`, by name and in their own notation. */
export type Flags = Readonly<Record<string, string>>;

/** A controller that works, as `run` would start it. */
export interface RunningController extends AsyncDisposable {
  readonly log: RecordedLog;
  /** Whether it knows the cluster and has nothing left to do; what is still on its way to it does not count. */
  isSettled(): boolean;
  /** What it could not do. */
  unfinished(): readonly string[];
  /** In good order, as on SIGTERM. Idempotent. */
  stop(): Promise<void>;
}

/** `clock`: the controller's; the server has its own. */
export function startController(cluster: Cluster, flags: Flags, clock: Clock): RunningController {
  const log = new RecordedLog();
  const stopping = new AbortController();
  const values = flagValues(CONTROLLER_FLAGS, flags, {});
  const session = openController(cluster, values, log, clock);
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
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
