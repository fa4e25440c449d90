import process from 'node:process';
import type { User } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { AuthPlugin } from '../../../src/kube/config/auth-plugin.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { plugin } from '../exec-plugin.ts';
import { failureOf } from '../open-transport.ts';

test('a plugin runs once for many requests, and not again while its credential is good', async () => {
  const { user, runs } = plugin('give({ token: "token-" + run });');
  const clock = new ManualClock();
  const auth = new AuthPlugin(user, clock);
  const given = await Promise.all([auth.current(), auth.current(), auth.current()]);
  expect(given.map(({ authorization }) => authorization)).toEqual(Array(3).fill('Bearer token-1'));
  await clock.advance(3_600_000);
  expect(await auth.current()).toEqual({ authorization: 'Bearer token-1' });
  expect(runs()).toBe(1);
});

test('a plugin runs again after its credential was refused, but at most every 5 s', async () => {
  const { user, runs } = plugin('give({ token: "token-" + run });');
  const clock = new ManualClock();
  const auth = new AuthPlugin(user, clock);
  await auth.current();
  expect(await auth.renew()).toEqual({ authorization: 'Bearer token-1' });
  await clock.advance(5_000);
  expect(await auth.renew()).toEqual({ authorization: 'Bearer token-2' });
  expect(runs()).toBe(2);
});

// The refused request itself asked the library just before, which answered from its cache.
test('a plugin runs again after a cached credential was refused', async () => {
  const { user, runs } = plugin('give({ token: "token-" + run });');
  const clock = new ManualClock();
  const auth = new AuthPlugin(user, clock);
  await auth.current();
  for (const run of [2, 3]) {
    await clock.advance(5_000);
    expect(await auth.current()).toEqual({ authorization: `Bearer token-${run - 1}` });
    await clock.advance(20);
    expect(await auth.renew()).toEqual({ authorization: `Bearer token-${run}` });
    expect(await auth.renew()).toEqual({ authorization: `Bearer token-${run}` });
    expect(await auth.current()).toEqual({ authorization: `Bearer token-${run}` });
    expect(runs()).toBe(run);
  }
});

test('a plugin that fails does not run for each request, but again after 5 s', async () => {
  const { user, runs } = plugin('if (run === 1) process.exit(1); give({ token: "token-" + run });');
  const clock = new ManualClock();
  const auth = new AuthPlugin(user, clock);
  for (const ask of [auth.current(), auth.current()]) {
    expect(await failureOf(ask)).toMatchObject({ code: 'CREDENTIALS' });
  }
  await clock.advance(4_999);
  for (const ask of [auth.current(), auth.renew()]) {
    expect(await failureOf(ask)).toMatchObject({ code: 'CREDENTIALS' });
  }
  expect(runs()).toBe(1);
  await clock.advance(1);
  expect(await auth.current()).toEqual({ authorization: 'Bearer token-2' });
});

test('a plugin that fails after its credential was refused runs again after 5 s', async () => {
  const { user, runs } = plugin('if (run === 2) process.exit(1); give({ token: "token-" + run });');
  const clock = new ManualClock();
  const auth = new AuthPlugin(user, clock);
  await auth.current();
  await clock.advance(5_000);
  await auth.current();
  for (const ask of [() => auth.renew(), () => auth.current(), () => auth.renew()]) {
    expect(await failureOf(ask())).toMatchObject({ code: 'CREDENTIALS' });
  }
  await clock.advance(5_000);
  expect(await auth.current()).toEqual({ authorization: 'Bearer token-3' });
  expect(await auth.renew()).toEqual({ authorization: 'Bearer token-3' });
  expect(runs()).toBe(3);
});

test('a plugin runs again when its credential has expired', async () => {
  const { user } = plugin(
    'give({ token: "token-" + run, expirationTimestamp: run === 1 ? "2020-01-01T00:00:00Z" : "2999-01-01T00:00:00Z" });',
  );
  const clock = new ManualClock();
  const auth = new AuthPlugin(user, clock);
  await auth.current();
  await clock.advance(5_000);
  expect(await auth.current()).toEqual({ authorization: 'Bearer token-2' });
  await clock.advance(5_000);
  expect(await auth.current()).toEqual({ authorization: 'Bearer token-2' });
});

