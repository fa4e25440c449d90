import type { Invocation } from '../inspect/explanation.ts';
import { shellQuoted } from '../mirror/shell-quoted.ts';

/** The command line, a flag's value, the configuration or the kubeconfig is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The server or the machine refused. Both errors say what is wrong and how to fix it. */
export class RunError extends Error {
  override readonly name = 'RunError';
  /** 1; 2 where 1 is an answer, as with `plan`. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A command of this program in an error's message, which {@link forCaller} completes. */
export function ownCommand(...words: readonly string[]): string {
  return `$0 ${words.map(shellQuoted).join(' ')}$FLAGS`;
}

/** The message, with its commands as the user would call them. */
export function forCaller(message: string, { programName, flags }: Invocation): string {
  return message.replaceAll('$0', () => programName).replaceAll('$FLAGS', () => flags);
}

/** Why a file cannot be read. */
export function readFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'the file does not exist';
  return code === 'EISDIR' ? 'it is a directory; name a file' : messageOf(error);
}

/** What to quote of an error in a sentence of our own. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
