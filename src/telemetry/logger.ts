/** What a log line carries besides its message: names and numbers, never ConfigMap data, never a credential. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Levels: `error` = gave up, `warn` = will retry or needs a person, `info` = the cluster's state changed or a
 * stage of the process' life, `debug` = the rest. Messages are constant, lower case; what varies is a field.
 */
export interface Logger {
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}
