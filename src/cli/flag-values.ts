import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { messageOf, UsageError } from './errors.ts';
import type { Flag, Flags, FlagValues } from './flags.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the command line held, as yargs gives it: lists as arrays. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The variable that sets a flag: `--log-level` is `MIRROR_LOG_LEVEL`. */
export function environmentVariable(flag: string): string {
  return `MIRROR_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * The values of `flags`: from the command line, else the environment, else the configuration file, else the default.
 * Only the variables of known flags are looked at: Kubernetes itself puts variables such as
 * `MIRROR_CONTROLLER_SERVICE_HOST` into Pods beside a Service of our name.
 * @throws UsageError that tells all problems at once.
 */
export function flagValues<F extends Flags>(flags: F, args: Arguments, env: Environment): FlagValues<F> {
  const path = textOf(args['config']) ?? (env[environmentVariable('config')] || undefined);
  const file = path === undefined ? {} : readConfigFile(path, flags);
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const given = [
      { where: `--${name}`, text: argumentOf(flag, args[name]) },
      { where: environmentVariable(name), text: env[environmentVariable(name)] || undefined },
      { where: `${name} in ${path}`, text: textOf(file[name]) },
      { where: `the default of --${name}`, text: flag.default },
    ].find((source) => source.text !== undefined);
    values[name] = readValue(flag, given?.where ?? name, given?.text, problems);
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return values as FlagValues<F>;
}

function readValue(
  flag: Flag<unknown>,
  where: string,
  text: string | undefined,
  problems: string[],
): unknown {
  if (text === undefined) return undefined;
  const result = flag.parse(text);
  if (result.ok) return result.value;
  problems.push(`${where}: ${result.problem}`);
  return undefined;
}

/** A switch without a value is on. */
function argumentOf(flag: Flag<unknown>, value: unknown): string | undefined {
  return flag.boolean && value === '' ? 'true' : textOf(value);
}

/** A list is what its items joined by commas say, wherever it comes from. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.join(',') : String(value);
}

function readConfigFile(path: string, flags: Flags): Readonly<Record<string, unknown>> {
  let content: unknown;
  try {
    // Not `load`: to that an empty file is an error.
    [content] = loadAll(readFileSync(path, 'utf8'));
  } catch (error) {
    const [reason] = messageOf(error).split('\n');
    throw new UsageError(`--config ${path} cannot be read as YAML: ${reason}`);
  }
  if (content === undefined || content === null) return {};
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new UsageError(
      `--config ${path}: write one "flag: value" a line, with the flags' names without dashes before`,
    );
  }
  for (const [key, value] of Object.entries(content)) {
    if (!(key in flags)) throw new UsageError(`--config ${path}: there is no flag "${key}"`);
    const scalars = (Array.isArray(value) ? value : [value]).every(
      (item) => typeof item !== 'object' || item === null,
    );
    if (!scalars) throw new UsageError(`--config ${path}: ${key} must be a value or a list of values`);
  }
  return content as Record<string, unknown>;
}
