import yargs, { type Argv } from 'yargs';
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
import { COMPLETE, complete, completionScript, SHELLS } from './completion.ts';
import { messageOf, RunError, UsageError } from './errors.ts';
import {
  COMMAND_FLAGS,
  DEMO_FLAGS,
  EXPLAIN_FLAGS,
  HISTORY_FLAGS,
  NOTIFY_COMMAND_FLAGS,
  PLAN_FLAGS,
  RELEASE_FLAGS,
  SANDBOX_FLAGS,
  STATUS_FLAGS,
  UNDO_FLAGS,
} from './flags/command-flags.ts';
import type { Flag, Flags, FlagValues } from './flags/flag.ts';
import { environmentVariable, flagValues } from './flags/flag-values.ts';
import { RUN_FLAGS } from './flags/run-flags.ts';
import { SWITCH } from './flags/values.ts';
import type { ProcessIo } from './io.ts';
import { version } from './version.ts';

/** The commands of the kubectl plugin (SPEC C9): they run with the user's own rights. */
const PLUGIN_COMMANDS: readonly string[] = ['status', 'plan', 'explain', 'history', 'undo', 'release'];
const HELP = 'Keeps copies (companions) of ConfigMaps that are labelled workshop.io/managed=true.';
const PLUGIN_HELP = `Shows where the copies (companions) of labelled ConfigMaps stand. undo and release write.

  kubectl mirror status -A                       where all of them stand
  kubectl mirror explain team-a/colors-synced    why this one is as it is
  kubectl mirror undo shop/colors                give them back their earlier content`;
const PARSER = {
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'camel-case-expansion': false,
  'dot-notation': false,
};

/**
 * Resolves to its exit code if that is a number. `operands`: what is neither the command nor a
 * flag.
 */
type Command<F extends Flags> = (
  values: FlagValues<F>,
  io: ProcessIo,
  operands: readonly string[],
) => Promise<unknown>;

/**
 * Runs the program and resolves to its exit code: 0 or the command's own; 2 for a wrong command
 * line, configuration or kubeconfig; 1 for what the server or the machine refuses. Any other error
 * is a bug and thrown.
 * @param calledAs the name of the file that was run: as `kubectl-mirror` it is a plugin of kubectl
 */
export async function runProgram(
  args: readonly string[],
  io: ProcessIo,
  calledAs = 'mirror-controller',
): Promise<number> {
  const name = calledAs.startsWith('kubectl-mirror') ? 'kubectl mirror' : 'mirror-controller';
  const fail = (message: string, code: number) => {
    io.stderr.write(`${name}: ${message}\n`);
    return code;
  };
  try {
    if (args[0] === COMPLETE) {
      io.stdout.write(await complete(args.slice(1), offeredAs(name), io));
      return 0;
    }
    const command = await parse(args, io, name);
    const code = await command?.();
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    if (error instanceof UsageError) return fail(`${error.message}\nSee ${name} --help.`, 2);
    if (error instanceof RunError) return fail(error.message, error.exitCode);
    throw error;
  }
}

