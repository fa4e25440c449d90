/** The command line, a flag's value, the configuration or the kubeconfig is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The server or the machine refused: exit code 1. Both say what is wrong and how to fix it. */
export class RunError extends Error {
  override readonly name = 'RunError';
}

/** What to quote of an error in a sentence of our own. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
