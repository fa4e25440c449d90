import { describe, expect, test } from 'vitest';
import { flagValues } from '../../src/cli/flags/flag-values.ts';
import { RUN_FLAGS } from '../../src/cli/flags/run-flags.ts';
import { openElection } from '../../src/cli/session/leader-election.ts';
import type { Cluster } from '../../src/kube/config/cluster.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { type AuditedCall, AuditLog } from '../support/control-plane-audit.ts';
import { lacks, sharedCluster } from '../support/control-plane-suite.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { fastClock } from './fast-clock.ts';
import { grant, grantEverywhere, type PolicyRules, serviceAccount } from './rights.ts';
import { shippedRules } from './shipped-rights.ts';
import { World } from './world.ts';

const CONFIG_MAPS = {
  apiGroups: [''],
  resources: ['configmaps'],
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
};
const OWN_NAMESPACE = { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] };

describe.skipIf(lacks.controllerManager())('under rights of its own, on a real control plane', () => {
  test.concurrent('[P2] with --namespaces, the Roles of overlays/namespaced are enough', async () => {
    await using world = await World.open(controlPlaneServer, ['team-a', 'team-b']);
    const account = { namespace: world.full('home'), name: 'mirror' };
    const cluster = await serviceAccount(world.person, world.place.cluster, account.namespace, account.name);
    const rules = shippedRules('Role', 'components/namespaced/roles.yaml');
    for (const name of ['home', 'team-a', 'team-b']) {
      await grant(world.person, world.full(name), account, rules);
    }
    const namespaces = ['home', 'team-a', 'team-b'].map((name) => world.full(name)).join();
    const controller = world.start({ namespaces }, { cluster, clock: fastClock(20) });
    await world.createSource({ asks: { 'target-namespaces': world.full('*') } });
    for (const name of ['home', 'team-a', 'team-b']) {
      await world.companion(`${name}/colors-synced`, 'home/colors');
    }
    await world.person.patchNamespace(world.full('team-b'), {
      metadata: { annotations: world.ours({ 'accept-mirrors-from': 'nobody' }) },
    });
    await world.gone('team-b/colors-synced');
    await world.person.delete(world.full('home/colors'));
    await world.gone('team-a/colors-synced');
    expect(controller.log.told.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.concurrent('[P2] a Namespace that may not be read refuses, and its companions stay', async () => {
    await using world = await World.open(controlPlaneServer, ['team-a', 'team-b']);
    const account = { namespace: world.full('home'), name: 'mirror' };
    const cluster = await serviceAccount(world.person, world.place.cluster, account.namespace, account.name);
    await grant(world.person, world.full('home'), account, [CONFIG_MAPS, OWN_NAMESPACE]);
    await grant(world.person, world.full('team-a'), account, [CONFIG_MAPS]);
    await grant(world.person, world.full('team-b'), account, [CONFIG_MAPS, OWN_NAMESPACE]);
    const first = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    const before = await world.companion('team-a/colors-synced', 'home/colors');
    await first.stop();
    const namespaces = ['home', 'team-a', 'team-b'].map((name) => world.full(name)).join();
    const controller = world.start({ namespaces }, { cluster });
    await world.ask('home/colors', { 'target-namespaces': world.full('team-*') });
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    await world.companion('team-b/colors-synced', 'home/colors');
    await world.settle(controller);
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);
  });

  test.concurrent('[W3] [R9] a namespace that may not be listed at the start holds back nothing else', async () => {
    await using world = await World.open(controlPlaneServer, ['team-a', 'team-b']);
    const account = { namespace: world.full('home'), name: 'mirror' };
    const cluster = await serviceAccount(world.person, world.place.cluster, account.namespace, account.name);
    const rules = [CONFIG_MAPS, OWN_NAMESPACE];
    for (const name of ['home', 'team-a']) await grant(world.person, world.full(name), account, rules);
    const first = world.start();
    await world.createSource({
      name: 'theirs',
      in: 'team-b',
      asks: { 'target-namespaces': world.full('team-a') },
    });
    const before = await world.companion('team-a/theirs-synced', 'team-b/theirs');
    await first.stop();
    const namespaces = ['home', 'team-a', 'team-b'].map((name) => world.full(name)).join();
    const controller = world.start({ namespaces }, { cluster, clock: fastClock(20) });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.settle(controller);
    expect(await world.configMap('team-a/theirs-synced')).toEqual(before);
    expect(controller.log.told).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'list failed, retrying',
        scope: world.full('team-b'),
        reason: '403 Forbidden',
      }),
    );
    await grant(world.person, world.full('team-b'), account, rules);
    await world.companion('team-b/colors-synced', 'home/colors');
    await world.person.patch(world.full('team-b/theirs'), { data: { sky: 'grey' } });
    await world.companion('team-a/theirs-synced', 'team-b/theirs');
  });

  test.concurrent('[P4] [R9] where a Role is missing nothing is written, and other namespaces are not affected', async () => {
    await using world = await World.open(controlPlaneServer, ['team-a', 'team-b']);
    const account = { namespace: world.full('home'), name: 'mirror' };
    const cluster = await serviceAccount(world.person, world.place.cluster, account.namespace, account.name);
    const read = { ...CONFIG_MAPS, verbs: ['get', 'list', 'watch'] };
    const namespaces = { ...OWN_NAMESPACE, verbs: ['get', 'list', 'watch'] };
    await grantEverywhere(world.person, world.full('reader'), account, [read, namespaces]);
    await grant(world.person, world.full('home'), account, [CONFIG_MAPS]);
    await grant(world.person, world.full('team-b'), account, [CONFIG_MAPS]);
    const controller = world.start({}, { cluster, clock: fastClock(20) });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-b/colors-synced', 'home/colors');
    expect(await world.configMap('team-a/colors-synced')).toBeUndefined();
    expect(controller.log.told).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'companion cannot be written',
        companion: world.full('team-a/colors-synced'),
      }),
    );
    await grant(world.person, world.full('team-a'), account, [CONFIG_MAPS]);
    await world.companion('team-a/colors-synced', 'home/colors');
  });
});

