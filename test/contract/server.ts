import type { ApiClient } from '../support/api-client.ts';

/** An API server that the contract is held against. Known while tests are collected, there once they run. */
export interface Server {
  readonly name: 'sandbox' | 'kube-apiserver';
  /** Whether garbage is collected and deleted namespaces go away. */
  readonly collectsGarbage: boolean;
  /** Whether {@link compact} works. */
  readonly canCompact: boolean;
  client(): ApiClient;
  kubeconfigPath(): string;
  /** Forgets the history up to now; what is cached of it may still be served for some seconds. */
  compact(): Promise<void>;
  /** Whether {@link forget} works. */
  readonly canForget: boolean;
  /** A server that has forgotten a resourceVersion: this one, or one of the same make. */
  forget(): Promise<ForgetfulServer>;
}

export interface ForgetfulServer extends AsyncDisposable {
  readonly client: ApiClient;
  readonly namespace: string;
  /** A resourceVersion of the namespace's ConfigMaps that is gone. */
  readonly oldVersion: string;
}

/** Makes history in the namespace `default`; resolves to the resourceVersion that it begins with. */
export async function makeHistory(client: ApiClient): Promise<string> {
  const path = '/api/v1/namespaces/default/configmaps';
  const versions: string[] = [];
  for (const name of ['history-a', 'history-b', 'history-c']) {
    const { body } = await client.request('POST', path, { body: { metadata: { name } } });
    versions.push(body.metadata.resourceVersion);
    await client.request('DELETE', `${path}/${name}`);
  }
  return versions[0] ?? '';
}
