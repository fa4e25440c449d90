import type { LogFields, Logger } from '../telemetry/logger.ts';

export interface LogRecord {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that is read by the demo instead of a person: it keeps its records, those of its children among them. */
export class LogRecords implements Logger {
  readonly #records: LogRecord[];
  readonly #bound: LogFields;
  readonly #onRecord: () => void;

  /** `onRecord` is called after each record. */
  constructor(onRecord: () => void, records: LogRecord[] = [], bound: LogFields = {}) {
    this.#onRecord = onRecord;
    this.#records = records;
    this.#bound = bound;
  }

  get count(): number {
    return this.#records.length;
  }

  /** The records after the first `count`, oldest first. */
  since(count: number): readonly LogRecord[] {
    return this.#records.slice(count);
  }

  /** The latest warning or error, in one line. */
  lastComplaint(): string | undefined {
    const record = this.#records.findLast(({ level }) => level === 'warn' || level === 'error');
    return record && `${record.message} ${JSON.stringify(record.fields)}`;
  }

  error(fields: LogFields, message: string): void {
    this.#keep('error', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#keep('warn', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#keep('info', fields, message);
  }

  debug(fields: LogFields, message: string): void {
    this.#keep('debug', fields, message);
  }

  child(fields: LogFields): Logger {
    return new LogRecords(this.#onRecord, this.#records, { ...this.#bound, ...fields });
  }

  #keep(level: LogRecord['level'], fields: LogFields, message: string): void {
    this.#records.push({ level, message, fields: { ...this.#bound, ...fields } });
    this.#onRecord();
  }
}
