import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Logger } from './logger.ts';
import { sentence } from './sentence.ts';

export interface LoggerOptions {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  /** `json`: one object a line. `readable`: a sentence for a person at a terminal. */
  readonly format: 'json' | 'readable';
  readonly colour: boolean;
  readonly stream: NodeJS.WritableStream;
}

/**
 * Lines go out synchronously: nothing is lost in a crash, and no worker thread has to be bundled. An `err` field is
 * cut down to its type, message and code; stacks are for `debug`, since a person who runs us cannot fix them.
 */
export function createLogger({ level, format, colour, stream }: LoggerOptions): Logger {
  const destination =
    format === 'json'
      ? stream
      : pretty({
          destination: stream,
          sync: true,
          colorize: colour,
          translateTime: 'SYS:HH:MM:ss.l',
          hideObject: true,
          messageFormat: (record) => sentence(record),
        });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => describe(error, level === 'debug') },
    },
    destination,
  );
}

function describe(error: unknown, withStack: boolean): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack } = error;
  const code = 'code' in error ? { code: error.code } : {};
  return { name, message, ...code, ...(withStack && { stack }) };
}
