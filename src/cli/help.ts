import { SHELLS } from './completion.ts';
import type { COMMAND_FLAGS } from './flags/command-flags.ts';
import type { Flags } from './flags/flag.ts';
import {
  CLUSTER_FLAGS,
  LEADER_ELECTION_FLAGS,
  LOG_FLAGS,
  NOTIFY_FLAGS,
  RULE_FLAGS,
  SERVING_FLAGS,
} from './flags/run-flags.ts';

/** What the help says of a command. */
export interface CommandHelp {
  /** Names of what may follow it, in yargs' notation. */
  readonly operands: string;
  /** In the list of commands. */
  readonly brief: string;
  /** In the command's own help. */
  readonly about: string;
  /** Command lines without the program's name, and what each is good for. */
  readonly examples: readonly (readonly [string, string])[];
}

const ONE_NAME = 'A name is NAMESPACE/NAME, or NAME in the namespace of -n.';

/** In the order of the help. */
export const COMMAND_HELP: Readonly<Record<keyof typeof COMMAND_FLAGS, CommandHelp>> = {
  run: {
    operands: '',
    brief: 'Mirror the ConfigMaps of a cluster until stopped',
    about:
      'Mirrors the ConfigMaps of a cluster until stopped. Each flag is also an environment variable (--log-level: MIRROR_LOG_LEVEL).',
    examples: [
      ['run --context my-cluster --dry-run', 'log what it would do'],
      ['run --once', 'mirror everything once, and exit'],
      ['run --config settings.yaml', 'flags from a file'],
    ],
  },
  sandbox: {
    operands: '',
    brief: 'Serve a Kubernetes API in memory on loopback, for kubectl, with the controller on it',
    about:
      'Serves a Kubernetes API in memory, on loopback, with the controller on it. Paste the line that it prints into a second terminal, and use kubectl there.',
    examples: [
      ['sandbox --delete-brake 3', 'with a flag of run'],
      ['sandbox --no-controller', 'the API alone, to start run beside it'],
    ],
  },
  demo: {
    operands: '',
    brief: 'Play the workshop step by step, on a sandbox, or with --context on a cluster',
    about: 'Plays the workshop step by step, and checks each step. Exit code 1: a step failed.',
    examples: [
      ['demo --pace 3s', 'go on by itself'],
      ['demo --context kind-workshop', 'on a cluster, in namespaces of its own'],
    ],
  },
  status: {
    operands: '[names..]',
    brief: 'Show the state of companions',
    about: `Shows the state of each companion, and why. Names are those of sources or companions. ${ONE_NAME}`,
    examples: [
      ['status -A', 'the whole cluster'],
      ['status shop/colors', 'the companions of a source'],
      ['status -A --state conflict,refused,invalid', 'what is wrong'],
      ['status -n team-a --check', 'for scripts: exit code 1 if something is not in sync'],
    ],
  },
  explain: {
    operands: '[name]',
    brief: 'Explain the state of a companion',
    about:
      'Shows what must hold for a companion to be in sync, where that fails, and what would change it. Exit code 0: in sync, 1: not, 2: an error.',
    examples: [
      ['explain team-a/colors-synced', 'of a companion'],
      ['explain shop/colors -n team-b', 'of a source, in a target namespace'],
    ],
  },
  history: {
    operands: '[name]',
    brief: 'Show the kept contents of a source',
    about: `Shows the contents of a source that keep-revisions has kept, and what changed. ${ONE_NAME}`,
    examples: [['history shop/colors', 'the newest first']],
  },
  undo: {
    operands: '[name]',
    brief: 'Roll companions back to an earlier content',
    about: `Pins a source to an earlier content: its companions hold that, whatever the source says. Writes one annotation, with your rights. ${ONE_NAME}`,
    examples: [
      ['undo shop/colors', 'the previous content; repeat to go further back'],
      ['undo shop/colors --to 4fcd92f8', 'one that history lists'],
    ],
  },
  plan: {
    operands: '',
    brief: 'Show what run would do, and change nothing',
    about: 'Shows what run would do now, and why. Exit code 0: nothing, 1: something, 2: an error.',
    examples: [
      ['plan -n team-c', 'to and from one namespace'],
      ['plan -f colors.yaml', 'if this file were applied'],
    ],
  },
  release: {
    operands: '[names..]',
    brief: 'Delete what the delete brake holds',
    about: `Shows what the delete brake holds, asks, and deletes it with your rights. Names are those of sources. ${ONE_NAME}`,
    examples: [
      ['release shop/colors', 'the companions of a source'],
      ['release -n shop', 'of all sources of a namespace'],
    ],
  },
  notify: {
    operands: '[test] [sink]',
    brief: 'Send an example to a sink',
    about: 'Sends a sink of --notify-config one example, and shows what it answers.',
    examples: [
      ['notify test chat --notify-config sinks.yaml', 'send it'],
      ['notify test chat --notify-config sinks.yaml --dry-run', 'print it'],
    ],
  },
  completion: {
    operands: '[shell]',
    brief: `Print the completion script of a shell: ${SHELLS.join(', ')}`,
    about: `Prints the completion script of a shell (${SHELLS.join(', ')}). kubectl: the file that kubectl needs to complete kubectl mirror.`,
    examples: [],
  },
};

/**
 * Titles for the flags that several commands have. A command's own come first, also those that it
 * describes in words of its own.
 */
export const FLAG_GROUPS: readonly (readonly [string, Flags])[] = [
  ['Cluster:', CLUSTER_FLAGS],
  ['Rules, the same for every command:', RULE_FLAGS],
  ['Leader election:', LEADER_ELECTION_FLAGS],
  ['Metrics and health:', SERVING_FLAGS],
  ['Notifications:', NOTIFY_FLAGS],
  ['Log:', LOG_FLAGS],
];

/** The head of a command's help. Examples look as kubectl's: yargs would break a wider form. */
export function headOf(name: keyof typeof COMMAND_FLAGS): string {
  const { operands, about, examples } = COMMAND_HELP[name];
  const usage = ['$0', name, operands, '[flags]'].filter((word) => word !== '').join(' ');
  const lines = examples.map(([line, what]) => `# ${what}\n$0 ${line}`);
  return [usage, about, ...lines].join('\n\n');
}
