import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock/clock.ts';
import { NetworkError } from '../errors.ts';
import { AuthPlugin, type PluginCredential } from './auth-plugin.ts';
import type { ClusterUser, Impersonation } from './cluster.ts';
import { RotatingText } from './rotating-text.ts';

/** What proves to the server who we are. A secret: never logged, never part of a message. */
export interface Credential {
  /** `authorization` and impersonation headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** PEM. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

export interface Credentials {
  /**
   * What to use now: the same object for as long as nothing changed. A promise only where a plugin has to be asked.
   * Throws and rejects with `NetworkError` (`CREDENTIALS`).
   */
  current(): Credential | Promise<Credential>;
  /** What to try after the server refused `rejected`: another object, or `rejected` itself when there is nothing better. */
  renew(rejected: Credential): Promise<Credential>;
}

/** What may rotate. */
interface Parts {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly plugin: PluginCredential;
}

const NO_PLUGIN: PluginCredential = {};

/** The credentials of a kubeconfig's user. Files are read again as they rotate, see {@link RotatingText}. */
export class UserCredentials implements Credentials {
  readonly #user: ClusterUser;
  readonly #token: RotatingText | undefined;
  readonly #cert: RotatingText | undefined;
  readonly #key: RotatingText | undefined;
  readonly #plugin: AuthPlugin | undefined;
  #last: Credential = { headers: {} };
  /** What {@link #last} was made of. */
  #lastParts: Parts | undefined;

  constructor(user: ClusterUser, clock: Clock) {
    this.#user = user;
    this.#token = user.token && new RotatingText(user.token, clock);
    this.#cert = user.clientCertificate && new RotatingText(user.clientCertificate.cert, clock);
    this.#key = user.clientCertificate && new RotatingText(user.clientCertificate.key, clock);
    const usesPlugin = user.token === undefined && user.basic === undefined;
    this.#plugin = usesPlugin && user.plugin ? new AuthPlugin(user.plugin, clock) : undefined;
  }

  current(): Credential | Promise<Credential> {
    return this.#plugin === undefined
      ? this.#compose(NO_PLUGIN)
      : this.#plugin.current().then((plugin) => this.#compose(plugin));
  }

  async renew(rejected: Credential): Promise<Credential> {
    // Of many requests that are refused at once, the first has renewed it for all.
    if (this.#last !== rejected) return this.#last;
    const plugin = (await this.#plugin?.renew()) ?? NO_PLUGIN;
    this.#read(() => {
      for (const file of [this.#token, this.#cert, this.#key]) file?.reread();
    });
    return this.#compose(plugin);
  }

  #compose(plugin: PluginCredential): Credential {
    const parts = this.#read(() => ({
      token: this.#token?.current(),
      cert: this.#cert?.current(),
      key: this.#key?.current(),
      plugin,
    }));
    // For every request: so what has not changed costs four comparisons.
    if (this.#lastParts !== undefined && areSame(parts, this.#lastParts)) return this.#last;
    this.#lastParts = parts;
    const credential = this.#assemble(parts);
    if (!isDeepStrictEqual(credential, this.#last)) this.#last = credential;
    return this.#last;
  }

  #assemble({ token, cert, key, plugin }: Parts): Credential {
    const clientCertificate =
      cert !== undefined && key !== undefined ? { cert, key } : plugin.clientCertificate;
    const authorization = this.#authorization(token) ?? plugin.authorization;
    return {
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...impersonationHeaders(this.#user.impersonate),
      },
      ...(clientCertificate && { clientCertificate }),
    };
  }

  #authorization(token: string | undefined): string | undefined {
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

function areSame(a: Parts, b: Parts): boolean {
  return a.token === b.token && a.cert === b.cert && a.key === b.key && a.plugin === b.plugin;
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
