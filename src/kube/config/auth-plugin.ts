import type { RequestOptions } from 'node:https';
import { KubeConfig, type User } from '@kubernetes/client-node';
import type { Clock } from '../../clock/clock.ts';
import { NetworkError } from '../errors.ts';

/** What a plugin gave: a header, a client certificate (PEM), or both. */
export interface PluginCredential {
  readonly authorization?: string;
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

/** The library keeps a credential until it expires, by the wall clock; we ask it again this often. */
const ASK_AGAIN_MS = 5_000;
/** Where the server refuses whatever a plugin gives, not each request may start one. */
const RENEW_AGAIN_MS = 5_000;
/** A plugin may wait for a person or a slow identity provider, but not for ever. */
const TIME_LIMIT_MS = 60_000;

/**
 * Exec plugins and OIDC, run by the client library. It caches until a credential's own expiry, but would start one
 * plugin for each of many requests at once, and cannot be told that a credential was refused: so calls share one
 * run, and `renew` begins with a library that has nothing cached. What has no expiry is good until a 401, as in client-go.
 */
export class AuthPlugin {
  readonly #user: User;
  readonly #clock: Clock;
  /** Absent where the next ask has to begin with nothing cached. */
  #library: KubeConfig | undefined;
  #credential: PluginCredential = {};
  #askAgainAt = Number.NEGATIVE_INFINITY;
  /** Not by the last ask: each request asks before its 401, and what the library had cached is no younger for that. */
  #renewAgainAt = Number.NEGATIVE_INFINITY;
  #running: Promise<PluginCredential> | undefined;

  constructor(user: User, clock: Clock) {
    this.#user = user;
    this.#clock = clock;
  }

  async current(): Promise<PluginCredential> {
    if (this.#clock.now() < this.#askAgainAt) return this.#credential;
    this.#running ??= this.#ask().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** After a 401: a credential that was not cached, unless that was done within the last few seconds. */
  async renew(): Promise<PluginCredential> {
    if (this.#clock.now() >= this.#renewAgainAt && this.#running === undefined) {
      this.#library = undefined;
      this.#askAgainAt = Number.NEGATIVE_INFINITY;
    }
    return this.current();
  }

  async #ask(): Promise<PluginCredential> {
    const options: RequestOptions = { headers: {} };
    const beganWithNothing = this.#library === undefined;
    this.#library ??= libraryFor(this.#user);
    try {
      await withTimeLimit(this.#library.applyToHTTPSOptions(options), this.#clock);
    } catch (error) {
      // It caches even what it then cannot read.
      this.#library = undefined;
      throw new NetworkError(failureOf(this.#user, error), { code: 'CREDENTIALS', cause: error });
    }
    this.#credential = credentialOf(options);
    const now = this.#clock.now();
    this.#askAgainAt = now + ASK_AGAIN_MS;
    if (beganWithNothing) this.#renewAgainAt = now + RENEW_AGAIN_MS;
    return this.#credential;
  }
}

/** The library only with the user: certificates and addresses are ours, and it would refuse an `http://` server. */
function libraryFor(user: User): KubeConfig {
  const library = new KubeConfig();
  library.loadFromClusterAndUser(
    { name: 'unused', server: 'https://unused.invalid', skipTLSVerify: false },
    user,
  );
  return library;
}

function credentialOf(options: RequestOptions): PluginCredential {
  const { Authorization: authorization } = (options.headers ?? {}) as { readonly Authorization?: unknown };
  const { cert, key } = options;
  return {
    ...(typeof authorization === 'string' && { authorization }),
    ...(typeof cert === 'string' && typeof key === 'string' && { clientCertificate: { cert, key } }),
  };
}

/** The library cannot stop a plugin: one that is given up may run on, and what it says is not heard. */
function withTimeLimit(work: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(TIME_LIMIT_MS, () => {
      reject(new Error(`it gave no answer within ${TIME_LIMIT_MS / 1000} s`));
    });
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/**
 * Of what a plugin wrote to stderr, the first line: it tells what to do (`run aws sso login`). What it printed is
 * never quoted, though the library's parser does so: it should have been a credential.
 */
function failureOf(user: User, error: unknown): string {
  const command: unknown = user.exec?.command ?? user.authProvider?.name;
  return `the credential plugin ${String(command)} of user ${user.name} failed: ${reasonOf(error)}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it gave no reason';
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'it is not installed, or not on the PATH';
  if (error instanceof SyntaxError || error instanceof TypeError) return 'it did not print an ExecCredential';
  const line = error.message.split('\n').find((candidate) => candidate.trim() !== '');
  return line?.trim().slice(0, 200) ?? 'it gave no reason';
}
