import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ControlPlane } from '../support/control-plane.ts';
import { lacks, startOwnControlPlane } from '../support/control-plane-suite.ts';
import { controlPlaneServer, openPlace } from '../support/servers/control-plane-server.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { grantEverywhere, serviceAccount, serviceAccountToken } from './rights.ts';
import { Trouble } from './trouble.ts';
import { World } from './world.ts';

/**
 * What happens to the server itself, one thing after the other: they cannot share a server at the
 * same time.
 */
describe.skipIf(lacks.ownControlPlane())('a real control plane', () => {
  let controlPlane: ControlPlane;
  let server: TestServer;

  beforeAll(async () => {
    controlPlane = await startOwnControlPlane();
    server = { ...controlPlaneServer, open: () => openPlace(controlPlane) };
  });
  afterAll(() => controlPlane?.stop());

  const log = (trouble: Trouble, message: string) =>
    trouble.controller.log.told.filter((line) => line.message === message);

  test('[W3] is killed and comes back with the same etcd', async () => {
    await using trouble = await Trouble.open(server);
    await controlPlane.killApiServer();
    await waitFor(() => log(trouble, 'watch failed, retrying').length > 0, { deadlineMs: 20_000 });
    await controlPlane.restartApiServer();
    await trouble.happen();
    await trouble.comesTrue();
    await waitFor(() => log(trouble, 'resolved').length > 0, { deadlineMs: 20_000 });
    expect(trouble.controller.log.told.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('[W3] forgets its history while a watch is behind', async () => {
    await using trouble = await Trouble.open(server);
    await trouble.proxy.refuseConnections();
    await trouble.happen();
    await controlPlane.compactEtcd();
    // Its own cache would still know: a restarted server knows only what etcd does.
    await controlPlane.restartApiServer();
    await trouble.proxy.acceptConnections();
    await trouble.comesTrue();
    expect(trouble.controller.log.lines).toContainEqual(
      expect.objectContaining({ reason: expect.stringMatching(/^410/) }),
    );
  });

  test('[W3] holds its connections and answers nothing for a while', async () => {
    await using trouble = await Trouble.open(server, { speed: 50 });
    controlPlane.pauseApiServer();
    const stuck = () => trouble.controller.log.lines.filter(({ reason }) => reason === 'TIMEOUT');
    try {
      await waitFor(() => stuck().length > 0, { deadlineMs: 20_000 });
    } finally {
      controlPlane.resumeApiServer();
    }
    await trouble.happen();
    await trouble.comesTrue();
  });

  test('[W2] does not stream lists', async () => {
    await controlPlane.restartApiServer(['--feature-gates=WatchList=false']);
    await using trouble = await Trouble.open(server);
    await trouble.happen();
    await trouble.comesTrue();
    expect(log(trouble, 'the server does not stream lists; listing in pages from now on')).not.toEqual([]);
    await controlPlane.restartApiServer();
  });

  test('[W3] revokes the token, and gives another', async () => {
    await using world = await World.open(server);
    const account = { namespace: world.full('home'), name: 'mirror' };
    const { person } = world;
    const cluster = await serviceAccount(person, world.place.cluster, account.namespace, account.name);
    const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
    await grantEverywhere(person, world.full('mirror'), account, [
      { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs },
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'mirror-controller-token-'));
    const path = join(folder, 'token');
    const writeToken = async () =>
      writeFileSync(path, await serviceAccountToken(person, account.namespace, account.name));
    try {
      await writeToken();
      const user = { name: 'mirror', token: { kind: 'file', path } } as const;
      const controller = world.start({}, { cluster: { ...cluster, user } });
      await world.createSource();
      await world.companion('home/colors-synced', 'home/colors');
      // With the account go its tokens.
      const accounts = `/api/v1/namespaces/${account.namespace}/serviceaccounts`;
      await person.remove(`${accounts}/${account.name}`);
      await person.post(accounts, { metadata: { name: account.name } });
      // It remembers for 10 s whom it has let in; a new one remembers nobody.
      await controlPlane.restartApiServer();
      await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
      const refused = () => controller.log.told.filter(({ reason }) => String(reason).startsWith('401'));
      await waitFor(() => refused().length > 0, { deadlineMs: 20_000 });
      await writeToken();
      await world.companion('home/colors-synced', 'home/colors');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
