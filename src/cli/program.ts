import type { ProgramName } from '../inspect/explanation.ts';
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
import { RunError, UsageError } from './errors.ts';
import { COMMAND_FLAGS, type CommandName } from './flags/command-flags.ts';
import { argumentsFor, type CommandLine, type Commands, readCommandLine } from './flags/command-line.ts';
import type { Flags, FlagValues } from './flags/flag.ts';
import { type Arguments, flagValues } from './flags/flag-values.ts';
import { COMMAND_HELP, commandHelp, programHelp } from './help.ts';
import { type ProcessIo, print } from './io.ts';
import { version } from './version.ts';

/** The commands of the kubectl plugin (SPEC C9): they run with the user's own rights. */
const PLUGIN_COMMANDS: readonly string[] = ['status', 'plan', 'explain', 'history', 'undo', 'release'];
/**
 * Resolves to its exit code if that is a number. `operands`: what is neither the command nor a
 * flag.
 */
type Command<F extends Flags> = (
  values: FlagValues<F>,
  io: ProcessIo,
  operands: readonly string[],
  programName: ProgramName,
) => Promise<unknown>;

const COMMANDS: { readonly [N in CommandName]: Command<(typeof COMMAND_FLAGS)[N]> } = {
  run,
  sandbox,
  demo,
  status,
  explain,
  history,
  undo,
  plan,
  release,
  notify,
  completion: (_values, io, [shell]) => print(io, completionScript(shell)),
};

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
  const commands = offeredAs(name);
  const line = readCommandLine(args, commands);
  const command = (Object.keys(COMMANDS) as CommandName[]).find(
    (each) => each === line.command && commands.has(each),
  );
  const fail = (message: string, code: number) => {
    io.stderr.write(`${name}: ${message.replaceAll('$0', name)}\n`);
    return code;
  };
  try {
    if (args[0] === COMPLETE) {
      await print(io, await complete(args.slice(1), commands, io));
      return 0;
    }
    const answer = answerTo(line, command, commands, io, name);
    if (answer !== undefined) {
      await print(io, answer);
      return 0;
    }
    if (command === undefined) throw new UsageError(noCommand(line.command, [...commands.keys()]));
    const given = argumentsFor(COMMAND_FLAGS[command], line, commands);
    const code = await carryOut(command, given, line.operands, io, name);
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    if (error instanceof UsageError) {
      const help = ['$0', command ?? [], '--help'].flat().join(' ');
      return fail(`${error.message}\nSee ${help}.`, 2);
    }
    if (error instanceof RunError) return fail(error.message, error.exitCode);
    throw error;
  }
}

/** The commands that the program offers under a name, with their flags. */
function offeredAs(programName: ProgramName): Commands {
  const isOffered = ([name]: readonly [string, Flags]) =>
    programName === 'mirror-controller' || PLUGIN_COMMANDS.includes(name);
  return new Map(Object.entries<Flags>(COMMAND_FLAGS).filter(isOffered));
}

/** Help, or the version; undefined: neither is asked for. */
function answerTo(
  line: CommandLine,
  command: CommandName | undefined,
  commands: Commands,
  { stdout }: ProcessIo,
  programName: ProgramName,
): string | undefined {
  const isGiven = (flag: string) => line.given.some(({ name, value }) => name === flag && value === 'true');
  if (isGiven('version')) return `${version}\n`;
  const width = Math.min(80, stdout.columns || 80);
  const isPluginAlone = programName === 'kubectl mirror' && line.command === undefined;
  if (!(isGiven('help') || isPluginAlone)) return undefined;
  return command === undefined
    ? programHelp(programName, commands, width)
    : commandHelp(programName, command, width);
}

function noCommand(word: string | undefined, offered: readonly string[]): string {
  const commands = `commands: ${offered.join(', ')}`;
  if (word === undefined) return `no command given; ${commands}`;
  const hint = didYouMean(word, offered);
  return `"${word}" is not a command${hint || `; ${commands}`}`;
}

/** @throws UsageError */
function carryOut<N extends CommandName>(
  command: N,
  given: Arguments,
  operands: readonly string[],
  io: ProcessIo,
  programName: ProgramName,
): Promise<unknown> {
  const places = COMMAND_HELP[command].operands;
  const most = places.includes('..') ? operands.length : (places.match(/\w+/g) ?? []).length;
  if (operands.length > most) throw new UsageError(`unexpected argument: ${operands[most]}`);
  const values = flagValues(COMMAND_FLAGS[command], given, io.env);
  return COMMANDS[command](values, io, operands, programName);
}
