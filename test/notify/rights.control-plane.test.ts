import { describe, expect, onTestFinished, test } from 'vitest';
import { flagValues } from '../../src/cli/flags/flag-values.ts';
import { CONTROLLER_FLAGS } from '../../src/cli/flags/run-flags.ts';
import { openController } from '../../src/cli/session/controller-session.ts';
import { systemClock } from '../../src/clock/clock.ts';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import { grant, serviceAccount } from '../controller/rights.ts';
import { shippedRules } from '../controller/shipped-rights.ts';
import { World } from '../controller/world.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { folderWith, startReceiver } from './receiver.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane', () => {
  test('[N4] [P2] the Role of overlays/notifications is enough for the state, beside Roles elsewhere', async () => {
    await using world = await World.open(controlPlaneServer, ['team-a']);
    const account = { namespace: world.full('home'), name: 'mirror' };
    const cluster = await serviceAccount(world.person, world.place.cluster, account.namespace, account.name);
    const roles = shippedRules('Role', 'components/namespaced/roles.yaml');
    await grant(world.person, world.full('team-a'), account, roles);
    const state = shippedRules('Role', 'components/notifications/role.yaml');
    await grant(world.person, world.full('home'), account, state);

    const receiver = await startReceiver();
    const folder = folderWith({ ca: receiver.ca });
    const config = `sinks: [{name: ops, type: webhook, url: "${receiver.url}", caFile: ca, default: true}]`;
    const sinks = parseNotifyConfig(config, folder);
    const log = new RecordedLog();
    const flags = { namespaces: world.full('team-a'), domain: world.domain };
    const session = openController(cluster, flagValues(CONTROLLER_FLAGS, flags, {}), log, systemClock, {
      notify: {
        sinks: sinks.ok ? sinks.value : [],
        prefix: objectKey(world.full('home'), 'mirror-controller-notify'),
        clusterName: 'a-cluster',
      },
    });
    const stop = new AbortController();
    const running = session.follower.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
      await session[Symbol.asyncDispose]();
    });
    const said = () => JSON.stringify(log.lines);
    await waitFor(() => said().includes('"notifying"'), { describe: said });
    await world.createSource({ in: 'team-a' });
    await waitFor(() => receiver.requests.length >= 2, { describe: said });
    await world.person.patch(world.full('team-a/colors'), { data: { sky: 'red' } });
    await waitFor(() => receiver.requests.length >= 4, { describe: said });
    const types = receiver.requests.map(({ body }) => JSON.parse(body).type.split('.').slice(3, 5).join('.'));
    expect(types).toEqual([
      'source.created',
      'companions.converged',
      'source.changed',
      'companions.converged',
    ]);
    const stored = await world.person.configMaps(
      world.full('home'),
      'app.kubernetes.io/component=notifications',
    );
    expect(stored.length).toBeGreaterThan(0);
    expect(log.told.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });
});
