import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock/clock.ts';
import { AuthPlugin, type PluginCredential } from './auth-plugin.ts';
import type { ClusterUser, Impersonation } from './cluster.ts';
import { NetworkError } from './errors.ts';
import { RotatingText } from './rotating-text.ts';

/** What proves to the server who we are. A secret: never logged, never part of a message. */
export interface Credential {
  /** `authorization` and impersonation headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** PEM. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

export interface Credentials {
  /** What to use now: the same object for as long as nothing changed. Rejects with `NetworkError` (`CREDENTIALS`). */
  current(): Promise<Credential>;
  /** What to try after the server refused `rejected`: another object, or `rejected` itself when there is nothing better. */
  renew(rejected: Credential): Promise<Credential>;
}

/** The credentials of a kubeconfig's user. Files are read again as they rotate, see {@link RotatingText}. */
export class UserCredentials implements Credentials {
  readonly #user: ClusterUser;
  readonly #token: RotatingText | undefined;
  readonly #cert: RotatingText | undefined;
  readonly #key: RotatingText | undefined;
  readonly #plugin: AuthPlugin | undefined;
  #last: Credential = { headers: {} };

  constructor(user: ClusterUser, clock: Clock) {
    this.#user = user;
    this.#token = user.token && new RotatingText(user.token, clock);
    this.#cert = user.clientCertificate && new RotatingText(user.clientCertificate.cert, clock);
    this.#key = user.clientCertificate && new RotatingText(user.clientCertificate.key, clock);
    const usesPlugin = user.token === undefined && user.basic === undefined;
    this.#plugin = usesPlugin && user.plugin ? new AuthPlugin(user.plugin, clock) : undefined;
  }

  async current(): Promise<Credential> {
    return this.#compose((await this.#plugin?.current()) ?? {});
  }

  async renew(rejected: Credential): Promise<Credential> {
    // Of many requests that are refused at once, the first has renewed it for all.
    if (this.#last !== rejected) return this.#last;
    const plugin = (await this.#plugin?.renew()) ?? {};
    this.#read(() => {
      for (const file of [this.#token, this.#cert, this.#key]) file?.reread();
    });
    return this.#compose(plugin);
  }

  #compose(plugin: PluginCredential): Credential {
    const credential = this.#read(() => this.#assemble(plugin));
    if (!isDeepStrictEqual(credential, this.#last)) this.#last = credential;
    return this.#last;
  }

  #assemble(plugin: PluginCredential): Credential {
    const cert = this.#cert?.current();
    const key = this.#key?.current();
    const clientCertificate =
      cert !== undefined && key !== undefined ? { cert, key } : plugin.clientCertificate;
    const authorization = this.#authorization() ?? plugin.authorization;
    return {
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...impersonationHeaders(this.#user.impersonate),
      },
      ...(clientCertificate && { clientCertificate }),
    };
  }

  #authorization(): string | undefined {
    const token = this.#token?.current();
    if (token !== undefined) return `Bearer ${token}`;
    const { basic } = this.#user;
    return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const path = (error as NodeJS.ErrnoException).path ?? 'a file';
      throw new NetworkError(`the credentials of user ${this.#user.name} cannot be read from ${path}`, {
        code: 'CREDENTIALS',
        cause: error,
      });
    }
  }
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
function impersonationHeaders(as: Impersonation | undefined): Record<string, string | string[]> {
  if (as === undefined) return {};
  const extra = Object.entries(as.extra ?? {}).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
    [...values],
  ]);
  return {
    ...(Object.fromEntries(extra) as Record<string, string[]>),
    'impersonate-user': as.user,
    ...(as.uid !== undefined && { 'impersonate-uid': as.uid }),
    ...(as.groups !== undefined && as.groups.length > 0 && { 'impersonate-group': [...as.groups] }),
  };
}
