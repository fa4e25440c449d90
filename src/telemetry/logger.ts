/**
 * What a log line carries besides its message: names and numbers, never ConfigMap data, never a
 * credential. Durations end in `Ms`. `err` takes an Error, which is logged as the string `error`.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Levels: `error` = gave up, `warn` = will retry or needs a person, `info` = the cluster's state or
 * a stage of the process changed, `debug` = the rest. Messages are constant; fields vary.
 */
export interface Logger {
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}
