import { resolve } from 'node:path';
import { loadAll } from 'js-yaml';
import { didYouMean } from '../../mirror/did-you-mean.ts';
import { type Parsed, parsed, problem, quoted } from '../../mirror/parsed.ts';
import { parseDuration } from '../../mirror/request/duration.ts';
import { isSinkName } from '../../mirror/request/notify.ts';
import {
  includesNothing,
  type NamespacePatterns,
  parseNamespacePatterns,
} from '../../mirror/request/patterns.ts';
import { EVENT_TYPES, type EventType, parseEventType } from '../event-types.ts';

/** A destination, as the operator's file describes it (SPEC N1). */
export interface Sink {
  readonly name: string;
  readonly type: 'webhook' | 'slack';
  /** The address, or the file that holds it. */
  readonly url: string | { readonly file: string };
  readonly headersFile: string | undefined;
  readonly signingKeyFiles: readonly string[];
  readonly caFile: string | undefined;
  readonly types: ReadonlySet<EventType>;
  readonly sourceNamespaces: NamespacePatterns;
  /** Whether it also gets the sources that name no sink. */
  readonly default: boolean;
  /** What a body may say of the source's data: nothing, the names of keys, or all. */
  readonly content: 'none' | 'keys' | 'full';
  readonly guarantee: 'at-least-once' | 'at-most-once';
  /** Time limit (ms) of one attempt. */
  readonly timeoutMs: number;
  readonly allowHttp: boolean;
}

