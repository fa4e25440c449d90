import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import {
  type ApiClient,
  type ApiReply,
  type OpenWatch,
  openApiClient,
  type RequestOptions,
  type WatchLine,
} from '../support/api-client.ts';
import type { Place, TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { normalised, withoutManagedFields } from './normalised.ts';
import { type Exchange, openRecording } from './recording.ts';

/** The media type of a merge patch. */
export const MERGE = 'application/merge-patch+json';

/** The uid of no object. Recordings show it as it is. */
export const OTHER_UID = '11111111-1111-1111-1111-111111111111';

/** A namespace for the tests of one topic, and their recorded requests. */
export interface Room {
  readonly namespace: string;
  /** How programs reach the server; known once the tests run. */
  kubeconfigPath(): string;
  /** Path of a collection in the namespace, by default of the ConfigMaps, or of an object in it. */
  path(name?: string, collection?: string): string;
  /**
   * Sends a request, and records it with its answer. `record`: what to record of the answer, by
   * default all of it.
   */
  request(
    method: string,
    path: string,
    options?: RequestOptions,
    record?: (reply: ApiReply) => unknown,
  ): Promise<ApiReply>;
  /** Reads `path` until the answer fulfils `holds`, and records that answer alone. */
  until(path: string, holds: (reply: ApiReply) => unknown): Promise<ApiReply>;
  /**
   * Watches until the test ends, and records the lines that `first` and `ended` return. `record`:
   * what to record of each line, by default all of it.
   */
  watch(path: string, options?: RequestOptions, record?: (line: WatchLine) => unknown): Promise<OpenWatch>;
  /** Creates a ConfigMap in the namespace and resolves to it; fails unless that succeeds. */
  create(name: string, fields?: object): Promise<ApiReply['body']>;
  /** Records what was done by other means. */
  record(exchange: Exchange): void;
}

/** A real server may be busy: it collects garbage and compacts its history every few seconds. */
const DEADLINE = { deadlineMs: 30_000 };

/** The API group of a collection that is not in the core group. */
const GROUPS: Readonly<Record<string, string>> = { leases: '/apis/coordination.k8s.io/v1' };

/**
 * Opens a place and creates a namespace before the tests of the surrounding `describe`, and deletes
 * it after them.
 */
export function useRoom(server: TestServer, topic: string, open: () => Promise<Place> = server.open): Room {
  const recording = openRecording(topic, server.name === 'control plane');
  const namespace = `contract-${randomBytes(4).toString('hex')}`;
  const path = (name = '', collection = 'configmaps') =>
    `${GROUPS[collection] ?? '/api/v1'}/namespaces/${namespace}/${collection}${name === '' ? '' : `/${name}`}`;
  let place: Place;
  let client: ApiClient;

  beforeAll(async () => {
    place = await open();
    client = openApiClient(place.access);
    const body = { metadata: { name: namespace } };
    const { code, text } = await client.request('POST', '/api/v1/namespaces', { body });
    if (code !== 201) throw new Error(`the namespace of the tests was not created: ${text}`);
  });
  afterAll(async () => {
    await client.request('DELETE', `/api/v1/namespaces/${namespace}`);
    await client.close();
    await place[Symbol.asyncDispose]();
  });

  /** Adds the request now, in the order of sending, and its answer as soon as it is called. */
  const begin = (request: Exchange) => {
    const exchange = normalised(request, namespace) as Exchange;
    recording.add(exchange);
    return (answer: Exchange) => void Object.assign(exchange, normalised(answer, namespace));
  };
  const request: Room['request'] = async (method, target, options = {}, record = wholeAnswer) => {
    const answered = begin({ request: `${method} ${target}`, ...options });
    const reply = await client.request(method, target, options);
    answered({ code: reply.code, answer: record(reply) });
    return reply;
  };

  return {
    namespace,
    kubeconfigPath: () => place.kubeconfigPath,
    path,
    request,
    until: async (target, holds) => {
      const answered = begin({ request: `GET ${target}` });
      const check = async () => {
        const reply = await client.request('GET', target);
        return holds(reply) ? reply : undefined;
      };
      const reply = await waitFor(check, DEADLINE);
      answered({ code: reply.code, answer: wholeAnswer(reply) });
      return reply;
    },
    watch: async (target, options = {}, record = withoutManagedFields) => {
      const answered = begin({ request: `WATCH ${target}`, ...options });
      const opened = await client.watch(target, options);
      onTestFinished(opened.close);
      const read = (lines: readonly WatchLine[]) => {
        answered({ code: opened.code, lines: lines.map(record) });
        return lines;
      };
      return {
        ...opened,
        first: async (count) => read(await opened.first(count)),
        ended: async () => read(await opened.ended()),
      };
    },
    create: async (name, fields = {}) => {
      const { code, body, text } = await request('POST', path(), { body: configMap(name, fields) });
      if (code !== 201) throw new Error(`${name} was not created: ${text}`);
      return body;
    },
    record: (exchange) => begin(exchange),
  };
}

const wholeAnswer = ({ json, text }: ApiReply): unknown => withoutManagedFields(json ?? text);

/** The parameters of a query, encoded. */
export const query = (parameters: Readonly<Record<string, string>>): string =>
  new URLSearchParams(parameters).toString();

/** `fields` are the ConfigMap's; `metadata` among them is merged with the name. */
export function configMap(name: string, fields: object = {}): object {
  const { metadata, ...others } = fields as { readonly metadata?: object };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...others };
}
