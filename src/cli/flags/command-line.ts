import { parseArgs } from 'node:util';
import { didYouMean } from '../../mirror/did-you-mean.ts';
import { UsageError } from '../errors.ts';
import { type Flags, flag } from './flag.ts';
import { type Arguments, environmentVariable } from './flag-values.ts';
import { SWITCH, text } from './values.ts';

/** The commands that are offered, with their flags. */
export type Commands = ReadonlyMap<string, Flags>;

/** Flags of every command. */
export const GENERAL_FLAGS = {
  version: flag({ kind: SWITCH, describe: 'Show version number' }),
  config: flag({
    kind: text('file'),
    describe: `YAML file with values for these flags (${environmentVariable('config')})`,
  }),
  help: flag({ kind: SWITCH, alias: 'h', describe: 'Show help' }),
} satisfies Flags;

/** What a command line says, whether that is right or not. */
export interface CommandLine {
  /** The first word that is neither a flag nor its value: as with kubectl, flags may precede it. */
  readonly command: string | undefined;
  readonly operands: readonly string[];
  readonly given: readonly GivenFlag[];
}

interface GivenFlag {
  readonly name: string;
  /** As it is written: `--output`, `-o` or `--no-headers`. */
  readonly written: string;
  /** Undefined: it needs one, and has none. */
  readonly value: string | undefined;
}

/** A name has the same kind of value in every command, so a flag can be read before its command. */
export function readCommandLine(args: readonly string[], commands: Commands): CommandLine {
  const known: Flags = Object.assign({}, GENERAL_FLAGS, ...commands.values());
  const isSwitch = (name: string) => Object.hasOwn(known, name) && known[name]?.kind === SWITCH;
  const options = Object.entries(known).map(([name, { alias }]) => [
    name,
    { type: isSwitch(name) ? 'boolean' : 'string', ...(alias !== undefined && { short: alias }) },
  ]);
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(options),
    strict: false,
    tokens: true,
  });
  const [command, ...operands] = tokens.flatMap((each) => (each.kind === 'positional' ? each.value : []));
  const given = tokens.flatMap((token): readonly GivenFlag[] => {
    if (token.kind !== 'option') return [];
    const { name, rawName: written, value, inlineValue } = token;
    const positive = name.replace(/^no-/, '');
    if (value === undefined) {
      if (isSwitch(name)) return [{ name, written, value: 'true' }];
      return isSwitch(positive) ? [{ name: positive, written, value: 'false' }] : [{ name, written, value }];
    }
    // `--resync --once` has no value for --resync. A lone `-` is one: the standard input.
    if (!inlineValue && /^-./.test(value)) return [{ name, written, value: undefined }];
    // kubectl takes `-o=json` for `-ojson`.
    return [{ name, written, value: written.startsWith('--') ? value : value.replace(/^=/, '') }];
  });
  return { command, operands, given };
}

/**
 * The values of a command's flags.
 * @throws UsageError
 */
export function argumentsFor(flags: Flags, { given }: CommandLine, commands: Commands): Arguments {
  const values: Record<string, string[]> = {};
  for (const { name, written, value } of given) {
    if (!(Object.hasOwn(flags, name) || Object.hasOwn(GENERAL_FLAGS, name))) {
      throw new UsageError(`unknown flag: ${written}${hintFor(name, written, flags, commands)}`);
    }
    if (value === undefined) throw new UsageError(`--${name} needs a value`);
    values[name] = [...(values[name] ?? []), value];
  }
  return values;
}

function hintFor(name: string, written: string, flags: Flags, commands: Commands): string {
  const owners = [...commands.keys()].filter((each) => Object.hasOwn(commands.get(each) ?? {}, name));
  if (owners.length > 0) {
    const list = new Intl.ListFormat('en-GB').format(owners);
    return `; ${list} ${owners.length === 1 ? 'has' : 'have'} it`;
  }
  const names = Object.keys(flags).map((each) => `--${each}`);
  return didYouMean(written.replaceAll('_', '-'), names);
}
