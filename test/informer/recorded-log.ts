import type { LogFields, Logger } from '../../src/telemetry/logger.ts';

export interface LogLine extends LogFields {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly message: string;
}

/** A logger that keeps its lines, those of its children among them. */
export class RecordedLog implements Logger {
  readonly lines: LogLine[];
  readonly #bound: LogFields;

  constructor(lines: LogLine[] = [], bound: LogFields = {}) {
    this.lines = lines;
    this.#bound = bound;
  }

  /** The lines of `info` and above, as a person would see them. */
  get told(): readonly LogLine[] {
    return this.lines.filter((line) => line.level !== 'debug');
  }

  error(fields: LogFields, message: string): void {
    this.#add('error', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#add('warn', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#add('info', fields, message);
  }

  debug(fields: LogFields, message: string): void {
    this.#add('debug', fields, message);
  }

  child(fields: LogFields): Logger {
    return new RecordedLog(this.lines, { ...this.#bound, ...fields });
  }

  #add(level: LogLine['level'], fields: LogFields, message: string): void {
    this.lines.push({ ...this.#bound, ...fields, level, message });
  }
}