/** The command that was asked for; undefined after help or the version, which has been printed. */
async function parse(
  args: readonly string[],
  io: ProcessIo,
  programName: 'mirror-controller' | 'kubectl mirror',
): Promise<(() => Promise<unknown>) | undefined> {
  const isPlugin = programName === 'kubectl mirror';
  const offered = [...offeredAs(programName).keys()];
  let chosen: (() => Promise<unknown>) | undefined;
  const command = <F extends Flags>(
    name: keyof typeof COMMAND_FLAGS,
    describe: string,
    flags: F,
    action: Command<F>,
    operands = '',
    usage = operands,
  ) =>
    offered.includes(name) &&
    parser.command(
      `${name} ${operands}`.trim(),
      describe,
      (inner) => withFlags(inner, `${name} ${usage}`.trim(), flags),
      (parsed) => {
        const { name: one = [], names = one } = parsed as Readonly<
          Record<string, string | readonly string[]>
        >;
        const words = [names].flat();
        const unknown = words.find((each) => each.startsWith('-') && each !== '-');
        // yargs takes it for an operand where the command has some.
        if (unknown !== undefined) throw new UsageError(`Unknown argument: ${unknown}`);
        chosen = () => action(flagValues(flags, parsed, io.env), io, words);
      },
    );

  const parser = yargs()
    .scriptName(programName)
    .usage(`$0 <command>\n\n${isPlugin ? PLUGIN_HELP : HELP}`)
    .parserConfiguration(PARSER)
    .updateStrings({ boolean: 'switch', 'Not enough arguments following: %s': '--%s needs a value' })
    // Called where no command is named.
    .command('$0', false, {}, ({ _: [word] }) => {
      if (isPlugin && word === undefined) parser.showHelp((help) => io.stdout.write(`${help}\n`));
      else throw new UsageError(noCommand(word, offered));
    })
    .alias('h', 'help')
    .version(version)
    .wrap(Math.min(80, io.stdout.columns ?? 80))
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

  command('run', 'Mirror the ConfigMaps of a cluster until stopped', RUN_FLAGS, run);
  command(
    'sandbox',
    'Serve a Kubernetes API in memory on loopback, for kubectl, with the controller on it',
    SANDBOX_FLAGS,
    sandbox,
  );
  command(
    'demo',
    'Play the workshop step by step, on a sandbox, or with --context on a cluster',
    DEMO_FLAGS,
    demo,
  );
  command('status', 'Show where companions stand', STATUS_FLAGS, status, '[names..]');
  command('explain', 'Show why a companion is as it is', EXPLAIN_FLAGS, explain, '[name]');
  command('history', 'Show the kept contents of a source', HISTORY_FLAGS, history, '[name]');
  command('undo', 'Give companions an earlier content', UNDO_FLAGS, undo, '[name]');
  command('plan', 'Show what run would do, and change nothing', PLAN_FLAGS, plan);
  command('release', 'Delete what the delete brake holds', RELEASE_FLAGS, release, '[names..]');
  command(
    'notify',
    'Send an example to a sink: notify test SINK',
    NOTIFY_COMMAND_FLAGS,
    notify,
    '[names..]',
    'test SINK',
  );
  command(
    'completion',
    `Print the completion script of a shell: ${SHELLS.join(', ')}`,
    {},
    async (_values, { stdout }, [shell]) => {
      stdout.write(completionScript(shell));
    },
    '[name]',
  );

  try {
    // Help and version come through the callback, and no command is chosen then.
    await parser.parseAsync(withBareSwitches(args), {}, (_error, _parsed, output) => {
      if (output) io.stdout.write(`${output}\n`);
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
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

/**
 * Gives switches without a value one, `--check NAME` as `--check=true NAME`: yargs does not know
 * their type, and would take the name for the value.
 */
function withBareSwitches(args: readonly string[]): string[] {
  const switches = Object.values<Flags>(COMMAND_FLAGS).flatMap((flags) =>
    Object.entries<Flag<unknown>>(flags).filter(([, { kind }]) => kind === SWITCH),
  );
  const long = new Set(switches.map(([name]) => `--${name}`));
  const letters = new Set(switches.map(([, { alias }]) => alias));
  return args.map((arg, at) => {
    const isSwitch = long.has(arg) || (/^-[a-zA-Z]+$/.test(arg) && letters.has(arg.at(-1)));
    return isSwitch && !/^(true|false|[01])$/.test(args[at + 1] ?? '') ? `${arg}=true` : arg;
  });
}

/** Strict: yargs refuses what is not listed here, and names it as it was written. */
function withFlags(parser: Argv, command: string, flags: Flags): Argv {
  const config = {
    describe: `YAML file with values for these flags (${environmentVariable('config')}) [file]`,
    nargs: 1,
  };
  const options = Object.entries(flags).map(([name, flag]) => [name, optionOf(flag)]);
  return parser
    .usage(`$0 ${command} [flags]`)
    .parserConfiguration({ ...PARSER, 'unknown-options-as-args': true })
    .strict()
    .options({ config, ...Object.fromEntries(options) });
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
