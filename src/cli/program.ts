import yargs, { type Argv } from 'yargs';
import type { Invocation, ProgramName } from '../inspect/explanation.ts';
import { didYouMean } from '../mirror/did-you-mean.ts';
import { demo } from './commands/demo.ts';
import { explain } from './commands/explain.ts';
import { history } from './commands/history.ts';
import { notify } from './commands/notify.ts';
import { plan } from './commands/plan.ts';
import { release } from './commands/release.ts';
import { run } from './commands/run.ts';
import { sandbox } from './commands/sandbox.ts';
import { status } from './commands/status.ts';
import { undo } from './commands/undo.ts';
import { COMPLETE, complete, completionScript } from './completion.ts';
import { forCaller, messageOf, RunError, UsageError } from './errors.ts';
import { COMMAND_FLAGS } from './flags/command-flags.ts';
import type { Flag, Flags, FlagValues } from './flags/flag.ts';
import { environmentVariable, flagAt, flagValues } from './flags/flag-values.ts';
import { beforeEnd, inLongForm } from './flags/long-form.ts';
import { ownFlags } from './flags/printed-flags.ts';
import { SWITCH } from './flags/values.ts';
import { COMMAND_HELP, FLAG_GROUPS, headOf } from './help.ts';
import { type ProcessIo, print } from './io.ts';
import { version } from './version.ts';

/** The commands of the kubectl plugin (SPEC C9): they run with the user's own rights. */
const PLUGIN_COMMANDS: readonly string[] = ['status', 'plan', 'explain', 'history', 'undo', 'release'];
const HELP = 'Keeps copies (companions) of ConfigMaps that are labelled workshop.io/managed=true.';
const PLUGIN_HELP = `Shows the state of the copies (companions) of labelled ConfigMaps. undo and release write.

  kubectl mirror status -A                       state of all companions
  kubectl mirror explain team-a/colors-synced    why this one is as it is
  kubectl mirror undo shop/colors                roll back to the previous content`;
/** Flags that yargs adds to every command, and `--config`. */
const GENERAL_FLAGS: readonly string[] = ['--help', '-h', '--version', '--config'];
const PARSER = {
  'parse-numbers': false,
  'parse-positional-numbers': false,
  // inLongForm negates switches. With its own prefix yargs would take --no-namespace for known.
  'boolean-negation': false,
  'negation-prefix': '',
  'camel-case-expansion': false,
  'dot-notation': false,
  'populate--': true,
};

/** What yargs makes of a command line. `--`: the words after it. */
interface Parsed {
  readonly _: readonly unknown[];
  readonly '--'?: readonly unknown[];
  readonly [name: string]: unknown;
}

/**
 * Resolves to its exit code if that is a number. `operands`: what is neither the command nor a
 * flag.
 */
type Command<F extends Flags> = (
  values: FlagValues<F>,
  io: ProcessIo,
  operands: readonly string[],
  invocation: Invocation,
) => Promise<unknown>;

/** The command that was asked for. */
interface Chosen {
  readonly invocation: Invocation;
  readonly run: () => Promise<unknown>;
}

/**
 * Runs the program and resolves to its exit code: 0 or the command's own; 2 for a wrong command
 * line, configuration or kubeconfig; 1 for what the server or the machine refuses. Any other error
 * is a bug and thrown.
 * @param given the arguments; `help COMMAND` is `COMMAND --help`
 * @param calledAs the name of the file that was run: as `kubectl-mirror` it is a plugin of kubectl
 */
export async function runProgram(
  given: readonly string[],
  io: ProcessIo,
  calledAs = 'mirror-controller',
): Promise<number> {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  const name = calledAs.startsWith('kubectl-mirror') ? 'kubectl mirror' : 'mirror-controller';
  let invocation: Invocation = { programName: name, flags: '' };
  const fail = (message: string, code: number) => {
    io.stderr.write(`${name}: ${forCaller(message, invocation)}\n`);
    return code;
  };
  try {
    if (args[0] === COMPLETE) {
      await print(io, await complete(args.slice(1), offeredAs(name), io));
      return 0;
    }
    const chosen = await parse(args, io, name);
    if (chosen !== undefined) ({ invocation } = chosen);
    const code = await chosen?.run();
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    if (error instanceof UsageError) {
      const help = [name, commandIn(args, offeredAs(name)) ?? [], '--help'].flat().join(' ');
      return fail(`${error.message}\nSee ${help}.`, 2);
    }
    if (error instanceof RunError) return fail(error.message, error.exitCode);
    throw error;
  }
}

