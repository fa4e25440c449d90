import { randomBytes } from 'node:crypto';
import type { ApiClient } from './api-client.ts';

export interface IssuedToken {
  readonly token: string;
  /** The apiserver caches what it has verified: it may accept the token for 10 s more. */
  revoke(): Promise<void>;
}

/**
 * A token of the service account `namespace`/`name`, which is created when it is not there; what it
 * may do is for RBAC to say. It is bound to a Secret that `revoke` deletes, and with it the token
 * loses its force, as one does whose Pod is gone.
 */
export async function issueToken(client: ApiClient, namespace: string, name: string): Promise<IssuedToken> {
  const core = `/api/v1/namespaces/${namespace}`;
  const secretName = `${name}-${randomBytes(4).toString('hex')}`;
  const account = await client.request('POST', `${core}/serviceaccounts`, { body: { metadata: { name } } });
  if (![201, 409].includes(account.code)) throw new Error(`no service account: ${account.text}`);
  const secret = await client.request('POST', `${core}/secrets`, {
    body: { metadata: { name: secretName } },
  });
  const { uid } = secret.body.metadata;
  const boundObjectRef = { apiVersion: 'v1', kind: 'Secret', name: secretName, uid };
  const issued = await client.request('POST', `${core}/serviceaccounts/${name}/token`, {
    body: { spec: { boundObjectRef, expirationSeconds: 3600 } },
  });
  const token = (issued.json as { readonly status?: { readonly token?: string } } | undefined)?.status?.token;
  if (token === undefined) throw new Error(`no token: ${issued.text}`);
  return {
    token,
    revoke: async () => {
      await client.request('DELETE', `${core}/secrets/${secretName}`);
    },
  };
}
