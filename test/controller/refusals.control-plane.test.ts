import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { isInvalid } from '../../src/kube/errors.ts';
import type { RecordedLog } from '../informer/recorded-log.ts';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { fastClock } from './fast-clock.ts';
import { World } from './world.ts';

const TEAMS = Array.from({ length: 50 }, (_, number) => `team-${number}`);

/** Only a real server has quota and admission. */
describe.skipIf(lacks.controllerManager())('one of 50 namespaces refuses, on a real control plane', () => {
  async function reachesAllBut(world: World, refusing: string): Promise<void> {
    for (const team of TEAMS.filter((name) => name !== refusing)) {
      await world.companion(`${team}/colors-synced`, 'home/colors');
    }
    expect(await world.configMap(`${refusing}/colors-synced`)).toBeUndefined();
  }

  test.concurrent('[R9] a ResourceQuota holds back only its own namespace, until there is room', async () => {
    await using world = await World.open(controlPlaneServer, TEAMS);
    const quotas = `/api/v1/namespaces/${world.full('team-7')}/resourcequotas`;
    // The quota controller does not run, so the quota says itself how much is used.
    const quota = await world.person.post<{ metadata: object }>(quotas, {
      metadata: { name: 'none' },
      spec: { hard: { 'count/configmaps': '0' } },
    });
    await world.person.put(`${quotas}/none/status`, {
      ...quota,
      status: { hard: { 'count/configmaps': '0' }, used: { 'count/configmaps': '0' } },
    });
    const controller = world.start({}, { clock: fastClock(20) });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await reachesAllBut(world, 'team-7');
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    await reachesAllBut(world, 'team-7');
    expect(controller.log.told.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({
        message: 'companion cannot be written',
        companion: world.full('team-7/colors-synced'),
        reason: expect.stringContaining('exceeded quota'),
      }),
    ]);
    await world.person.remove(`${quotas}/none`);
    await world.companion('team-7/colors-synced', 'home/colors');
  });

  test.concurrent('[R9] [R13] [C4] a ValidatingAdmissionPolicy holds back only its own namespace, until it is removed', async () => {
    await using world = await World.open(controlPlaneServer, TEAMS);
    const policies = '/apis/admissionregistration.k8s.io/v1';
    const name = world.full('deny');
    await world.person.post(`${policies}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
        },
        validations: [{ expression: 'false', message: 'no ConfigMaps here' }],
      },
    });
    await world.person.post(`${policies}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        matchResources: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': world.full('team-7') } },
        },
      },
    });
    // A policy takes a moment until it is in force.
    await waitFor(async () => {
      const probe = { name: 'probe', namespace: world.full('team-7') };
      const denied = await world.person.create({ metadata: probe }).then(() => false, isInvalid);
      if (!denied) await world.person.delete(`${probe.namespace}/${probe.name}`);
      return denied;
    });
    const controller = world.start({}, { clock: fastClock(20) });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await reachesAllBut(world, 'team-7');
    expect(controller.log.told.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({
        message: 'companion cannot be written',
        companion: world.full('team-7/colors-synced'),
        reason: expect.stringContaining('no ConfigMaps here'),
      }),
    ]);
    const { code, log } = await world.run('--once');
    expect([code, log]).toEqual([1, expect.stringContaining(`could be done: ${world.full('home/colors')}`)]);
    await world.person.remove(`${policies}/validatingadmissionpolicybindings/${name}`);
    await world.companion('team-7/colors-synced', 'home/colors');
  });

  test.concurrent('[R13] [W1] what a MutatingAdmissionPolicy reverts is reported once, and not repeated', async () => {
    await using world = await World.open(controlPlaneServer);
    const policies = '/apis/admissionregistration.k8s.io/v1';
    const name = world.full('relabel');
    await world.person.post(`${policies}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: {
          objectSelector: { matchExpressions: [{ key: `${world.domain}/managed`, operator: 'Exists' }] },
          resourceRules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['configmaps'],
            },
          ],
        },
        mutations: [
          {
            // For ApplyConfiguration, the other type, the server would read all of OpenAPI.
            patchType: 'JSONPatch',
            jsonPatch: {
              expression:
                '[JSONPatch{op: "add", path: "/metadata/labels/app.kubernetes.io~1managed-by", value: "platform"}]',
            },
          },
        ],
      },
    });
    await world.person.post(`${policies}/mutatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name },
    });
    const label = (object: ConfigMap | undefined) =>
      object?.metadata.labels?.['app.kubernetes.io/managed-by'];
    await waitFor(async () => {
      const metadata = {
        name: 'probe',
        namespace: world.full('home'),
        labels: world.ours({ managed: 'probe' }),
      };
      const probe = await world.person.create({ metadata });
      await world.person.delete(`${metadata.namespace}/probe`);
      return label(probe) === 'platform';
    });
    const warned = ({ log }: { readonly log: RecordedLog }) =>
      log.told.filter(({ level, source }) => level === 'warn' && source === world.full('home/colors'));
    const first = world.start();
    await world.createSource();
    await waitFor(async () => label(await world.configMap('home/colors-synced')) === 'platform');
    await waitFor(() => warned(first).length > 0);
    await first.stop();
    await world.person.patch(world.full('home/colors-synced'), {
      metadata: { annotations: { note: 'mine' } },
    });
    // A heal in a later second than the edit gets another version, although it changes nothing.
    const second = () => Math.floor(Date.now() / 1000);
    const edited = second();
    await waitFor(() => second() > edited);
    const controller = world.start({}, { clock: fastClock(20) });
    await waitFor(() => warned(controller).length > 0);
    await world.settle(controller);
    const warning = expect.objectContaining({
      message: 'companion cannot be written',
      companion: world.full('home/colors-synced'),
      reason: expect.stringContaining('changed nothing: a mutating admission policy'),
    });
    expect([warned(first), warned(controller)]).toEqual([[warning], [warning]]);
    expect(controller.log.told.filter(({ message }) => message === 'companion updated')).toEqual([]);
    await world.person.remove(`${policies}/mutatingadmissionpolicybindings/${name}`);
    await world.person.remove(`${policies}/mutatingadmissionpolicies/${name}`);
  });

  test.concurrent('[R13] a companion too large for etcd is reported once, and waits for a change', async () => {
    await using world = await World.open(controlPlaneServer, ['team-a']);
    const controller = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    // The source fits into etcd's 1.5 MiB. With what somebody put on the companion, that does not.
    const keys = Array.from({ length: 3000 }, (_, number) => [`${'k'.repeat(240)}/${number}`, '']);
    const labels = Object.fromEntries(keys);
    await world.person.patch(world.full('team-a/colors-synced'), { metadata: { labels } });
    await world.settle(controller);
    await world.person.patch(world.full('home/colors'), { data: { big: 'x'.repeat(1_000_000) } });
    const told = () => controller.log.told.filter(({ level }) => level === 'warn');
    await waitFor(() => told().length > 0);
    await world.settle(controller);
    expect(told()).toEqual([
      expect.objectContaining({
        message: 'companion cannot be written',
        companion: world.full('team-a/colors-synced'),
        reason: expect.stringContaining('request is too large'),
      }),
    ]);
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey', big: null } });
    await waitFor(async () => (await world.configMap('team-a/colors-synced'))?.data?.['sky'] === 'grey');
  });
});
