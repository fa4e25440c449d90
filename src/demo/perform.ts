import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock/clock.ts';
import type { Transport } from '../kube/http/transport.ts';
import type { Logger } from '../telemetry/logger.ts';
import { castOf, GUEST, type Setting, TEAMS } from './cast.ts';
import { Changes } from './changes.ts';
import type { Command } from './command.ts';
import { watchConfigMaps } from './config-maps-seen.ts';
import { DemoError } from './demo-error.ts';
import { LogRecords } from './log-records.ts';
import type { Narrator } from './narrator.ts';
import { Player, type Tally } from './player.ts';
import { scriptFor } from './script.ts';

/** A controller, as far as the demo knows it. */
export interface DemoController {
  /** Mirrors until `signal` aborts; resolves when it has stopped. */
  run(signal: AbortSignal): Promise<void>;
  isSynced(): boolean;
}

export interface PerformanceDeps {
  /** The controller must use the setting's labels, and log what it does, debug records too, to `log`. */
  readonly openController: (setting: Setting, log: Logger) => DemoController;
  readonly narrator: Narrator;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  /** Ends the demo in good order. */
  readonly signal: AbortSignal;
  /** The effect of a step is waited for so long, milliseconds. */
  readonly deadlineMs: number;
  /** Before each step, for a person to follow, milliseconds; 0: none. */
  readonly pauseMs: number;
}

/** Where and how one performance is given. */
export interface Venue {
  readonly setting: Setting;
  /** The demo's own, not the controller's. */
  readonly transport: Transport;
  /** Does what a person would do by typing the command. */
  readonly send: (command: Command) => Promise<unknown>;
  /** Lets the API server fail the controller's writes, or recover; absent where that is not in our power. */
  readonly setFailing?: (failing: boolean) => void;
}

/**
 * Runs a controller, plays the script to it, and stops it again. Resolves to what came of it.
 * @throws DemoError when a step does not hold, the cluster refuses, or `signal` aborts.
 */
export async function perform(venue: Venue, deps: PerformanceDeps): Promise<Tally> {
  const { setting, transport, send, setFailing } = venue;
  const changes = new Changes();
  const onChange = () => changes.notify();
  const log = new LogRecords(onChange);
  const controller = deps.openController(setting, log);
  const informer = watchConfigMaps({
    ...deps,
    transport,
    namespaces: [setting.home, ...TEAMS, GUEST],
    onChange,
    log: new LogRecords(onChange),
  });
  const stop = new AbortController();
  // Half a dozen watches and the controller listen to it, and Node would warn of a leak at the eleventh.
  setMaxListeners(0, stop.signal);
  const running = Promise.all([controller.run(stop.signal), informer.run(stop.signal)]);
  // It is awaited at the end; should it fail before, the end must be reached all the same, to clean up.
  running.catch(() => undefined);
  try {
    // The controller's informer wakes us by what the controller logs then.
    void informer.whenSynced(stop.signal).then(onChange);
    await synced(() => controller.isSynced() && informer.isSynced(), log, changes, deps);
    const player = new Player({ ...deps, send, configMaps: informer.lister, log, changes, setFailing });
    return await player.play(scriptFor(castOf(setting)));
  } finally {
    stop.abort();
    await running;
  }
}

async function synced(
  isSynced: () => boolean,
  log: LogRecords,
  changes: Changes,
  { clock, signal, deadlineMs }: PerformanceDeps,
): Promise<void> {
  if (await changes.until(() => isSynced() || undefined, { clock, signal, deadlineMs })) return;
  if (signal.aborted) throw new DemoError('interrupted before the first step');
  const complaint = log.lastComplaint() ?? 'it does not say why';
  throw new DemoError(`the controller has not filled its caches within ${deadlineMs / 1000} s: ${complaint}`);
}
