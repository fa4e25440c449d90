import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiClient, openApiClient } from './api-client.ts';
import { clusterAccess } from './cluster-access.ts';
import type { ControlPlane } from './control-plane.ts';
import { AuditLog } from './control-plane-audit.ts';
import { lacks, startOwnControlPlane } from './control-plane-suite.ts';
import { issueToken } from './control-plane-token.ts';
import { waitFor } from './wait-for.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const STREAM = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1';

describe.skipIf(lacks.ownControlPlane())('a control plane of a test’s own', () => {
  let controlPlane: ControlPlane;
  let client: ApiClient;
  beforeAll(async () => {
    controlPlane = await startOwnControlPlane();
    client = openApiClient(await clusterAccess(controlPlane.kubeconfigPath));
  });
  afterAll(async () => {
    await client?.close();
    await controlPlane?.stop();
  });
  const create = (name: string, token?: string) =>
    client.request('POST', CONFIG_MAPS, {
      body: { metadata: { name } },
      ...(token === undefined ? {} : { token }),
    });

  test('what was written before the apiserver died is there after its restart, at the same address', async () => {
    await create('survivor');
    await controlPlane.killApiServer();
    await expect(client.request('GET', CONFIG_MAPS)).rejects.toThrow();
    await controlPlane.restartApiServer();

    expect((await client.request('GET', `${CONFIG_MAPS}/survivor`)).code).toBe(200);
  });

  test('the audit log has every call that was answered, and watches as soon as they begin', async () => {
    const audit = await AuditLog.open(controlPlane.auditLogPath);
    await create('audited');
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true`);
    const calls = (await audit.calls()).filter(({ userAgent }) => userAgent === 'contract-test');

    const ofAdmin = {
      user: { username: 'admin' },
      objectRef: { resource: 'configmaps', namespace: 'default' },
    };
    expect(calls).toMatchObject([
      { verb: 'create', ...ofAdmin, responseStatus: { code: 201 } },
      { verb: 'watch', ...ofAdmin, responseStatus: { code: 200 } },
    ]);
    watch.close();
  });

  test('a token is good until it is revoked', async () => {
    const { token, revoke } = await issueToken(client, 'default', 'somebody');
    // Known, and allowed nothing: no role says otherwise.
    expect((await client.request('GET', CONFIG_MAPS, { token })).code).toBe(403);

    await revoke();
    await waitFor(async () => (await client.request('GET', CONFIG_MAPS, { token })).code === 401, {
      deadlineMs: 30_000,
    });
  });

  test('a client certificate is a user', async () => {
    const { cert, key } = await controlPlane.authority.client('ada', { organization: 'system:masters' });
    await using ada = openApiClient({
      url: controlPlane.url,
      tls: { ca: controlPlane.ca, cert, key },
      headers: {},
    });

    expect((await ada.request('GET', CONFIG_MAPS)).code).toBe(200);
  });

  test('it can start anew with other flags: without streaming lists', async () => {
    expect((await client.request('GET', `${CONFIG_MAPS}?${STREAM}`)).code).toBe(200);
    await controlPlane.restartApiServer(['--feature-gates=WatchList=false']);

    expect((await client.request('GET', `${CONFIG_MAPS}?${STREAM}`)).code).toBe(422);
  });

  test('paused, it answers nothing and keeps its connections; resumed, it goes on', async () => {
    await client.request('GET', '/readyz');
    controlPlane.pauseApiServer();
    // The signal takes a moment, in which a request may still be answered.
    const { answer } = await waitFor(() => unanswered(() => client.request('GET', CONFIG_MAPS)));
    controlPlane.resumeApiServer();

    expect((await answer).code).toBe(200);
  });
});

/**
 * The request when half a second brings no answer to it, some hundred times as long as it takes;
 * else undefined.
 */
async function unanswered<T>(
  request: () => Promise<T>,
): Promise<{ readonly answer: Promise<T> } | undefined> {
  const answer = request();
  const isAnswered = await Promise.race([
    answer.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(resolve, 500, false)),
  ]);
  return isAnswered ? undefined : { answer };
}
