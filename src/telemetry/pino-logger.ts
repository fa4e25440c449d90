import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { LogFields, Logger } from './logger.ts';
import { sentence } from './sentence.ts';

export interface LoggerOptions {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  /** `json`: one object a line. `readable`: a sentence for a person at a terminal. */
  readonly format: 'json' | 'readable';
  readonly colour: boolean;
  readonly stream: NodeJS.WritableStream;
}

/** Lines are written synchronously, so none is lost in a crash. */
export function createLogger({ level, format, colour, stream }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => plain(fields, level === 'debug'),
      },
    },
    format === 'json'
      ? stream
      : pretty({
          destination: stream,
          sync: true,
          colorize: colour,
          translateTime: 'SYS:HH:MM:ss.l',
          hideObject: true,
          messageFormat: (record) => sentence(record),
        }),
  );
}

/** Rounds numbers, and puts an Error into words. Stacks only at `debug`: users cannot fix them. */
function plain({ err, ...fields }: LogFields, withStack: boolean): Record<string, unknown> {
  const rounded = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'number' ? Math.round(value) : value,
  ]);
  const error = err instanceof Error ? `${err.name}: ${err.message}` : err;
  const stack = withStack && err instanceof Error ? err.stack : undefined;
  return { ...Object.fromEntries(rounded), ...(error !== undefined && { error }), ...(stack && { stack }) };
}
