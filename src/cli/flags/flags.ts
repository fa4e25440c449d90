import { DEFAULT_DOMAIN } from '../../mirror/vocabulary.ts';
import {
  ADDRESS,
  choice,
  DOMAIN,
  DURATION,
  type Kind,
  list,
  NAMESPACES,
  PATTERNS,
  SIZE,
  STATES,
  SWITCH,
  text,
  wholeNumber,
} from './values.ts';

/** A flag, written once, for the command line, the environment, the file and the help. */
export interface Flag<T> {
  readonly kind: Kind<T>;
  /** In the flag's own notation; undefined: the value may be absent. */
  readonly default: string | undefined;
  readonly describe: string;
  /** One letter: `n` for `-n`. */
  readonly alias?: string;
  /** Shown instead of the default where that depends on something. */
  readonly defaultDescription?: string;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** The values of a table of flags, under the flags' own names. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F]: F[K] extends Flag<infer T>
    ? undefined extends F[K]['default']
      ? T | undefined
      : T
    : never;
};

const flag = <T, const D extends string | undefined>(
  value: Omit<Flag<T>, 'default'> & { readonly default: D },
) => value as Flag<T> & { readonly default: D };

const off = (describe: string) => flag({ kind: SWITCH, default: 'false', describe });

/** Which cluster, as whom. */
export const CLUSTER_FLAGS = {
  kubeconfig: flag({
    kind: text('file'),
    default: undefined,
    defaultDescription: 'KUBECONFIG, else in-cluster, else ~/.kube/config',
    describe: 'Kubeconfig file',
  }),
  context: flag({
    kind: text('name'),
    default: undefined,
    defaultDescription: "the kubeconfig's current context",
    describe: 'Context of the kubeconfig',
  }),
} satisfies Flags;

/** Which objects count, and where companions may be. */
const SCOPE_FLAGS = {
  namespaces: flag({
    kind: NAMESPACES,
    default: '',
    defaultDescription: 'all',
    describe: 'Watch only these namespaces; companions are created only there',
  }),
  'allow-target-namespaces': flag({
    kind: PATTERNS,
    default: '*',
    describe: 'Write across namespaces only into these (names, or prefixes that end in *)',
  }),
  'deny-target-namespaces': flag({
    kind: PATTERNS,
    default: 'kube-*',
    describe: 'Never write across namespaces into these; wins over the former',
  }),
  'require-consent': off('Write across namespaces only where the annotation accept-mirrors-from allows it'),
  domain: flag({ kind: DOMAIN, default: DEFAULT_DOMAIN, describe: 'Prefix of every label and annotation' }),
} satisfies Flags;

/** When deletions are held. */
const BRAKE_FLAGS = {
  'delete-brake': flag({
    kind: wholeNumber(0, 1_000_000),
    default: '0',
    describe: 'Hold deletions of this number or more of the companions of one namespace; 0 = never',
  }),
  'delete-brake-percent': flag({
    kind: wholeNumber(0, 100),
    default: '30',
    describe: 'Hold them only if they are also this share of all its companions',
  }),
} satisfies Flags;

/** What decides about companions. The commands that only look need the same. */
export const RULE_FLAGS = { ...SCOPE_FLAGS, ...BRAKE_FLAGS } satisfies Flags;

/** What the controller does, wherever it runs. */
export const CONTROLLER_FLAGS = {
  ...RULE_FLAGS,
  workers: flag({ kind: wholeNumber(1, 1024), default: '16', describe: 'Sources reconciled at once' }),
  'max-writes-in-flight': flag({
    kind: wholeNumber(1, 1024),
    default: '32',
    describe: 'Writes in flight at once, over all sources',
  }),
  'max-writes-per-second': flag({
    kind: wholeNumber(0, 1_000_000),
    default: '0',
    describe: 'Write rate limit; 0 = unlimited',
  }),
  resync: flag({
    kind: DURATION,
    default: '10m',
    describe: 'How often every source is reconciled from the cache; 0 = never',
  }),
  'source-cache-size': flag({
    kind: SIZE,
    default: '64Mi',
    describe: 'Maximum size of the source-data cache',
  }),
  'dry-run': off('Log what would be written, and write nothing'),
} satisfies Flags;

/** Leader election, with client-go's defaults. */
const LEADER_ELECTION_FLAGS = {
  'leader-elect': off('Write only while holding a Lease, so that several replicas can run'),
  'leader-elect-lease-name': flag({
    kind: text('name'),
    default: 'mirror-controller',
    describe: 'Name of the Lease',
  }),
  'leader-elect-lease-namespace': flag({
    kind: text('name'),
    default: undefined,
    defaultDescription: "the Pod's",
    describe: 'Namespace of the Lease',
  }),
  'leader-elect-lease-duration': flag({
    kind: DURATION,
    default: '15s',
    describe: 'How long others wait for a holder that does not renew the Lease',
  }),
  'leader-elect-renew-deadline': flag({
    kind: DURATION,
    default: '10s',
    describe: 'How long the holder writes without renewing the Lease',
  }),
  'leader-elect-retry-period': flag({
    kind: DURATION,
    default: '2s',
    describe: 'Time between attempts to acquire or renew the Lease',
  }),
} satisfies Flags;

