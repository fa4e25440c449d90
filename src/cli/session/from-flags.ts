import { loadCluster } from '../../kube/config/kube-config.ts';
import { KubeConfigError } from '../../kube/errors.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { createLogger } from '../../telemetry/pino-logger.ts';
import { UsageError } from '../errors.ts';
import type { FlagValues } from '../flags/flag.ts';
import { unknownVariables } from '../flags/flag-values.ts';
import type { CLUSTER_FLAGS, LOG_FLAGS } from '../flags/run-flags.ts';
import { type ProcessIo, useColour } from '../io.ts';

/**
 * The cluster that the flags and the environment name.
 * @throws UsageError
 */
export function clusterFor(flags: FlagValues<typeof CLUSTER_FLAGS>, io: ProcessIo) {
  try {
    return loadCluster({ kubeconfig: flags.kubeconfig, context: flags.context, env: io.env });
  } catch (error) {
    if (error instanceof KubeConfigError) throw new UsageError(error.message);
    throw error;
  }
}

/** The log. It begins with a warning of each variable that sets nothing. */
export function loggerFor(flags: FlagValues<typeof LOG_FLAGS>, { stderr, env }: ProcessIo): Logger {
  const asked = flags['log-format'];
  const log = createLogger({
    level: flags['log-level'],
    format: asked === 'auto' ? (stderr.isTTY ? 'readable' : 'json') : asked,
    colour: useColour(stderr, env),
    stream: stderr,
  });
  for (const reason of unknownVariables(env)) log.warn({ reason }, 'environment variable ignored');
  return log;
}
