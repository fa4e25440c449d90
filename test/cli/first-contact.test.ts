import { describe, expect, test } from 'vitest';
import { firstContact } from '../../src/cli/session/first-contact.ts';
import type { ListWatch } from '../../src/kube/api/list-watch.ts';
import type { ConfigMap, Namespace } from '../../src/kube/api/types.ts';
import { ApiError, NetworkError } from '../../src/kube/errors.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { ManualClock } from '../support/manual-clock.ts';

const status = (code: number, retryAfterMs?: number) =>
  new ApiError('no', { status: code, ...(retryAfterMs !== undefined && { retryAfterMs }) });
const network = (code: string) => new NetworkError(`server:1 failed (${code})`, { code });

const NOT_READY = 'the API server is not ready; retrying';

/** Lists that fail with each of `failures` in turn, and then succeed. */
function failingList(failures: readonly Error[]): ListWatch<ConfigMap> {
  const rest = [...failures];
  return {
    list: async () => {
      const failure = rest.shift();
      if (failure !== undefined) throw failure;
      return { items: [], resourceVersion: '1', bytes: 0 };
    },
    watch: () => {
      throw new Error('not opened');
    },
  };
}

interface ContactOptions {
  readonly retry?: boolean;
  /** The failures of each further scope. */
  readonly others?: readonly (readonly Error[])[];
}

function contact(failures: readonly Error[], { retry = true, others = [] }: ContactOptions = {}) {
  const clock = new ManualClock();
  const log = new RecordedLog();
  const stop = new AbortController();
  const outcome = { ended: false, error: '' };
  const ended = firstContact({
    cluster: { server: 'https://server:1', context: 'here' },
    configMaps: new Map([failures, ...others].map((list, scope) => [`team-${scope}`, failingList(list)])),
    namespaces: undefined,
    ifForbidden: 'Ask for the right.',
    retry,
    clock,
    random: () => 0,
    log,
    signal: stop.signal,
  }).then(
    () => {
      outcome.ended = true;
    },
    (error: Error) => {
      outcome.error = `${error.name}: ${error.message}`;
    },
  );
  return { clock, log, stop, outcome, ended };
}

describe('[W3] a reachable server that is not ready', () => {
  test.each([
    ['429', status(429)],
    ['500', status(500)],
    ['503', status(503)],
    ['a load balancer without a server', status(502)],
    ['no answer in time', network('TIMEOUT')],
    ['a reset', network('ECONNRESET')],
    ['a closed connection', network('UND_ERR_SOCKET')],
  ])('%s is retried with backoff, and the log says so', async (_what, failure) => {
    const { clock, log, outcome } = contact([failure, failure, failure]);
    await clock.advance(3_499);
    expect(outcome).toEqual({ ended: false, error: '' });
    await clock.advance(1);
    expect(outcome.ended).toBe(true);
    const lines = log.lines.map(({ level, message, retryInMs }) => [level, message, retryInMs]);
    expect(lines).toEqual([
      ['warn', NOT_READY, 500],
      ['warn', NOT_READY, 1_000],
      ['warn', NOT_READY, 2_000],
      ['info', 'resolved', undefined],
    ]);
    expect(log.lines[0]?.['error']).toContain(failure.message);
    expect(log.lines[3]).toMatchObject({ was: NOT_READY });
  });

  test('Retry-After is obeyed', async () => {
    const { clock, outcome } = contact([status(429, 7_000)]);
    await clock.advance(6_999);
    expect(outcome.ended).toBe(false);
    await clock.advance(1);
    expect(outcome.ended).toBe(true);
  });

  test('once it was reached, a refused connection is a restart, and retried', async () => {
    const { clock, outcome } = contact([status(503), network('ECONNREFUSED')]);
    await clock.advance(1_500);
    expect(outcome.ended).toBe(true);
  });

  test('a stop ends the wait at once', async () => {
    const { clock, stop, outcome, ended } = contact([status(503)]);
    await clock.advance(0);
    stop.abort();
    await ended;
    expect(outcome).toEqual({ ended: true, error: '' });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('[W3] what retrying cannot fix', () => {
  test.each([
    ['a refused connection', network('ECONNREFUSED'), 'Check that the cluster is up'],
    ['a host that does not exist', network('ENOTFOUND'), 'Check that the cluster is up'],
    ['a TLS failure', network('CERT_HAS_EXPIRED'), 'cannot reach the API server'],
    ['a server that does not speak HTTP', network('HPE_INVALID'), 'cannot reach the API server'],
    ['a server that is not an API server', network('MALFORMED'), 'cannot reach the API server'],
    ['a missing path', status(404), 'a healthy API server'],
    ['401', status(401), 'renew it'],
    ['403', status(403), 'Ask for the right.'],
    ['a credential plugin that fails', network('CREDENTIALS'), 'server:1 failed'],
  ])('%s ends the program at once', async (_what, failure, words) => {
    const { clock, outcome, log } = contact([failure, failure]);
    await clock.advance(0);
    expect(outcome.error).toMatch(/^RunError: /);
    expect(outcome.error).toContain(words);
    expect(outcome.error).not.toContain('?; ');
    expect(log.lines).toEqual([]);
  });

  test('after a retry too', async () => {
    const { clock, outcome } = contact([status(503), status(401)]);
    await clock.advance(500);
    expect(outcome.error).toContain('(401)');
  });

  test('[C4] without retries (--once) a failing server ends it as well', async () => {
    const { clock, outcome } = contact([status(503)], { retry: false });
    await clock.advance(0);
    expect(outcome.error).toContain('answered 503');
  });
});

describe('[W3] of several namespaces', () => {
  test('one that refuses does not end the program', async () => {
    const { clock, outcome } = contact([status(403)], { others: [[], [status(403)]] });
    await clock.advance(0);
    expect(outcome).toEqual({ ended: true, error: '' });
  });

  test('all that refuse end it', async () => {
    const { clock, outcome } = contact([status(403)], { others: [[status(403)]] });
    await clock.advance(0);
    expect(outcome.error).toContain('Ask for the right.');
  });

  test('[C4] with --once, one that refuses ends it', async () => {
    const { clock, outcome } = contact([], { others: [[status(403)]], retry: false });
    await clock.advance(0);
    expect(outcome.error).toContain('Ask for the right.');
  });
});

test('[O5] a namespace of --namespaces that does not exist is reported once, after the retries', async () => {
  const clock = new ManualClock();
  const log = new RecordedLog();
  const failures = [status(503)];
  const namespaceList = (items: readonly Namespace[]): ListWatch<Namespace> => ({
    list: async () => {
      const failure = items.length > 0 && failures.shift();
      if (failure) throw failure;
      return { items, resourceVersion: '1', bytes: 0 };
    },
    watch: () => {
      throw new Error('not opened');
    },
  });
  const metadata = { name: 'there', uid: '1', resourceVersion: '1' };
  const ended = firstContact({
    cluster: { server: 'https://server:1' },
    configMaps: new Map([['gone', failingList([])]]),
    namespaces: new Map([
      ['gone', namespaceList([])],
      ['there', namespaceList([{ metadata }])],
    ]),
    ifForbidden: '',
    retry: true,
    clock,
    random: () => 0,
    log,
    signal: new AbortController().signal,
  });
  await clock.advance(500);
  await ended;
  const message = 'the namespace does not exist; check --namespaces';
  expect(log.lines.filter(({ namespace }) => namespace)).toEqual([
    { level: 'warn', message, namespace: 'gone' },
  ]);
});
