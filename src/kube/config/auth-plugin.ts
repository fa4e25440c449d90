import { type SpawnOptions, spawn } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import { KubeConfig, type User } from '@kubernetes/client-node';
import type { Clock } from '../../clock/clock.ts';
import { NetworkError } from '../errors.ts';

/** What a plugin returned: a header, a client certificate (PEM), or both. */
export interface PluginCredential {
  readonly authorization?: string;
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

/**
 * Time (ms) between two questions to the library, which caches a credential until it expires by the
 * wall clock. It does not cache failures.
 */
const ASK_AGAIN_MS = 5_000;
/** Shortest time (ms) between two plugin runs because of refused credentials. */
const RENEW_AGAIN_MS = 5_000;
/** Time limit (ms) for a plugin. It may wait for a person or a slow identity provider. */
const TIME_LIMIT_MS = 60_000;

/**
 * Exec plugins and OIDC, run by the client library. The library caches a credential until it
 * expires. It would start one plugin per request if many come at once, so they share one run here.
 * It does not learn that a credential was refused, so `renew` starts with a library whose cache is
 * empty. As in client-go, a credential without an expiry is used until a 401.
 */
export class AuthPlugin {
  readonly #user: User;
  readonly #clock: Clock;
  /** Undefined: the next question starts with an empty cache. */
  #library: KubeConfig | undefined;
  #credential: PluginCredential = {};
  /** How the last question ended, if it failed. */
  #failure: NetworkError | undefined;
  #askAgainAt = Number.NEGATIVE_INFINITY;
  /** Counts from the last start with an empty cache, not from the last question to a full one. */
  #renewAgainAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(user: User, clock: Clock) {
    this.#user = user;
    this.#clock = clock;
  }

  async current(): Promise<PluginCredential> {
    if (this.#clock.now() >= this.#askAgainAt) {
      this.#running ??= this.#ask().finally(() => {
        this.#running = undefined;
      });
      await this.#running;
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.#credential;
  }

  /** After a 401: a credential that was not cached, except within seconds of the last such one. */
  async renew(): Promise<PluginCredential> {
    if (this.#clock.now() >= this.#renewAgainAt && this.#running === undefined) {
      this.#library = undefined;
      this.#askAgainAt = Number.NEGATIVE_INFINITY;
    }
    return this.current();
  }

  async #ask(): Promise<void> {
    const options: RequestOptions = { headers: {} };
    const startedEmpty = this.#library === undefined;
    this.#library ??= libraryFor(this.#user);
    try {
      await withTimeLimit(this.#library.applyToHTTPSOptions(options), this.#clock);
      const credential = credentialOf(options);
      // The library says nothing of an unknown provider, an expired OIDC token, or half a
      // certificate. Without a credential we would be anonymous.
      if (Object.keys(credential).length === 0)
        throw new Error('it returned no credential: log in again, or check the user in the kubeconfig');
      this.#credential = credential;
      this.#failure = undefined;
    } catch (error) {
      // It caches even what it cannot read afterwards.
      this.#library = undefined;
      this.#failure = new NetworkError(failureOf(this.#user, error), { code: 'CREDENTIALS', cause: error });
    }
    const now = this.#clock.now();
    this.#askAgainAt = now + ASK_AGAIN_MS;
    if (startedEmpty) this.#renewAgainAt = now + RENEW_AGAIN_MS;
  }
}

/**
 * The library gets only the user; for an `http://` server it would refuse to work. It would also
 * leave stdin open, so that a plugin that asks a question would wait for the answer. As we say in
 * KUBERNETES_EXEC_INFO, nobody can answer.
 */
function libraryFor(user: User): KubeConfig {
  const library = new KubeConfig();
  const authenticators: readonly { execFn?: typeof spawn }[] = library['authenticators'];
  for (const authenticator of authenticators) {
    if (authenticator.execFn !== undefined) authenticator.execFn = spawnWithoutInput;
  }
  library.loadFromClusterAndUser(
    { name: 'unused', server: 'https://unused.invalid', skipTLSVerify: false },
    user,
  );
  return library;
}

const spawnWithoutInput = ((command: string, args: readonly string[], options: SpawnOptions) =>
  spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })) as typeof spawn;

function credentialOf(options: RequestOptions): PluginCredential {
  const { Authorization: authorization } = (options.headers ?? {}) as { readonly Authorization?: unknown };
  const { cert, key } = options;
  return {
    ...(typeof authorization === 'string' && { authorization }),
    ...(typeof cert === 'string' && typeof key === 'string' && { clientCertificate: { cert, key } }),
  };
}

/** After the time limit the plugin may run on, for the library cannot stop it. */
function withTimeLimit(work: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(TIME_LIMIT_MS, () => {
      reject(new Error(`it did not answer within ${TIME_LIMIT_MS / 1000} s`));
    });
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/**
 * Quotes the first line that the plugin wrote to stderr: it often says what to do (`run aws sso
 * login`). Its stdout is never quoted, though the library's parser does so: it may be a credential.
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
