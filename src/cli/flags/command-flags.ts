import { type Flags, flag, off } from './flag.ts';
import {
  CLUSTER_FLAGS,
  CONTROLLER_FLAGS,
  LOG_FLAGS,
  NOTIFY_FLAGS,
  RULE_FLAGS,
  RUN_FLAGS,
} from './run-flags.ts';
import { choice, DURATION, list, NAMESPACE, STATES, SWITCH, text, wholeNumber } from './values.ts';

export const SANDBOX_FLAGS = {
  ...CONTROLLER_FLAGS,
  ...LOG_FLAGS,
  controller: flag({
    kind: SWITCH,
    default: 'true',
    describe: 'Run the controller too; --no-controller serves the API alone',
  }),
  port: flag({
    kind: wholeNumber(0, 65_535),
    default: '0',
    defaultDescription: 'a free one',
    describe: 'Port on 127.0.0.1',
  }),
  kubeconfig: flag({
    kind: text('file'),
    defaultDescription: 'a temporary file, removed at the end',
    describe: 'File to write the kubeconfig to',
  }),
} satisfies Flags;

export const DEMO_FLAGS = {
  kubeconfig: { ...CLUSTER_FLAGS.kubeconfig, describe: 'Kubeconfig file that has the context' },
  context: flag({
    ...CLUSTER_FLAGS.context,
    defaultDescription: 'none: the sandbox',
    describe: 'Use the cluster of this context',
  }),
  pace: flag({
    kind: DURATION,
    defaultDescription: 'until Enter on a terminal, else 0s',
    describe: 'Pause before each step',
  }),
} satisfies Flags;

const NAMESPACE_FLAG = flag({
  kind: NAMESPACE,
  alias: 'n',
  defaultDescription: "the context's namespace",
  describe: 'Namespace of the sources or of the companions',
});

const OUTPUT = flag({
  kind: choice('table', 'json', 'yaml'),
  default: 'table',
  alias: 'o',
  describe: 'Format',
});

/** For the commands that only look. */
export const LOOK_FLAGS = { ...CLUSTER_FLAGS, ...RULE_FLAGS } satisfies Flags;

export const PLAN_FLAGS = {
  ...LOOK_FLAGS,
  namespace: { ...NAMESPACE_FLAG, defaultDescription: 'all that run watches' },
  'all-namespaces': { ...off('All namespaces that run watches; wins over --namespace'), alias: 'A' },
  filename: flag({
    kind: list('files'),
    alias: 'f',
    defaultDescription: 'none',
    describe: 'Plan as if kubectl apply applied these manifests; - reads standard input',
  }),
  output: OUTPUT,
} satisfies Flags;

export const STATUS_FLAGS = {
  ...LOOK_FLAGS,
  namespace: NAMESPACE_FLAG,
  'all-namespaces': { ...off('All namespaces'), alias: 'A' },
  state: flag({
    kind: STATES,
    defaultDescription: 'all',
    describe: 'Only companions in these states',
  }),
  watch: { ...off('Keep running, and show changes as they happen'), alias: 'w' },
  output: flag({
    kind: choice('table', 'wide', 'json', 'yaml', 'name'),
    default: 'table',
    alias: 'o',
    describe: 'Format',
  }),
  'leader-elect-lease-namespace': flag({
    ...RUN_FLAGS['leader-elect-lease-namespace'],
    defaultDescription: 'where it is found',
    describe: "The controller's namespace, with the state of notifications that -o wide shows",
  }),
  headers: flag({ kind: SWITCH, default: 'true', describe: 'Column headers; --no-headers leaves them out' }),
  check: off(
    'Exit with 1 if something is not in sync; ignores what is retained, and refusals where only a pattern matches',
  ),
} satisfies Flags;

export const EXPLAIN_FLAGS = {
  ...LOOK_FLAGS,
  namespace: {
    ...NAMESPACE_FLAG,
    defaultDescription: "the companion's, or the source's own",
    describe: 'Namespace in which the companion is, or should be',
  },
} satisfies Flags;

export const RELEASE_FLAGS = {
  ...LOOK_FLAGS,
  namespace: { ...NAMESPACE_FLAG, describe: 'Namespace of the sources' },
  'all-namespaces': { ...off('Sources in all namespaces'), alias: 'A' },
  yes: { ...off('Do not ask for confirmation'), alias: 'y' },
} satisfies Flags;

export const NOTIFY_COMMAND_FLAGS = {
  ...NOTIFY_FLAGS,
  'dry-run': off('Print the request, and send nothing'),
} satisfies Flags;

/** For the commands about one source. */
export const SOURCE_FLAGS = {
  ...LOOK_FLAGS,
  namespace: { ...NAMESPACE_FLAG, describe: 'Namespace of the source' },
} satisfies Flags;

export const HISTORY_FLAGS = {
  ...SOURCE_FLAGS,
  output: OUTPUT,
} satisfies Flags;

export const UNDO_FLAGS = {
  ...SOURCE_FLAGS,
  to: flag({
    kind: text('checksum'),
    defaultDescription: 'the one before',
    describe: 'Revision to go back to, by the first 8 digits of its checksum',
  }),
} satisfies Flags;

/** Of all commands, in the order of the help. */
export const COMMAND_FLAGS = {
  run: RUN_FLAGS,
  sandbox: SANDBOX_FLAGS,
  demo: DEMO_FLAGS,
  status: STATUS_FLAGS,
  plan: PLAN_FLAGS,
  explain: EXPLAIN_FLAGS,
  release: RELEASE_FLAGS,
  notify: NOTIFY_COMMAND_FLAGS,
  history: HISTORY_FLAGS,
  undo: UNDO_FLAGS,
  completion: {},
} satisfies Readonly<Record<string, Flags>>;
