import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { didYouMean } from '../../mirror/did-you-mean.ts';
import { messageOf, readFailure, UsageError } from '../errors.ts';
import { COMMAND_FLAGS } from './command-flags.ts';
import type { Flag, Flags, FlagValues } from './flag.ts';
import { RUN_FLAGS } from './run-flags.ts';
import { ADDRESS } from './values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The command line as yargs gives it: a repeated flag as an array, a switch alone as true. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Variables that Kubernetes sets in Pods beside a Service named `mirror-controller`. */
const SERVICE_VARIABLE = /^MIRROR_CONTROLLER_(SERVICE_HOST$|SERVICE_PORT|PORT)/;

/** The variable that sets a flag: `--log-level` is `MIRROR_LOG_LEVEL`. */
export function environmentVariable(flag: string): string {
  return `MIRROR_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** A sentence for each `MIRROR_*` variable that sets no flag of any command (SPEC R13). */
export function unknownVariables(env: Environment): readonly string[] {
  const flags = new Set(['config', ...Object.values(COMMAND_FLAGS).flatMap((each) => Object.keys(each))]);
  const known = [...flags].map(environmentVariable);
  return Object.keys(env)
    .filter(
      (name) =>
        name.startsWith('MIRROR_') && env[name] && !known.includes(name) && !SERVICE_VARIABLE.test(name),
    )
    .map((name) => `${name} is not a setting of mirror-controller${didYouMean(name, known)}`);
}

/**
 * The values of `flags`: from the command line, the environment, the file, or the default.
 * @throws UsageError that names all problems at once.
 */
export function flagValues<F extends Flags>(flags: F, args: Arguments, env: Environment): FlagValues<F> {
  const variable = environmentVariable('config');
  const argument = configFileIn(args);
  const [origin, path] =
    argument === undefined ? [variable, env[variable] || undefined] : ['--config', argument];
  const file = path === undefined ? {} : readConfigFile(`${origin} ${path}`, path, flags);
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const given = [
      { where: `--${name}`, text: argumentOf(flag, args[name]) },
      { where: environmentVariable(name), text: variableOf(name, flag, env) },
      { where: `${name} in ${path}`, text: textOf(file[name]) },
      { where: `the default of --${name}`, text: flag.default },
    ].find(({ text }) => text !== undefined);
    if (given?.text === undefined) continue;
    const result = flag.kind.parse(given.text.trim());
    if (result.ok) values[name] = result.value;
    else problems.push(`${given.where}: ${result.problem}`);
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return values as FlagValues<F>;
}

/**
 * An empty variable counts as absent: manifests often leave one empty, and that must not lift the
 * protection of `kube-*`. Only an empty address has a meaning that harms nobody: no server.
 */
function variableOf(name: string, { kind }: Flag<unknown>, env: Environment): string | undefined {
  const text = env[environmentVariable(name)];
  return text === '' && kind !== ADDRESS ? undefined : text;
}

/** What `--config` names. */
export function configFileIn(args: Arguments): string | undefined {
  return textOf([args['config']].flat().at(-1));
}

/** Of a flag that is repeated and not a list, the last value counts. */
export function argumentOf({ kind }: Flag<unknown>, value: unknown): string | undefined {
  return textOf(Array.isArray(value) && !kind.list ? value.at(-1) : value);
}

/** A list is what its items joined by commas say, wherever it comes from. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.join(',') : String(value);
}

/** `where`: what names the file, and its path. */
function readConfigFile(where: string, path: string, flags: Flags): Arguments {
  const content = parseYaml(where, path) ?? {};
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new UsageError(`${where}: write one "flag: value" a line, such as "log-level: debug"`);
  }
  for (const [key, value] of Object.entries(content)) {
    // The file of `run` serves the commands that only look, too.
    if (!(Object.hasOwn(flags, key) || Object.hasOwn(RUN_FLAGS, key))) {
      throw new UsageError(`${where}: there is no flag "${key}"${didYouMean(key, Object.keys(flags))}`);
    }
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (items.some((item) => typeof item === 'object' && item !== null)) {
      throw new UsageError(`${where}: ${key} must be a value or a list of values`);
    }
  }
  return content as Arguments;
}

function parseYaml(where: string, path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${where}: ${readFailure(error)}`);
  }
  const documents = documentsOf(where, text);
  if (documents.length > 1) {
    throw new UsageError(`${where}: it has ${documents.length} YAML documents; write one, without "---"`);
  }
  return documents[0];
}

/** Without empty ones. */
function documentsOf(where: string, text: string): readonly unknown[] {
  try {
    // Not `load`: to that an empty file is an error.
    return loadAll(text).filter((document) => document !== null);
  } catch (error) {
    throw new UsageError(`${where} cannot be read as YAML: ${messageOf(error).split('\n')[0]}`);
  }
}

/** The flag that a word names, as `--output` or `-o`. */
export function flagAt(text: string | undefined, flags: Flags): readonly [string, Flag<unknown>] | undefined {
  return Object.entries(flags).find(([name, { alias }]) => text === `--${name}` || text === `-${alias}`);
}
