import type { Parsed } from '../mirror/parsed.ts';
import { DEFAULT_DOMAIN } from '../mirror/vocabulary.ts';
import {
  parseBoolean,
  parseChoice,
  parseDomain,
  parseDuration,
  parseNamespaceNames,
  parsePatterns,
  parseSize,
  parseText,
  parseWholeNumber,
} from './values.ts';

/** A flag, written once: from it come the command line, the environment variable, the configuration file and the help. */
export interface Flag<T> {
  /** Reads a value, from whichever of the three places it comes. */
  readonly parse: (text: string) => Parsed<T>;
  /** In the flag's own notation; undefined: there is none, and the value may be absent. */
  readonly default: string | undefined;
  readonly describe: string;
  /** Shown in place of the default where that depends on something. */
  readonly defaultDescription?: string;
  /** Commas and repeats make a list. */
  readonly list?: true;
  readonly boolean?: true;
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

const boolean = (describe: string) =>
  flag({ parse: parseBoolean, default: 'false', boolean: true, describe });

/** Which cluster, as whom. */
export const CLUSTER_FLAGS = {
  kubeconfig: flag({
    parse: parseText,
    default: undefined,
    defaultDescription: 'KUBECONFIG, else in-cluster, else ~/.kube/config',
    describe: 'Kubeconfig file',
  }),
  context: flag({
    parse: parseText,
    default: undefined,
    defaultDescription: "the kubeconfig's current context",
    describe: 'Context of the kubeconfig',
  }),
} satisfies Flags;

/** What the controller does, wherever it runs. */
export const CONTROLLER_FLAGS = {
  namespaces: flag({
    parse: parseNamespaceNames,
    default: '',
    defaultDescription: 'all',
    list: true,
    describe: 'Only these namespaces are watched for sources, and none else is a target',
  }),
  'allow-target-namespaces': flag({
    parse: parsePatterns,
    default: '*',
    list: true,
    describe: 'Companions are written across namespaces only into these (names, or prefixes ending in *)',
  }),
  'deny-target-namespaces': flag({
    parse: parsePatterns,
    default: 'kube-*',
    list: true,
    describe: 'And never into these',
  }),
  'require-consent': boolean(
    'Write across namespaces only where the annotation accept-mirrors-from accepts it',
  ),
  domain: flag({
    parse: parseDomain,
    default: DEFAULT_DOMAIN,
    describe: 'Prefix of every label and annotation',
  }),
  workers: flag({
    parse: parseWholeNumber(1, 1024),
    default: '16',
    describe: 'Sources reconciled at once',
  }),
  'max-writes-in-flight': flag({
    parse: parseWholeNumber(1, 1024),
    default: '32',
    describe: 'Writes under way at once, over all sources',
  }),
  'max-writes-per-second': flag({
    parse: parseWholeNumber(0, 1_000_000),
    default: '0',
    describe: 'A brake for a delicate API server; 0: no limit',
  }),
  resync: flag({
    parse: parseDuration,
    default: '10m',
    describe: 'Every source is reconciled from the cache this often (a duration; 0: never)',
  }),
  'source-cache-size': flag({
    parse: parseSize,
    default: '64Mi',
    describe: 'Bound of the cache of source bodies (bytes, or with Ki, Mi, Gi)',
  }),
  'dry-run': boolean('Log what would be written, and write nothing'),
} satisfies Flags;

export const LOG_FLAGS = {
  'log-level': flag({
    parse: parseChoice(['error', 'warn', 'info', 'debug']),
    default: 'info',
    describe: 'error, warn, info or debug',
  }),
  'log-format': flag({
    parse: parseChoice(['auto', 'json', 'readable']),
    default: 'auto',
    describe: 'json, readable, or auto: readable on a terminal, else json',
  }),
} satisfies Flags;

const ONCE_FLAG = {
  once: boolean('Converge and exit: 0 when all that can be done is done, 1 when something keeps failing'),
} satisfies Flags;

export const RUN_FLAGS = { ...CLUSTER_FLAGS, ...CONTROLLER_FLAGS, ...LOG_FLAGS, ...ONCE_FLAG };

export const SANDBOX_FLAGS = {
  ...CONTROLLER_FLAGS,
  ...LOG_FLAGS,
  controller: flag({
    parse: parseBoolean,
    default: 'true',
    boolean: true,
    describe: 'Run the controller too; --no-controller serves the API alone',
  }),
  port: flag({
    parse: parseWholeNumber(0, 65_535),
    default: '0',
    defaultDescription: 'a free one',
    describe: 'Port on 127.0.0.1',
  }),
  kubeconfig: flag({
    parse: parseText,
    default: undefined,
    defaultDescription: 'a temporary file, removed at the end',
    describe: 'File to write the kubeconfig to',
  }),
} satisfies Flags;

export const DEMO_FLAGS = { ...CLUSTER_FLAGS } satisfies Flags;
