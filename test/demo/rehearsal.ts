import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { openController } from '../../src/cli/controller-session.ts';
import { flagValues } from '../../src/cli/flag-values.ts';
import { CONTROLLER_FLAGS } from '../../src/cli/flags.ts';
import { sandboxCluster } from '../../src/cli/sandbox.ts';
import { type Clock, systemClock } from '../../src/clock/clock.ts';
import type { Stage } from '../../src/demo/demo.ts';
import { Narrator } from '../../src/demo/narrator.ts';
import type { DemoController, PerformanceDeps } from '../../src/demo/perform.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Logger } from '../../src/telemetry/logger.ts';

const DEADLINE_MS = 10_000;
const OUTAGE = { code: 503, reason: 'ServiceUnavailable', message: 'rehearsed' };

/** A sandbox and a controller, put together as the command does, where a test can reach them. */
export interface Rehearsal extends AsyncDisposable {
  readonly server: Sandbox;
  readonly stage: Stage;
  readonly setFailing: (failing: boolean) => void;
  readonly deps: PerformanceDeps;
  /** What the narrator has said. */
  readonly out: () => string;
  /** Ends the demo, as Ctrl-C does. */
  readonly interrupt: () => void;
  /** Ends the controller behind the demo's back: whatever the demo waits for from now on, it waits in vain, and briefly. */
  readonly haltController: () => void;
  readonly isControllerRunning: () => boolean;
}

export async function rehearsal(
  options: {
    /** Of the controller, as on its command line. */
    readonly flags?: Readonly<Record<string, string>>;
    /** Called with each line that the narrator has said. */
    readonly onLine?: (line: string, self: Rehearsal) => void;
  } = {},
): Promise<Rehearsal> {
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  await server.start();
  const setFailing = (failing: boolean) => server.outage(failing ? OUTAGE : undefined);
  const stop = new AbortController();
  const halt = new AbortController();
  let text = '';
  let isRunning = false;

  const open = (domain: string, log: Logger): DemoController => {
    const flags = flagValues(CONTROLLER_FLAGS, { domain, ...options.flags }, {});
    const session = openController(sandboxCluster(server), flags, log, systemClock);
    return {
      isSynced: () => session.controller.isSynced(),
      run: async (signal) => {
        isRunning = true;
        await session.controller.run(AbortSignal.any([signal, halt.signal]));
        await session[Symbol.asyncDispose]();
        // Who does not wait for it to stop is found out.
        await delay(100);
        isRunning = false;
      },
    };
  };
  // The demo's deadline is the only timer of just this length.
  const clock: Clock = {
    ...systemClock,
    setTimer: (delayMs, callback) =>
      systemClock.setTimer(delayMs === DEADLINE_MS && halt.signal.aborted ? 100 : delayMs, callback),
  };
  const self: Rehearsal = {
    server,
    stage: { kind: 'sandbox', cluster: sandboxCluster(server), setFailing },
    setFailing,
    deps: {
      openController: ({ domain }, log) => open(domain, log),
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
      deadlineMs: DEADLINE_MS,
      pauseMs: 0,
    },
    out: () => text,
    interrupt: () => stop.abort(),
    haltController: () => halt.abort(),
    isControllerRunning: () => isRunning,
    [Symbol.asyncDispose]: () => server.stop(),
  };
  return self;
}