export const LOG_FLAGS = {
  'log-level': flag({
    kind: choice('error', 'warn', 'info', 'debug'),
    default: 'info',
    describe: 'Least severe lines to log',
  }),
  'log-format': flag({
    kind: choice('auto', 'json', 'readable'),
    default: 'auto',
    describe: 'Form of the log; auto = readable on a terminal, else json',
  }),
} satisfies Flags;

const SERVING_FLAGS = {
  'http-address': flag({
    kind: ADDRESS,
    default: ':8080',
    describe: 'Serve /metrics, /livez and /readyz here, [HOST]:PORT; empty = off, as with --once',
  }),
  'freshness-canary': flag({
    kind: DURATION,
    default: '0s',
    describe: 'How often to change a source of its own and see that its companion follows; 0 = never',
  }),
} satisfies Flags;

/** Whom to notify. */
export const NOTIFY_FLAGS = {
  'notify-config': flag({
    kind: text('file'),
    default: undefined,
    defaultDescription: 'none',
    describe: 'YAML file with the sinks that are notified of sources (docs/notifications.md)',
  }),
  'cluster-name': flag({
    kind: text('name'),
    default: undefined,
    defaultDescription: 'the uid of Namespace kube-system',
    describe: 'Name of this cluster in notifications',
  }),
} satisfies Flags;

const ONCE_FLAG = {
  once: off('Do all there is to do and exit: 0 when all is done, 1 when something keeps failing'),
} satisfies Flags;

export const RUN_FLAGS = {
  ...CLUSTER_FLAGS,
  ...CONTROLLER_FLAGS,
  ...LEADER_ELECTION_FLAGS,
  ...SERVING_FLAGS,
  ...NOTIFY_FLAGS,
  ...LOG_FLAGS,
  ...ONCE_FLAG,
};

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
    default: undefined,
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
    default: undefined,
    defaultDescription: 'until Enter on a terminal, else 0s',
    describe: 'Pause before each step',
  }),
} satisfies Flags;

const NAMESPACE_FLAG = flag({
  kind: text('name'),
  default: undefined,
  alias: 'n',
  defaultDescription: "the context's namespace",
  describe: 'Namespace of the sources or of the companions',
});

/** For the commands that only look. */
const LOOK_FLAGS = { ...CLUSTER_FLAGS, ...RULE_FLAGS } satisfies Flags;

export const PLAN_FLAGS = {
  ...LOOK_FLAGS,
  namespace: { ...NAMESPACE_FLAG, defaultDescription: 'all that run would look at' },
  filename: flag({
    kind: list('files'),
    default: undefined,
    alias: 'f',
    defaultDescription: 'none',
    describe: 'Plan as if these manifests were applied; - reads standard input',
  }),
  output: flag({ kind: choice('table', 'json', 'yaml'), default: 'table', alias: 'o', describe: 'Format' }),
} satisfies Flags;

export const STATUS_FLAGS = {
  ...LOOK_FLAGS,
  namespace: NAMESPACE_FLAG,
  'all-namespaces': { ...off('All namespaces'), alias: 'A' },
  state: flag({
    kind: STATES,
    default: undefined,
    defaultDescription: 'all',
    describe: 'Only companions in these states',
  }),
  watch: { ...off('Go on, and show changes as they happen'), alias: 'w' },
  output: flag({
    kind: choice('table', 'wide', 'json', 'yaml', 'name'),
    default: 'table',
    alias: 'o',
    describe: 'Format',
  }),
  headers: flag({ kind: SWITCH, default: 'true', describe: 'Column headers; --no-headers leaves them out' }),
  check: off('Exit with 1 when something is not in sync'),
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
  yes: { ...off('Do not ask'), alias: 'y' },
} satisfies Flags;

export const NOTIFY_COMMAND_FLAGS = {
  ...NOTIFY_FLAGS,
  'dry-run': off('Print the request, and send nothing'),
} satisfies Flags;

export const HISTORY_FLAGS = {
  ...LOOK_FLAGS,
  namespace: { ...NAMESPACE_FLAG, describe: 'Namespace of the source' },
  output: flag({ kind: choice('table', 'json', 'yaml'), default: 'table', alias: 'o', describe: 'Format' }),
} satisfies Flags;

export const UNDO_FLAGS = {
  ...LOOK_FLAGS,
  namespace: { ...NAMESPACE_FLAG, describe: 'Namespace of the source' },
  to: flag({
    kind: text('checksum'),
    default: undefined,
    defaultDescription: 'the one before',
    describe: 'Which revision companions shall hold, by the first 8 digits of its checksum',
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
