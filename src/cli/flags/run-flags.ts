import { DEFAULT_DOMAIN } from '../../mirror/vocabulary.ts';
import { type Flags, flag, off } from './flag.ts';
import {
  ADDRESS,
  CANARY_INTERVAL,
  choice,
  DOMAIN,
  DURATION,
  NAMESPACE,
  NAMESPACES,
  OBJECT_NAME,
  PATTERNS,
  SIZE,
  text,
  wholeNumber,
} from './values.ts';

/** Which cluster, as whom. */
export const CLUSTER_FLAGS = {
  kubeconfig: flag({
    kind: text('file'),
    defaultDescription: 'KUBECONFIG, else in-cluster, else ~/.kube/config',
    describe: 'Kubeconfig file',
  }),
  context: flag({
    kind: text('name'),
    defaultDescription: "the kubeconfig's current context",
    describe: 'Context of the kubeconfig',
  }),
} satisfies Flags;

/** Which objects count, and where companions may be. */
const SCOPE_FLAGS = {
  namespaces: flag({
    kind: NAMESPACES,
    defaultDescription: 'all',
    describe: 'Watch only these namespaces, and create companions only there',
  }),
  'allow-target-namespaces': flag({
    kind: PATTERNS,
    default: '*',
    describe: 'Write across namespaces only into these (names, or prefixes that end in *)',
  }),
  'deny-target-namespaces': flag({
    kind: PATTERNS,
    default: 'kube-*',
    describe: 'Never write across namespaces into these; wins over --allow-target-namespaces',
  }),
  'require-consent': off('Write across namespaces only where the annotation accept-mirrors-from allows it'),
  domain: flag({ kind: DOMAIN, default: DEFAULT_DOMAIN, describe: 'Prefix of every label and annotation' }),
} satisfies Flags;

/** When deletions are held. */
const BRAKE_FLAGS = {
  'delete-brake': flag({
    kind: wholeNumber(0, 1_000_000),
    default: '0',
    describe: "Hold deletions when this many companions of one namespace's sources are due; 0 = never",
  }),
  'delete-brake-percent': flag({
    kind: wholeNumber(0, 100),
    default: '30',
    describe: 'Hold them only if they are also this share of these companions',
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
export const LEADER_ELECTION_FLAGS = {
  'leader-elect': off('Write only while holding a Lease, so that several replicas can run'),
  'leader-elect-lease-name': flag({
    kind: OBJECT_NAME,
    default: 'mirror-controller',
    describe: 'Name of the Lease',
  }),
  'leader-elect-lease-namespace': flag({
    kind: NAMESPACE,
    defaultDescription: "the Pod's",
    describe: 'Namespace of the Lease',
  }),
  'leader-elect-lease-duration': flag({
    kind: DURATION,
    default: '15s',
    describe: 'How long others wait after the last renewal before they take the Lease',
  }),
  'leader-elect-renew-deadline': flag({
    kind: DURATION,
    default: '10s',
    describe: 'How long the leader may write without renewing the Lease',
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

export const SERVING_FLAGS = {
  'http-address': flag({
    kind: ADDRESS,
    default: ':8080',
    describe: 'Serve /metrics, /livez and /readyz here, [HOST]:PORT; empty = off, as with --once',
  }),
  'freshness-canary': flag({
    kind: CANARY_INTERVAL,
    default: '0s',
    describe:
      'How often to change a test source and check that its companion follows: 10s or more; 0 = never',
  }),
} satisfies Flags;

/** Whom to notify. */
export const NOTIFY_FLAGS = {
  'notify-config': flag({
    kind: text('file'),
    defaultDescription: 'none',
    describe: 'YAML file that lists the sinks (docs/notifications.md)',
  }),
  'cluster-name': flag({
    kind: text('name'),
    defaultDescription: 'the uid of Namespace kube-system',
    describe: 'Name of this cluster in notifications',
  }),
} satisfies Flags;

const ONCE_FLAG = {
  once: off('Mirror everything once and exit: 0 when all is done, 1 when something keeps failing'),
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