test('a plugin that returns an expired credential does not run for each request', async () => {
  const { user, runs } = plugin('give({ token: "old", expirationTimestamp: "2020-01-01T00:00:00Z" });');
  const auth = new AuthPlugin(user, new ManualClock());
  for (let request = 0; request < 3; request++) await auth.current();
  expect(runs()).toBe(1);
});

test('a plugin may return a client certificate', async () => {
  const { user } = plugin('give({ clientCertificateData: "CERT", clientKeyData: "KEY" });');
  expect(await new AuthPlugin(user, new ManualClock()).current()).toEqual({
    clientCertificate: { cert: 'CERT', key: 'KEY' },
  });
});

test('[O5] a plugin that fails is named, with its first line on stderr, and runs again after 5 s', async () => {
  const { user } = plugin(
    'if (run === 1) { console.error("please run: cloud login\\nmore"); process.exit(1); } give({ token: "late" });',
  );
  const clock = new ManualClock();
  const auth = new AuthPlugin(user, clock);
  expect(await failureOf(auth.current())).toMatchObject({
    name: 'NetworkError',
    code: 'CREDENTIALS',
    message: `the credential plugin ${process.execPath} of user alice failed: please run: cloud login`,
  });
  await clock.advance(5_000);
  expect(await auth.current()).toEqual({ authorization: 'Bearer late' });
});

test('[O5] a plugin that is not installed or prints nonsense is reported as such', async () => {
  const missing: User = { name: 'alice', exec: { command: 'no-such-plugin' } };
  expect((await failureOf(new AuthPlugin(missing, new ManualClock()).current())).message).toBe(
    'the credential plugin no-such-plugin of user alice failed: it is not installed, or not on the PATH',
  );
  for (const nonsense of ['hello', '{}']) {
    const { user } = plugin(`if (run === 1) console.log('${nonsense}'); else give({ token: 'late' });`);
    const clock = new ManualClock();
    const auth = new AuthPlugin(user, clock);
    expect((await failureOf(auth.current())).message).toBe(
      `the credential plugin ${process.execPath} of user alice failed: it did not print an ExecCredential`,
    );
    await clock.advance(5_000);
    expect(await auth.current()).toEqual({ authorization: 'Bearer late' });
  }
});

// Its input ends with this process.
test('a plugin that hangs times out after a minute', async () => {
  const { user } = plugin('setTimeout(() => undefined, 10_000);');
  const clock = new ManualClock();
  const failure = failureOf(new AuthPlugin(user, clock).current());
  await clock.advance(60_000);
  expect((await failure).message).toContain('it did not answer within 60 s');
  expect(clock.pendingTimers).toBe(0);
});

test('[O5] a plugin that asks a question gets no answer and can say so', async () => {
  const script =
    'process.stdin.resume().on("end", () => { console.error("no terminal"); process.exit(1); });';
  const failure = await failureOf(new AuthPlugin(plugin(script).user, new ManualClock()).current());
  expect(failure.message).toMatch(/failed: no terminal$/);
});

test.each([
  ['nothing', 'console.log("null");'],
  ['a status without a token', 'give({});'],
  ['a certificate without its key', 'give({ clientCertificateData: "PEM" });'],
])('[O5] a plugin that prints %s is reported, and no request is anonymous', async (_, script) => {
  const auth = new AuthPlugin(plugin(script).user, new ManualClock());
  expect((await failureOf(auth.current())).message).toMatch(
    / of user alice failed: it returned no credential/,
  );
});

test.each([
  ['that is unknown', { name: 'unheard-of' }],
  ['with an expired token', { name: 'oidc', config: { 'id-token': 'e30.eyJleHAiOjF9.x' } }],
])('[O5] an auth provider %s is reported, and no request is anonymous', async (_, authProvider) => {
  const auth = new AuthPlugin({ name: 'alice', authProvider }, new ManualClock());
  expect((await failureOf(auth.current())).message).toBe(
    `the credential plugin ${authProvider.name} of user alice failed: it returned no credential: log in again, or check the user in the kubeconfig`,
  );
});