/** Undefined after help or the version, which has been printed. */
async function parse(
  args: readonly string[],
  io: ProcessIo,
  programName: ProgramName,
): Promise<Chosen | undefined> {
  const isPlugin = programName === 'kubectl mirror';
  const offered = offeredAs(programName);
  let chosen: Chosen | undefined;
  let shown = '';
  const show = (text: string) => {
    shown += text;
  };
  const command = <N extends keyof typeof COMMAND_FLAGS>(
    name: N,
    action: Command<(typeof COMMAND_FLAGS)[N]>,
  ) => {
    if (!offered.has(name)) return;
    const flags = COMMAND_FLAGS[name];
    const { operands, brief } = COMMAND_HELP[name];
    parser.command(
      `${name} ${operands}`.trim(),
      brief,
      (inner) => withFlags(inner, name, flags),
      (parsed: Parsed) => {
        const words = operandsOf(parsed, operands);
        const invocation = { programName, flags: ownFlags(parsed) };
        const run = () => action(flagValues(flags, parsed, io.env), io, words, invocation);
        chosen = { invocation, run };
      },
    );
  };

  const parser = yargs()
    .scriptName(programName)
    .usage(`$0 <command>\n\n${isPlugin ? PLUGIN_HELP : HELP}`)
    .parserConfiguration(PARSER)
    .updateStrings({ boolean: 'switch', 'Not enough arguments following: %s': '--%s needs a value' })
    // Called where no command is named.
    .command('$0', false, {}, ({ _: [word] }) => {
      const flags: Flags = Object.assign({}, ...offered.values());
      if (word === undefined) refuseUnknown(inLongForm(args, flags), flags, offered);
      if (isPlugin && word === undefined) parser.showHelp(show);
      else throw new UsageError(noCommand(word, [...offered.keys()]));
    })
    .alias('h', 'help')
    .version(version)
    .wrap(Math.min(80, io.stdout.columns || 80))
    .epilogue(
      isPlugin
        ? 'kubectl mirror <command> --help lists the flags, among them -n, -A, -o and --context.'
        : 'Each flag can also be set by its environment variable (--log-level: MIRROR_LOG_LEVEL) and, under its own name, in the ' +
            'YAML file of --config. The command line wins over the environment, and the environment over the file.\n' +
            'Durations: 500ms, 30s, 1h30m, 1d. Sizes: 64Mi, 1Gi. Lists: commas, or the flag repeated. Switches: --dry-run, ' +
            '--no-dry-run, --dry-run=false.',
    )
    .exitProcess(false)
    .fail(false);

  command('run', run);
  command('sandbox', sandbox);
  command('demo', demo);
  command('status', status);
  command('explain', explain);
  command('history', history);
  command('undo', undo);
  command('plan', plan);
  command('release', release);
  command('notify', notify);
  command('completion', (_values, _io, [shell]) => print(io, completionScript(shell)));

  try {
    const flags = offered.get(commandIn(args, offered) ?? '');
    const words = inLongForm(args, flags ?? {});
    if (flags !== undefined) refuseUnknown(words, flags, offered);
    // Help and version come through the callback, and no command is chosen then.
    await parser.parseAsync(words, {}, (_error, _parsed, output) => show(output));
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
  if (shown) await print(io, `${shown}\n`);
  return chosen;
}

/** The commands that the program offers under a name, with their flags. */
function offeredAs(programName: string): ReadonlyMap<string, Flags> {
  const isOffered = ([name]: readonly [string, Flags]) =>
    programName === 'mirror-controller' || PLUGIN_COMMANDS.includes(name);
  return new Map(Object.entries<Flags>(COMMAND_FLAGS).filter(isOffered));
}

function noCommand(word: string | number | undefined, offered: readonly string[]): string {
  const commands = `commands: ${offered.join(', ')}`;
  if (word === undefined) return `no command given; ${commands}`;
  const hint = didYouMean(String(word), offered);
  return `"${word}" is not a command${hint || `; ${commands}`}`;
}

/** The command that a command line names. As with kubectl, flags with values may come before it. */
function commandIn(args: readonly string[], offered: ReadonlyMap<string, Flags>): string | undefined {
  const takesValue = (word: string | undefined) =>
    [...offered.values()].some((flags) => {
      const flag = flagAt(word, flags)?.[1];
      return flag !== undefined && flag.kind !== SWITCH;
    });
  return args.find((arg, at) => offered.has(arg) && !takesValue(args[at - 1]));
}

/**
 * The operands of a command that takes `places`. What yargs finds no place for is in `_`, after the
 * command itself.
 * @throws UsageError
 */
function operandsOf(parsed: Parsed, places: string): readonly string[] {
  const names = places.match(/\w+/g) ?? [];
  const [, ...others] = parsed._;
  const placed = names.flatMap((name) => parsed[name] ?? []);
  const words = [...placed, ...others, ...(parsed['--'] ?? [])].map(String);
  if (words.length > names.length && !places.includes('..')) {
    throw new UsageError(`unexpected argument: ${words[names.length]}`);
  }
  return words;
}

/**
 * yargs takes an unknown flag for an operand, and may lose it.
 * @throws UsageError
 */
function refuseUnknown(words: readonly string[], flags: Flags, offered: ReadonlyMap<string, Flags>): void {
  const nameOf = (word: string) => word.replace(/=.*/s, '');
  const isKnown = (name: string) => GENERAL_FLAGS.includes(name) || flagAt(name, flags) !== undefined;
  const unknown = beforeEnd(words).find((word) => /^-[^\d]/.test(word) && !isKnown(nameOf(word)));
  if (unknown === undefined) return;
  const name = nameOf(unknown);
  const owners = Array.from(offered).flatMap(([command, its]) => (flagAt(name, its) ? [command] : []));
  const list = new Intl.ListFormat('en-GB').format(owners);
  const known = [...GENERAL_FLAGS, ...Object.keys(flags).map((each) => `--${each}`)];
  const hint = list ? `; ${list} ${owners.length > 1 ? 'have' : 'has'} it` : undefined;
  throw new UsageError(`unknown flag: ${name}${hint ?? didYouMean(name.replaceAll('_', '-'), known)}`);
}

/** Not strict: {@link refuseUnknown} says what is wrong in our words. */
function withFlags(parser: Argv, command: keyof typeof COMMAND_FLAGS, flags: Flags): Argv {
  const config = {
    describe: `YAML file with values for these flags (${environmentVariable('config')}) [file]`,
    nargs: 1,
  };
  const options = Object.entries(flags).map(([name, flag]) => [name, optionOf(flag)]);
  const shared = FLAG_GROUPS.map(([title, group]) => ({
    title,
    names: Object.keys(flags).filter((name) => flags[name] === group[name]),
  }));
  const grouped = new Set(shared.flatMap(({ names }) => names));
  const own = Object.keys(flags).filter((name) => !grouped.has(name));
  return [{ title: 'Flags:', names: own }, ...shared]
    .filter(({ names }) => names.length > 0)
    .reduce((grouping, { title, names }) => grouping.group(names, title), parser)
    .usage(headOf(command))
    .parserConfiguration({ ...PARSER, 'unknown-options-as-args': true })
    .options({ ...Object.fromEntries(options), config });
}

/**
 * Without a type of yargs': our own parsers read the values, wherever they come from. Switches too:
 * yargs would take `--dry-run=maybe` for false.
 */
function optionOf({ kind, describe, alias, ...flag }: Flag<unknown>) {
  const shown = flag.defaultDescription ?? flag.default;
  const end = shown === undefined ? kind.name : `${kind.name}, default: ${shown}`;
  return {
    describe: `${describe} [${end}]`,
    ...(alias !== undefined && { alias }),
    ...(kind !== SWITCH && { nargs: 1 }),
  };
}
