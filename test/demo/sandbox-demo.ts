import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sandboxCluster } from '../../src/cli/commands/sandbox.ts';
import { flagValues } from '../../src/cli/flags/flag-values.ts';
import { CONTROLLER_FLAGS } from '../../src/cli/flags/run-flags.ts';
import { openController } from '../../src/cli/session/controller-session.ts';
import { type Clock, systemClock } from '../../src/clock/clock.ts';
import type { DemoDeps, Place } from '../../src/demo/demo.ts';
import { Narrator } from '../../src/demo/narrator.ts';
import { DELETE_BRAKE } from '../../src/demo/setting.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Logger } from '../../src/telemetry/logger.ts';

const OUTAGE = { code: 503, reason: 'ServiceUnavailable', message: 'outage of the test' };

/** A sandbox and a demo on it, put together as the command does, where a test can reach them. */
export interface SandboxDemo extends AsyncDisposable {
  readonly server: Sandbox;
  readonly place: Place;
  readonly setFailing: (failing: boolean) => void;
  readonly deps: DemoDeps;
  /** What the narrator has written. */
  readonly out: () => string;
  /** Ends the demo, as Ctrl-C does. */
  readonly interrupt: () => void;
  /**
   * Stops the controller without the demo's knowledge. From then on, the demo's time limits are
   * short.
   */
  readonly haltController: () => void;
  readonly isControllerRunning: () => boolean;
}

export async function openSandboxDemo(
  options: {
    /** Of the controller, as on its command line. */
    readonly flags?: Readonly<Record<string, string>>;
    /** Called with each line that the narrator writes. */
    readonly onLine?: (line: string, self: SandboxDemo) => void;
  } = {},
): Promise<SandboxDemo> {
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  await server.start();
  const setFailing = (failing: boolean) => server.outage(failing ? OUTAGE : undefined);
  const stop = new AbortController();
  const halt = new AbortController();
  let text = '';
  let isRunning = false;

  const openForDemo = (domain: string, log: Logger) => {
    const flags = flagValues(
      CONTROLLER_FLAGS,
      { domain, 'delete-brake': `${DELETE_BRAKE}`, ...options.flags },
      {},
    );
    const session = openController(sandboxCluster(server), flags, log, systemClock);
    const run = async (signal: AbortSignal) => {
      isRunning = true;
      await session.controller.run(AbortSignal.any([signal, halt.signal]));
      // Shows whether the demo waits for the controller to stop.
      await delay(100);
      isRunning = false;
    };
    const isSynced = () => session.controller.isSynced();
    const isSettled = () => session.controller.isSettled();
    const dispose = () => session[Symbol.asyncDispose]();
    return { controller: { run, isSynced, isSettled }, [Symbol.asyncDispose]: dispose };
  };
  // The demo's own: its time limits pass a hundred times as fast once the controller is halted.
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() * (halt.signal.aborted ? 100 : 1),
  };
  const self: SandboxDemo = {
    server,
    place: { cluster: sandboxCluster(server), setFailing },
    setFailing,
    deps: {
      openController: openForDemo,
      narrator: new Narrator({
        write: (line) => {
          text += line;
          options.onLine?.(line, self);
        },
        colour: false,
      }),
      clock,
      random: Math.random,
      signal: stop.signal,
      pause: () => Promise.resolve(),
    },
    out: () => text,
    interrupt: () => stop.abort(),
    haltController: () => halt.abort(),
    isControllerRunning: () => isRunning,
    [Symbol.asyncDispose]: () => server.stop(),
  };
  return self;
}
