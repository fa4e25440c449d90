import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock/clock.ts';
import { AuthPlugin, type PluginCredential } from './auth-plugin.ts';
import type { ClusterUser, Impersonation, TextSource } from './cluster.ts';
import { RotatingText } from './rotating-text.ts';

/** Proves to the server who we are. A secret: never logged, never part of a message. */
export interface Credential {
  /** `authorization` and impersonation headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** PEM. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

/**
 * The credentials of a kubeconfig's user. It reads rotating files again, see {@link RotatingText}.
 */
export class UserCredentials {
  readonly #user: ClusterUser;
  readonly #token: RotatingText | undefined;
  readonly #cert: RotatingText | undefined;
  readonly #key: RotatingText | undefined;
  readonly #plugin: AuthPlugin | undefined;
  #last: Credential = { headers: {} };

  constructor(user: ClusterUser, clock: Clock) {
    this.#user = user;
    const rotating = (source: TextSource | undefined) =>
      source && new RotatingText(source, clock, `the credentials of user ${user.name}`);
    this.#token = rotating(user.token);
    this.#cert = rotating(user.clientCertificate?.cert);
    this.#key = rotating(user.clientCertificate?.key);
    const usesPlugin = user.token === undefined && user.basic === undefined;
    this.#plugin = usesPlugin && user.plugin ? new AuthPlugin(user.plugin, clock) : undefined;
  }

  /**
   * The credential to use now: the same object until something changes. Rejects with `NetworkError`
   * (`CREDENTIALS`).
   */
  async current(): Promise<Credential> {
    return this.#compose(await this.#plugin?.current());
  }

  /**
   * The credential to try after the server refused `rejected`: a different object, or `rejected`
   * itself if there is nothing better.
   */
  async renew(rejected: Credential): Promise<Credential> {
    // If many requests are refused at once, the first one renews the credential for all of them.
    if (this.#last !== rejected) return this.#last;
    const plugin = await this.#plugin?.renew();
    for (const file of [this.#token, this.#cert, this.#key]) file?.reread();
    return this.#compose(plugin);
  }

  #compose(plugin: PluginCredential | undefined): Credential {
    const [token, cert, key] = [this.#token, this.#cert, this.#key].map((text) => text?.current());
    const authorization = this.#authorization(token) ?? plugin?.authorization;
    const clientCertificate =
      cert !== undefined && key !== undefined ? { cert, key } : plugin?.clientCertificate;
    const credential = {
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...impersonationHeaders(this.#user.impersonate),
      },
      ...(clientCertificate && { clientCertificate }),
    };
    if (!isDeepStrictEqual(credential, this.#last)) this.#last = credential;
    return this.#last;
  }

  #authorization(token: string | undefined): string | undefined {
    if (token !== undefined) return `Bearer ${token}`;
    const { basic } = this.#user;
    return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
  }
}

/**
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 *
 * undici writes each character of a header as one byte. A kube-apiserver reads UTF-8.
 */
function impersonationHeaders(as: Impersonation | undefined): Record<string, string | string[]> {
  if (as === undefined) return {};
  const extra = Object.entries(as.extra ?? {}).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
    values.map(utf8),
  ]);
  return {
    ...(Object.fromEntries(extra) as Record<string, string[]>),
    'impersonate-user': utf8(as.user),
    ...(as.uid !== undefined && { 'impersonate-uid': utf8(as.uid) }),
    ...(as.groups !== undefined && as.groups.length > 0 && { 'impersonate-group': as.groups.map(utf8) }),
  };
}

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
