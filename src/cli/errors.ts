/** The command line, a flag's value, the configuration or the kubeconfig is wrong: exit code 2. The message is one clear sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The server or the machine refused: exit code 1. The message says what, where, and what mends it. */
export class RunError extends Error {
  override readonly name = 'RunError';
}
