import { randomUUID } from 'node:crypto';
import { systemClock } from '../clock/clock.ts';
import { GUEST, type Setting, TEAMS } from '../demo/cast.ts';
import { playDemo, type Stage } from '../demo/demo.ts';
import { DemoError } from '../demo/demo-error.ts';
import { Narrator } from '../demo/narrator.ts';
import type { DemoController, PerformanceDeps } from '../demo/perform.ts';
import type { Cluster } from '../kube/config/cluster.ts';
import { createTransport } from '../kube/http/transport.ts';
import { DEFAULT_DOMAIN, vocabularyOf, watchSelector } from '../mirror/vocabulary.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import type { Logger } from '../telemetry/logger.ts';
import { openController } from './controller-session.ts';
import { RunError, UsageError } from './errors.ts';
import { firstContact } from './first-contact.ts';
import { flagValues } from './flag-values.ts';
import { CONTROLLER_FLAGS, type DEMO_FLAGS, type FlagValues } from './flags.ts';
import { type ProcessIo, useColour } from './io.ts';
import { clusterFor } from './run.ts';
import { sandboxCluster } from './sandbox.ts';
import { version } from './version.ts';

/** Time (ms) within which the effect of a step must show. Most take milliseconds, the longest about a second. */
const DEADLINE_MS = 10_000;
/** Pause (ms) before each step on a terminal, for a person to follow. */
const PAUSE_MS = 300;
const OUTAGE = { code: 503, reason: 'ServiceUnavailable', message: 'the demo makes the API server fail' };

/** Nobody's cluster is touched because a kubeconfig is set (SPEC C5). */
const CONTEXT_NEEDED =
  'the demo creates namespaces, so it uses a cluster only with --context; give --context NAME too, or leave out the kubeconfig to play on the sandbox';

/** `mirror-controller demo`: the workshop, on a sandbox of its own, or with `--context` on a cluster. */
export async function demo(flags: FlagValues<typeof DEMO_FLAGS>, process: ProcessIo): Promise<void> {
  const io = { ...process, signal: AbortSignal.any([process.signal, readerGone(process.stdout)]) };
  try {
    if (flags.context !== undefined) await playInCluster(clusterFor(flags, io), io);
    else if (flags.kubeconfig === undefined) await playInSandbox(io);
    else throw new UsageError(`--kubeconfig ${flags.kubeconfig}: ${CONTEXT_NEEDED}`);
  } catch (error) {
    if (error instanceof DemoError) throw new RunError(error.message);
    throw error;
  }
}

/** Aborts when nobody reads any more, as in `demo | head`: unheard, that error would end the process before it has cleaned up. */
function readerGone(stdout: ProcessIo['stdout']): AbortSignal {
  const gone = new AbortController();
  stdout.on('error', () => gone.abort());
  return gone.signal;
}

async function playInSandbox(io: ProcessIo): Promise<void> {
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  try {
    await server.start();
    const setFailing = (failing: boolean) => server.outage(failing ? OUTAGE : undefined);
    const stage: Stage = { kind: 'sandbox', cluster: sandboxCluster(server), setFailing };
    await playDemo(stage, performanceDeps(stage, io));
  } finally {
    await server.stop();
  }
}

async function playInCluster(cluster: Cluster, io: ProcessIo): Promise<void> {
  const transport = createTransport(cluster, {
    clock: systemClock,
    userAgent: `mirror-controller/${version}`,
    signal: io.signal,
  });
  try {
    const labelSelector = watchSelector(vocabularyOf(DEFAULT_DOMAIN));
    await firstContact({ transport, cluster, namespaces: undefined, labelSelector, signal: io.signal });
  } finally {
    await transport.close();
  }
  const stage: Stage = { kind: 'cluster', cluster };
  await playDemo(stage, performanceDeps(stage, io));
}

function performanceDeps(stage: Stage, { stdout, env, signal }: ProcessIo): PerformanceDeps {
  return {
    openController: (setting, log) => openDemoController(stage, setting, log),
    narrator: new Narrator({
      write: (text) => stdout.write(text),
      colour: useColour(stdout, env),
    }),
    clock: systemClock,
    random: Math.random,
    signal,
    deadlineMs: DEADLINE_MS,
    pauseMs: stdout.isTTY ? PAUSE_MS : 0,
  };
}

/** The controller of `run`, with its defaults; in somebody's cluster it may write only where the demo plays. */
function openDemoController({ kind, cluster }: Stage, { domain }: Setting, log: Logger): DemoController {
  const bounds = kind === 'cluster' ? { 'allow-target-namespaces': [...TEAMS, GUEST] } : {};
  const flags = flagValues(CONTROLLER_FLAGS, { domain, ...bounds }, {});
  const session = openController(cluster, flags, log, systemClock);
  return {
    isSynced: () => session.controller.isSynced(),
    run: async (signal) => {
      await using running = session;
      await running.controller.run(signal);
    },
  };
}
