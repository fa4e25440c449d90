import { randomUUID } from 'node:crypto';
import { aborted, systemClock } from '../../clock/clock.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { shellQuoted } from '../../mirror/shell-quoted.ts';
import { createSandbox, type Sandbox, servedKinds } from '../../sandbox/sandbox.ts';
import { messageOf, RunError } from '../errors.ts';
import type { SANDBOX_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { ProcessIo } from '../io.ts';
import { openController } from '../session/controller-session.ts';
import { loggerFor } from '../session/from-flags.ts';
import { refuseTaken, writeKubeconfig } from '../session/sandbox-kubeconfig.ts';

/** `mirror-controller sandbox`: an API server in memory, with the controller, until stopped. */
export async function sandbox(flags: FlagValues<typeof SANDBOX_FLAGS>, io: ProcessIo): Promise<void> {
  const log = loggerFor(flags, io);
  if (flags.kubeconfig !== undefined) await refuseTaken(flags.kubeconfig);
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  try {
    await server.start(flags.port).catch((error) => {
      const what = `the sandbox cannot listen on port ${flags.port}: ${messageOf(error)}`;
      throw new RunError(`${what}\nChoose another --port, or leave it out.`);
    });
    using kubeconfig = writeKubeconfig(flags.kubeconfig, server);
    const { path } = kubeconfig;
    io.stdout.write(`serves: ${servedKinds().join(', ')}\n`);
    io.stdout.write(`kubeconfig: ${path}\nexport KUBECONFIG=${shellQuoted(path)}\n`);
    if (!flags.controller) return await aborted(io.signal);
    await using session = openController(sandboxCluster(server), flags, log, systemClock);
    await session.controller.run(io.signal);
  } finally {
    await server.stop();
  }
}

/** The sandbox as a cluster: no TLS and no credential, because it listens on loopback only. */
export function sandboxCluster(server: Sandbox): Cluster {
  return { server: server.url, context: 'sandbox' };
}
