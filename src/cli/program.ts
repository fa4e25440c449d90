import yargs, { type Argv } from 'yargs';
import { demo } from './demo.ts';
import { messageOf, RunError, UsageError } from './errors.ts';
import { environmentVariable, flagValues } from './flag-values.ts';
import { DEMO_FLAGS, type Flag, type Flags, type FlagValues, RUN_FLAGS, SANDBOX_FLAGS } from './flags.ts';
import type { ProcessIo } from './io.ts';
import { run } from './run.ts';
import { sandbox } from './sandbox.ts';
import { version } from './version.ts';

/**
 * Runs the program and resolves to its exit code: 0; 2 for a wrong command line, configuration or kubeconfig; 1 for what
 * the server or the machine refuses. Those two are told in one sentence; any other error is a fault of ours and thrown.
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

/** What the command line asks for; undefined when it asked for help or the version, which has been printed. */
async function parse(args: readonly string[], io: ProcessIo): Promise<(() => Promise<void>) | undefined> {
  let chosen: (() => Promise<void>) | undefined;
  const command = <F extends Flags>(
    parser: Argv,
    name: string,
    describe: string,
    flags: F,
    action: (values: FlagValues<F>) => Promise<void>,
  ) =>
    parser.command(
      name,
      describe,
      (inner) => withFlags(inner, name, flags),
      (parsed) => {
        chosen = () => action(flagValues(flags, parsed, io.env));
      },
    );

  const parser = yargs()
    .scriptName('mirror-controller')
    .usage(
      '$0 <command>\n\nKeeps copies (companions) of ConfigMaps that are labelled workshop.io/managed=true.',
    )
    .parserConfiguration({
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'camel-case-expansion': false,
    })
    .strict()
    .demandCommand(1, 1, 'No command given.', 'Give one command only.')
    .recommendCommands()
    .alias('h', 'help')
    .version(version)
    .wrap(Math.min(100, io.stdout.columns ?? 100))
    .epilogue(
      'Each flag can also be set by its environment variable (--log-level: MIRROR_LOG_LEVEL) and, under its own name, in the ' +
        'YAML file of --config. The command line wins over the environment, and that over the file.\n' +
        'Durations: 500ms, 30s, 10m, 1h. Lists: commas, or the flag repeated.',
    )
    .exitProcess(false)
    .fail(false);

  command(parser, 'run', 'Mirror the ConfigMaps of a cluster until stopped', RUN_FLAGS, (values) =>
    run(values, io),
  );
  command(
    parser,
    'sandbox',
    'Serve a Kubernetes API in memory on loopback, for kubectl, with the controller on it',
    SANDBOX_FLAGS,
    (values) => sandbox(values, io),
  );
  command(
    parser,
    'demo',
    'Play the workshop, narrated and checked, on a sandbox or with --context on a cluster',
    DEMO_FLAGS,
    (values) => demo(values, io),
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

function withFlags(parser: Argv, command: string, flags: Flags): Argv {
  let result = parser.usage(`$0 ${command} [flags]`).option('config', {
    type: 'string',
    requiresArg: true,
    describe: `YAML file with values for these flags (${environmentVariable('config')})`,
  });
  for (const [name, flag] of Object.entries(flags)) result = result.option(name, optionOf(flag));
  return result;
}

/**
 * Everything is text to yargs; our own parsers read the values, wherever they come from. Switches too: yargs would take
 * `--dry-run=maybe` for false.
 */
function optionOf(flag: Flag<unknown>) {
  const shown = flag.defaultDescription ?? flag.default;
  return {
    type: 'string' as const,
    describe: shown === undefined ? flag.describe : `${flag.describe} [default: ${shown}]`,
    ...(!flag.boolean && { requiresArg: true }),
    ...(flag.list && { array: true, nargs: 1 }),
  };
}
