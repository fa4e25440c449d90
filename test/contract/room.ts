import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { ApiReply, OpenWatch, RequestOptions } from '../support/api-client.ts';
import { normalised } from './normalised.ts';
import { openRecording } from './recording.ts';
import type { Server } from './server.ts';

/** A namespace for the tests of one topic, and the requests that they make in it. */
export interface Room {
  readonly namespace: string;
  /** Path of a collection in the namespace, by default of the ConfigMaps, or of an object in it. */
  path(name?: string, collection?: string): string;
  request(method: string, path: string, options?: RequestOptions): Promise<ApiReply>;
  /** As `request`, and fails unless the answer is the recorded one. */
  check(method: string, path: string, options?: RequestOptions): Promise<ApiReply>;
  /** Fails unless `value`, normalised, is what the running test saw here when it was recorded. */
  same(value: unknown): void;
  /** Watches the ConfigMaps of the namespace; closed when the test ends. */
  watch(query: string, options?: RequestOptions): Promise<OpenWatch>;
  /** Creates a ConfigMap in the namespace and resolves to it; fails unless that succeeds. */
  create(name: string, fields?: object): Promise<ApiReply['body']>;
}

/** The API group of a collection that is not in the core group. */
const GROUPS: Readonly<Record<string, string>> = { leases: '/apis/coordination.k8s.io/v1' };

/** Creates a namespace before the tests of the surrounding `describe`, and deletes it after them. */
export function useRoom(server: Server, topic: string): Room {
  const recording = openRecording(topic, server.name === 'kube-apiserver');
  const namespace = `contract-${randomBytes(4).toString('hex')}`;
  const request = (method: string, path: string, options?: RequestOptions) =>
    server.client().request(method, path, options);
  const same = (value: unknown) => recording.same(normalised(value, namespace));
  const path = (name = '', collection = 'configmaps') =>
    `${GROUPS[collection] ?? '/api/v1'}/namespaces/${namespace}/${collection}${name === '' ? '' : `/${name}`}`;

  beforeAll(async () => {
    const body = { metadata: { name: namespace } };
    const { code, text } = await request('POST', '/api/v1/namespaces', { body });
    if (code !== 201) throw new Error(`the namespace of the tests was not created: ${text}`);
  });
  afterAll(async () => {
    await request('DELETE', `/api/v1/namespaces/${namespace}`);
  });

  return {
    namespace,
    path,
    request,
    check: async (method, target, options) => {
      const reply = await request(method, target, options);
      same({ request: `${method} ${target}`, code: reply.code, body: reply.json ?? reply.text });
      return reply;
    },
    same,
    watch: async (query, options) => {
      const opened = await server.client().watch(`${path()}?watch=true&${query}`, options);
      onTestFinished(opened.close);
      return opened;
    },
    create: async (name, fields = {}) => {
      const { code, body, text } = await request('POST', path(), { body: configMap(name, fields) });
      if (code !== 201) throw new Error(`${name} was not created: ${text}`);
      return body;
    },
  };
}

/** The parameters of a query, encoded. */
export const query = (parameters: Readonly<Record<string, string>>): string =>
  new URLSearchParams(parameters).toString();

/** `fields` are the ConfigMap's; `metadata` among them is merged with the name. */
export function configMap(name: string, fields: object = {}): object {
  const { metadata, ...others } = fields as { readonly metadata?: object };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...others };
}