export const FIELDS = [
  ...['name', 'type', 'url', 'urlFile', 'headersFile', 'signingKeyFiles', 'caFile', 'types'],
  ...['sourceNamespaces', 'default', 'content', 'guarantee', 'timeout', 'allowHttp'],
];
const DEFAULT_TIMEOUT_MS = 15_000;
/** Longest timeout (ms): more would keep one of a sink's few slots for too long. */
const MAX_TIMEOUT_MS = 120_000;
const ALL_NAMESPACES: NamespacePatterns = {
  names: new Set(),
  prefixes: [''],
  excludedNames: new Set(),
  excludedPrefixes: [],
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the file of `--notify-config`. `folder`: relative paths in it begin there. The problem
 * names everything that is wrong, one line each.
 */
export function parseNotifyConfig(text: string, folder: string): Parsed<readonly Sink[]> {
  let documents: readonly unknown[];
  try {
    documents = loadAll(text);
  } catch (error) {
    return problem(`it is not YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  if (documents.length > 1) return problem('it has several YAML documents; write all sinks into one');
  const [document] = documents;
  const sinks = isFields(document) ? document['sinks'] : undefined;
  if (!Array.isArray(sinks) || sinks.length === 0) {
    return problem('it lists no sinks; write "sinks:", and below it one item for each destination');
  }
  const others = Object.keys(document as Fields).filter((key) => key !== 'sinks');
  const problems = others.map((key) => `"${key}" is not a setting${didYouMean(key, ['sinks'])}`);
  const read = sinks.map((item, at) => {
    const fields: Fields = isFields(item) ? item : {};
    const name = typeof fields['name'] === 'string' ? fields['name'] : at + 1;
    const wrong = (reason: string) => problems.push(`sink ${name}: ${reason}`);
    const required = { name: fields['name'] ?? '', type: fields['type'] ?? '' };
    return readSink({ ...fields, ...required }, folder, wrong);
  });
  const names = read.map(({ name }) => name).filter((name) => name !== '');
  const repeated = names.filter((name, at) => names.indexOf(name) !== at);
  problems.push(...repeated.map((name) => `sink ${name}: the name is used twice`));
  return problems.length > 0 ? problem(problems.join('\n')) : parsed(read);
}

/** Tells `wrong` of all that is wrong with a sink. Then what it returns is not to be used. */
function readSink(fields: Fields, folder: string, wrong: (reason: string) => void): Sink {
  const isGiven = (field: string) => fields[field] !== undefined && fields[field] !== null;
  /** `otherwise`: what an absent field means. */
  const read = <T>(field: string, parse: Parser<T>, otherwise: T): T => {
    if (!isGiven(field)) return otherwise;
    const result = parse(fields[field]);
    if (result.ok) return result.value;
    for (const line of result.problem.split('\n')) wrong(`${field}: ${line}`);
    return otherwise;
  };
  const readPath = (field: string) => {
    const path = read(field, text, undefined);
    return path === undefined ? undefined : resolve(folder, path);
  };
  for (const key of Object.keys(fields)) {
    if (!FIELDS.includes(key)) wrong(`${key}: there is no such field${didYouMean(key, FIELDS)}`);
  }
  const isSlack = fields['type'] === 'slack';
  const usualGuarantee = isSlack ? 'at-most-once' : 'at-least-once';
  const allowHttp = read('allowHttp', flag, false);
  const url = read('url', (value) => address(value, allowHttp), '');
  const file = readPath('urlFile');
  const sink: Sink = {
    name: read('name', sinkName, ''),
    type: read('type', oneOf('webhook', 'slack'), 'webhook'),
    url: file === undefined ? url : { file },
    headersFile: readPath('headersFile'),
    signingKeyFiles: read('signingKeyFiles', texts, []).map((path) => resolve(folder, path)),
    caFile: readPath('caFile'),
    types: read('types', eventTypes, new Set(isSlack ? ['source.created'] : EVENT_TYPES)),
    sourceNamespaces: read('sourceNamespaces', namespaces, ALL_NAMESPACES),
    default: read('default', flag, false),
    content: read('content', oneOf('none', 'keys', 'full'), 'keys'),
    guarantee: read('guarantee', oneOf('at-least-once', 'at-most-once'), usualGuarantee),
    timeoutMs: read('timeout', timeout, DEFAULT_TIMEOUT_MS),
    allowHttp,
  };
  if (isGiven('url') === isGiven('urlFile')) {
    wrong('url: write either url, or urlFile with the path of a file that holds it');
  }
  if (isSlack && sink.signingKeyFiles.length > 0) {
    wrong('signingKeyFiles: Slack checks no signatures; remove it');
  }
  if (isSlack && sink.content === 'full') {
    wrong('content: a chat message never has data; write none or keys');
  }
  return sink;
}

/** Reads what stands in a field. */
type Parser<T> = (value: unknown) => Parsed<T>;

const text: Parser<string> = (value) => {
  if (typeof value === 'number') return parsed(String(value));
  if (typeof value !== 'string') return problem('must be a string');
  return value.trim() === '' ? problem('it is empty') : parsed(value.trim());
};

const texts: Parser<readonly string[]> = (value) => {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isList ? parsed(value) : problem('must be a list of strings');
};

/** Of a field whose absence means everything. */
const someTexts: Parser<readonly string[]> = (value) => {
  const list = texts(value);
  return list.ok && list.value.length === 0
    ? problem('the list is empty; list something, or remove the field to mean all')
    : list;
};

const flag: Parser<boolean> = (value) =>
  typeof value === 'boolean' ? parsed(value) : problem('write true or false');

function oneOf<const C extends string>(...choices: readonly C[]): Parser<C> {
  return (value) => {
    const found = choices.find((choice) => choice === value);
    return found === undefined ? problem(`write one of ${choices.join(', ')}`) : parsed(found);
  };
}

const sinkName: Parser<string> = (value) => {
  const name = text(value);
  return name.ok && isSinkName(name.value)
    ? name
    : problem('it must have 1 to 40 characters of a-z, 0-9 and "-", and not be "none"');
};

const eventTypes: Parser<ReadonlySet<EventType>> = (value) => {
  const list = someTexts(value);
  if (!list.ok) return list;
  const types = new Set<EventType>();
  const problems: string[] = [];
  for (const item of list.value) {
    const type = parseEventType(item);
    const hint = didYouMean(item, EVENT_TYPES) || `; there are ${EVENT_TYPES.join(', ')}`;
    if (type === undefined) problems.push(`${quoted(item)} is not a type of notification${hint}`);
    else types.add(type);
  }
  return problems.length > 0 ? problem(problems.join('\n')) : parsed(types);
};

const namespaces: Parser<NamespacePatterns> = (value) => {
  const list = someTexts(value);
  if (!list.ok) return list;
  const patterns = parseNamespacePatterns(list.value.join(), { exclusions: true });
  const admitsNone = patterns.ok && includesNothing(patterns.value);
  return admitsNone ? problem('it admits no namespace; add a name, or "*" for all') : patterns;
};

const timeout: Parser<number> = (value) => {
  const duration = parseDuration(String(value));
  const ms = duration.ok ? duration.value.ms : 0;
  const isPossible = ms > 0 && ms <= MAX_TIMEOUT_MS;
  return isPossible ? parsed(ms) : problem('write a duration above 0 and up to 2m, such as 15s');
};

function address(value: unknown, allowHttp: boolean): Parsed<string> {
  const url = text(value);
  const reason = url.ok ? addressProblem(url.value, allowHttp) : undefined;
  return reason === undefined ? url : problem(reason);
}

/** What is wrong with a sink's address; undefined: nothing. Never quotes it: it may be a secret. */
export function addressProblem(text: string, allowHttp: boolean): string | undefined {
  if (!URL.canParse(text)) return 'it is not an address; write https://host/path';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'it has a password; move that to headersFile';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'it must begin with https://';
  return allowHttp ? undefined : 'it must begin with https://, unless allowHttp is true';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
