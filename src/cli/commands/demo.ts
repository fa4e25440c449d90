import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { sleep, systemClock } from '../../clock/clock.ts';
import { type DemoDeps, type Place, playDemo } from '../../demo/demo.ts';
import { Narrator } from '../../demo/narrator.ts';
import { DemoError } from '../../demo/player.ts';
import { DELETE_BRAKE, GUEST, TEAMS } from '../../demo/setting.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { RunError, UsageError } from '../errors.ts';
import type { DEMO_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { flagValues } from '../flags/flag-values.ts';
import { CONTROLLER_FLAGS } from '../flags/run-flags.ts';
import { type ProcessIo, readerGone, useColour } from '../io.ts';
import { openController } from '../session/controller-session.ts';
import { explain } from '../session/first-contact.ts';
import { clusterFor } from '../session/from-flags.ts';
import { sandboxCluster } from './sandbox.ts';

const OUTAGE = { code: 503, reason: 'ServiceUnavailable', message: 'the demo makes the API server fail' };

/** `mirror-controller demo`: the workshop, on its own sandbox or with `--context` on a cluster. */
export async function demo(flags: FlagValues<typeof DEMO_FLAGS>, process: ProcessIo): Promise<void> {
  // Also when the reader has gone the demo still cleans up.
  const io = { ...process, signal: AbortSignal.any([process.signal, readerGone(process.stdout)]) };
  const pause = pauseOf(flags.pace, io);
  if (flags.context !== undefined) return play({ cluster: clusterFor(flags, io) }, pause, io);
  if (flags.kubeconfig !== undefined) {
    // A kubeconfig alone must not make the demo use its cluster (SPEC C5).
    throw new UsageError(
      `--kubeconfig ${flags.kubeconfig}: the demo creates namespaces, so it uses a cluster only with --context; ` +
        'give --context NAME too, or leave out the kubeconfig to play on the sandbox',
    );
  }
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  try {
    await server.start();
    const setFailing = (failing: boolean) => server.outage(failing ? OUTAGE : undefined);
    await play({ cluster: sandboxCluster(server), setFailing }, pause, io);
  } finally {
    await server.stop();
  }
}

/** Waits for Enter on a terminal, unless there is a pace. */
function pauseOf(pace: number | undefined, { stdin, stdout, signal }: ProcessIo): DemoDeps['pause'] {
  if (pace !== undefined || !stdout.isTTY) return () => sleep(systemClock, pace ?? 0, signal);
  const lines = createInterface({ input: stdin, signal })[Symbol.asyncIterator]();
  return async () => {
    stdout.write('    Press Enter for the next step. ');
    // Enter ends the prompt's line; the end of the input or of the demo does not.
    if ((await lines.next()).done) stdout.write('\n');
  };
}

async function play(
  place: Place,
  pause: DemoDeps['pause'],
  { stdout, env, signal }: ProcessIo,
): Promise<void> {
  const { cluster, setFailing } = place;
  // In a real cluster the controller may write only where the demo plays.
  const bounds = setFailing === undefined && { 'allow-target-namespaces': [...TEAMS, GUEST] };
  try {
    await playDemo(place, {
      openController: (domain, log) =>
        openController(
          cluster,
          flagValues(CONTROLLER_FLAGS, { domain, ...bounds, 'delete-brake': `${DELETE_BRAKE}` }, {}),
          log,
          systemClock,
        ),
      narrator: new Narrator({
        write: (text) => stdout.write(text),
        colour: useColour(stdout, env),
        columns: stdout.columns || undefined,
      }),
      clock: systemClock,
      random: Math.random,
      signal,
      pause,
    });
  } catch (error) {
    if (error instanceof DemoError) throw new RunError(error.message);
    const fix = 'The demo creates namespaces and what is in them: use a --context that may.';
    throw new RunError(explain(error, cluster, fix).join('\n'));
  }
}
