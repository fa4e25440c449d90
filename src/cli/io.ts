import type { Readable } from 'node:stream';

/** What a command knows of its process. `main.ts` makes the real one, tests make their own. */
export interface ProcessIo {
  /** A person's answers, or manifests for `plan --filename -`. */
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Results, for a person or a pipe. */
  readonly stdout: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  /** The log, and errors. */
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the process is asked to stop (Ctrl-C, SIGTERM). */
  readonly signal: AbortSignal;
}

/** Whether to colour output to `stream`: https://no-color.org */
export function useColour(stream: { readonly isTTY?: boolean }, env: ProcessIo['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Aborts when the reader has gone, as in `demo | head`. */
export function readerGone(stdout: ProcessIo['stdout']): AbortSignal {
  const gone = new AbortController();
  stdout.on('error', () => gone.abort());
  return gone.signal;
}

/**
 * Columns of the terminal; infinite if `stdout` is none: nothing is cut or wrapped. Some terminals
 * report 0, as over a serial line.
 */
export function terminalWidth({ isTTY, columns }: ProcessIo['stdout']): number {
  return isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
}

/**
 * Resolves when the reader has the text, or has gone. The process ends right after a command, and a
 * pipe takes no more than 64 KiB at once.
 */
export function print({ stdout }: Pick<ProcessIo, 'stdout'>, text: string): Promise<void> {
  return new Promise((resolve) => stdout.write(text, () => resolve()));
}
