import yargs, { type Argv } from 'yargs';
import { didYouMean } from '../mirror/did-you-mean.ts';
import { demo } from './demo.ts';
import { messageOf, RunError, UsageError } from './errors.ts';
import { environmentVariable, flagValues } from './flag-values.ts';
import { DEMO_FLAGS, type Flag, type Flags, type FlagValues, RUN_FLAGS, SANDBOX_FLAGS } from './flags.ts';
import type { ProcessIo } from './io.ts';
import { run } from './run.ts';
import { sandbox } from './sandbox.ts';
import { SWITCH } from './values.ts';
import { version } from './version.ts';

const COMMANDS = ['run', 'sandbox', 'demo'] as const;
const PARSER = {
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'camel-case-expansion': false,
  'dot-notation': false,
};

/**
 * Runs the program and resolves to its exit code: 0; 2 for a wrong command line, configuration or
 * kubeconfig; 1 for what the server or the machine refuses. Any other error is a bug and thrown.
 */
export async function runProgram(args: readonly string[], io: ProcessIo): Promise<number> {
  try {
    const command = await parse(args, io);
    await command?.();
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return fail(io, `${error.message}\nSee mirror-controller --help.`, 2);
    if (error instanceof RunError) return fail(io, error.message, 1);
    throw error;
  }
}

function fail(io: ProcessIo, message: string, code: number): number {
  io.stderr.write(`mirror-controller: ${message}\n`);
  return code;
}

/** The command that was asked for; undefined after help or the version, which has been printed. */
async function parse(args: readonly string[], io: ProcessIo): Promise<(() => Promise<void>) | undefined> {
  let chosen: (() => Promise<void>) | undefined;
  const command = <F extends Flags>(
    name: (typeof COMMANDS)[number],
    describe: string,
    flags: F,
    action: (values: FlagValues<F>, io: ProcessIo) => Promise<void>,
  ) =>
    parser.command(
      name,
      describe,
      (inner) => withFlags(inner, name, flags),
      (parsed) => {
        chosen = () => action(flagValues(flags, parsed, io.env), io);
      },
    );

  const parser = yargs()
    .scriptName('mirror-controller')
    .usage(
      '$0 <command>\n\nKeeps copies (companions) of ConfigMaps that are labelled workshop.io/managed=true.',
    )
    .parserConfiguration(PARSER)
    .updateStrings({ boolean: 'switch', 'Not enough arguments following: %s': '--%s needs a value' })
    // Called where no command is named.
    .command('$0', false, {}, ({ _: [word] }) => {
      throw new UsageError(noCommand(word));
    })
    .alias('h', 'help')
    .version(version)
    .wrap(Math.min(80, io.stdout.columns ?? 80))
    .epilogue(
      'Each flag can also be set by its environment variable (--log-level: MIRROR_LOG_LEVEL) and, under its own name, in the ' +
        'YAML file of --config. The command line wins over the environment, and that over the file.\n' +
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
    'Play the workshop step by step, on a sandbox or with --context on a cluster',
    DEMO_FLAGS,
    demo,
  );

  try {
    // Help and version come through the callback, and no command is chosen then.
    await parser.parseAsync([...args], {}, (_error, _parsed, output) => {
      if (output) io.stdout.write(`${output}\n`);
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
  return chosen;
}

function noCommand(word: string | number | undefined): string {
  const commands = `commands: ${COMMANDS.join(', ')}`;
  if (word === undefined) return `no command given; ${commands}`;
  const hint = didYouMean(String(word), COMMANDS);
  return `"${word}" is not a command${hint || `; ${commands}`}`;
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
function optionOf({ kind, describe, ...flag }: Flag<unknown>) {
  const shown = flag.defaultDescription ?? flag.default;
  const end = shown === undefined ? kind.name : `${kind.name}, default: ${shown}`;
  return { describe: `${describe} [${end}]`, ...(kind !== SWITCH && { nargs: 1 }) };
}