describe.skipIf(lacks.sharedControlPlane())('under the shipped rights, on a real control plane', () => {
  test('[P4] manifests/base/rbac.yaml has exactly the verbs that the controller calls', async () => {
    await using world = await World.open(controlPlaneServer, ['team-a', 'team-b']);
    const account = { namespace: world.full('home'), name: 'mirror' };
    const cluster = await serviceAccount(world.person, world.place.cluster, account.namespace, account.name);
    const everywhere = shippedRules('ClusterRole');
    const atHome = shippedRules('Role');
    await grantEverywhere(world.person, world.full('shipped'), account, everywhere);
    await grant(world.person, account.namespace, account, atHome);
    const audit = await AuditLog.open(sharedCluster().controlPlane?.auditLogPath ?? '');
    const isOurs = ({ user }: AuditedCall) => user.username?.endsWith(`${account.namespace}:mirror`);
    const ourCalls = async () => (await audit.calls()).filter(isOurs);

    const controller = world.start({}, { cluster });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    // The first two make an Event and a series, the third another text.
    const byHand = [
      { data: { sky: 'red' } },
      { data: { sky: 'red' } },
      { metadata: { annotations: world.ours({ 'source-uid': 'x' }) } },
    ];
    for (const [number, edit] of byHand.entries()) {
      await world.person.patch(world.full('team-a/colors-synced'), edit);
      await world.companion('team-a/colors-synced', 'home/colors');
      await waitFor(async () => (await heals(world)) === number + 1, {
        describe: () => world.whatWasLogged(),
      });
    }
    await world.ask('home/colors', { 'target-namespaces': world.full('team-b') });
    await world.gone('team-a/colors-synced');
    await world.person.delete(world.full('home/colors'));
    await world.gone('team-b/colors-synced');
    await world.settle(controller, { namespaces: true });
    await controller.stop();
    const ofLeases = granted(atHome).filter((right) => right.endsWith('leases'));
    await campaign(cluster, account.namespace, async () => {
      const called = (await ourCalls()).map(rightOf);
      return ofLeases.every((right) => called.includes(right));
    });

    // A server that does not stream lists is listed in pages.
    await using proxy = await startFaultProxy({ upstream: world.place.access });
    proxy.inject({ match: { path: /sendInitialEvents/ }, fault: { kind: 'status', code: 422 } });
    const tls = { ca: { kind: 'inline', text: proxy.ca ?? '' } } as const;
    const paging = world.start({}, { cluster: { ...cluster, server: proxy.url, tls } });
    await world.settle(paging, { namespaces: true });
    await paging.stop();

    // With --namespaces each Namespace is read by itself.
    const polling = world.start({ namespaces: `${world.full('home')},${world.full('team-a')}` }, { cluster });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await polling.stop();

    const calls = await ourCalls();
    const refused = calls.filter(({ responseStatus }) => responseStatus?.code === 403);
    expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
    const called = new Set(calls.map(rightOf));
    expect([...called].sort()).toEqual(granted([...everywhere, ...atHome]).sort());
  });
});

/** Is a candidate for the Lease of the shipped Role until `isDone`. */
async function campaign(cluster: Cluster, namespace: string, isDone: () => Promise<boolean>): Promise<void> {
  const set = { 'leader-elect': true, 'leader-elect-lease-namespace': namespace };
  const log = new RecordedLog();
  await using election = openElection(cluster, flagValues(RUN_FLAGS, set, {}), log, fastClock(20));
  const stop = new AbortController();
  const ended = election?.run(stop.signal, () => undefined);
  await waitFor(isDone, { describe: () => JSON.stringify(log.told) });
  stop.abort();
  await ended;
}

/** How often Events say that a companion was healed. */
async function heals(world: World): Promise<number> {
  const path = `/apis/events.k8s.io/v1/namespaces/${world.full('home')}/events`;
  const list = await world.person.get<{ readonly items: readonly EventView[] }>(path);
  const event = list?.items.find(({ reason }) => reason === 'Healed');
  return event === undefined ? 0 : (event.series?.count ?? 1);
}

interface EventView {
  readonly reason: string;
  readonly series?: { readonly count: number };
}

const granted = (rules: PolicyRules): string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    verbs.map((verb) => right(verb, apiGroups[0], resources[0])),
  );

const rightOf = ({ verb, objectRef }: AuditedCall): string =>
  right(verb, objectRef?.apiGroup, objectRef?.resource);

function right(verb: string, group = '', resource = ''): string {
  return `${verb} ${group === '' ? '' : `${group}/`}${resource}`;
}
