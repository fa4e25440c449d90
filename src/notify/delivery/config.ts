import { resolve } from 'node:path';
import { loadAll } from 'js-yaml';
import { didYouMean } from '../../mirror/did-you-mean.ts';
import { type Parsed, parsed, problem, quoted } from '../../mirror/parsed.ts';
import { parseDuration } from '../../mirror/request/duration.ts';
import { isSinkName } from '../../mirror/request/notify.ts';
import { type NamespacePatterns, parseNamespacePatterns } from '../../mirror/request/patterns.ts';
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

const SINK_TYPES = ['webhook', 'slack'] as const;
const CONTENTS = ['none', 'keys', 'full'] as const;
const GUARANTEES = ['at-least-once', 'at-most-once'] as const;
export const FIELDS = [
  ...['name', 'type', 'url', 'urlFile', 'headersFile', 'signingKeyFiles', 'caFile', 'types'],
  ...['sourceNamespaces', 'default', 'content', 'guarantee', 'timeout', 'allowHttp'],
];
const DEFAULT_TIMEOUT = '15s';
/** Longest timeout (ms): more would keep one of a sink's few slots for too long. */
const MAX_TIMEOUT_MS = 120_000;

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
  const readers = sinks.map((fields, at) => new SinkReader(isFields(fields) ? fields : {}, at, folder));
  const read = readers.map((reader) => reader.read());
  const names = read.map(({ name }) => name);
  const problems = [
    ...others.map((key) => `"${key}" is not a setting${didYouMean(key, ['sinks'])}`),
    ...readers.flatMap((reader) => reader.problems),
    ...names
      .filter((name, at) => name !== '' && names.indexOf(name) !== at)
      .map((name) => `sink ${name}: the name is used twice`),
  ];
  return problems.length > 0 ? problem(problems.join('\n')) : parsed(read);
}

/** Reads one sink, and collects what is wrong with it. */
class SinkReader {
  readonly problems: string[] = [];
  readonly #fields: Fields;
  readonly #where: string;
  readonly #folder: string;

  constructor(fields: Fields, at: number, folder: string) {
    this.#fields = fields;
    this.#where = typeof fields['name'] === 'string' ? `sink ${fields['name']}` : `sink ${at + 1}`;
    this.#folder = folder;
  }

  read(): Sink {
    for (const key of Object.keys(this.#fields)) {
      if (!FIELDS.includes(key)) this.#wrong(key, `there is no such field${didYouMean(key, FIELDS)}`);
    }
    const type = this.#choice('type', SINK_TYPES, undefined);
    const isSlack = type === 'slack';
    const sink: Sink = {
      name: this.#name(),
      type,
      url: this.#url(),
      headersFile: this.#path('headersFile'),
      signingKeyFiles: this.#texts('signingKeyFiles').map((path) => resolve(this.#folder, path)),
      caFile: this.#path('caFile'),
      types: this.#types(isSlack),
      sourceNamespaces: this.#namespaces(),
      default: this.#switch('default'),
      content: this.#choice('content', CONTENTS, 'keys'),
      guarantee: this.#choice('guarantee', GUARANTEES, isSlack ? 'at-most-once' : 'at-least-once'),
      timeoutMs: this.#timeoutMs(),
      allowHttp: this.#switch('allowHttp'),
    };
    if (isSlack && sink.signingKeyFiles.length > 0) {
      this.#wrong('signingKeyFiles', 'Slack checks no signatures; remove it');
    }
    if (isSlack && sink.content === 'full') {
      this.#wrong('content', 'a chat message never has data; write none or keys');
    }
    if (typeof sink.url === 'string') {
      const reason = addressProblem(sink.url, sink.allowHttp);
      if (reason !== undefined && sink.url !== '') this.#wrong('url', reason);
    }
    return sink;
  }

  #wrong(field: string, reason: string): void {
    this.problems.push(`${this.#where}: ${field}: ${reason}`);
  }

  #name(): string {
    const name = this.#text('name') ?? '';
    if (!isSinkName(name)) {
      this.#wrong('name', 'it must have 1 to 40 characters of a-z, 0-9 and "-", and not be "none"');
    }
    return name;
  }

  #url(): Sink['url'] {
    const [url, file] = [this.#text('url'), this.#path('urlFile')];
    if ((url === undefined) === (file === undefined)) {
      this.#wrong('url', 'write either url, or urlFile with the path of a file that holds it');
    }
    return file === undefined ? (url ?? '') : { file };
  }

  #types(isSlack: boolean): ReadonlySet<EventType> {
    const texts = this.#someTexts('types');
    if (texts.length === 0) return new Set(isSlack ? ['source.created'] : EVENT_TYPES);
    const types = new Set<EventType>();
    for (const text of texts) {
      const type = parseEventType(text);
      if (type !== undefined) types.add(type);
      else {
        const hint = didYouMean(text, EVENT_TYPES) || `; there are ${EVENT_TYPES.join(', ')}`;
        this.#wrong('types', `${quoted(text)} is not a type of notification${hint}`);
      }
    }
    return types;
  }

  #namespaces(): NamespacePatterns {
    const patterns = parseNamespacePatterns(this.#someTexts('sourceNamespaces').join() || '*', {
      exclusions: true,
    });
    if (patterns.ok) return patterns.value;
    this.#wrong('sourceNamespaces', patterns.problem);
    return { names: new Set(), prefixes: [], excludedNames: new Set(), excludedPrefixes: [] };
  }

  #timeoutMs(): number {
    const duration = parseDuration(this.#text('timeout') ?? DEFAULT_TIMEOUT);
    const ms = duration.ok ? duration.value.ms : 0;
    if (ms > 0 && ms <= MAX_TIMEOUT_MS) return ms;
    this.#wrong('timeout', 'write a duration above 0 and up to 2m, such as 15s');
    return 0;
  }

  #text(field: string): string | undefined {
    const value = this.#fields[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
    if (typeof value === 'number') return String(value);
    this.#wrong(field, 'must be a string');
    return undefined;
  }

  #path(field: string): string | undefined {
    const path = this.#text(field);
    return path === undefined ? undefined : resolve(this.#folder, path);
  }

  #texts(field: string): readonly string[] {
    const value = this.#fields[field] ?? [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    this.#wrong(field, 'must be a list of strings');
    return [];
  }

  /** Of a field whose absence means everything. */
  #someTexts(field: string): readonly string[] {
    const texts = this.#texts(field);
    const isEmpty = texts.length === 0 && Array.isArray(this.#fields[field]);
    if (isEmpty) this.#wrong(field, 'the list is empty; list something, or remove the field to mean all');
    return texts;
  }

  #switch(field: string): boolean {
    const value = this.#fields[field] ?? false;
    if (typeof value === 'boolean') return value;
    this.#wrong(field, 'write true or false');
    return false;
  }

  /** `otherwise`: what an absent field means; undefined: it must not be absent. */
  #choice<const C extends string>(field: string, choices: readonly [C, ...C[]], otherwise: C | undefined): C {
    const value = this.#fields[field] ?? otherwise;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) this.#wrong(field, `write one of ${choices.join(', ')}`);
    return found ?? choices[0];
  }
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
