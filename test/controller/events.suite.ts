import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasKubectl, useKubectl } from '../support/kubectl.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { World } from './world.ts';

/** What a person learns from kubectl about sources. */
export function eventsSuite(server: TestServer): void {
  describe.skipIf(!hasKubectl())('Events', () => {
    let world: World;
    const kubectl = useKubectl(
      () => world.place.kubeconfigPath,
      () => world.full('home'),
    );
    beforeAll(async () => {
      world = await World.open(server, ['team-a', 'team-b', 'closed', 'idle']);
      world.start({ 'deny-target-namespaces': world.full('closed') });
    });
    afterAll(() => world[Symbol.asyncDispose]());

    /** Waits for a line about Events, with any age, in the output of a command. */
    const shows = (command: string, pattern: RegExp) => {
      let stdout = '';
      return waitFor(
        async () => {
          ({ stdout } = await kubectl.run(command.split(' ')));
          return pattern.test(stdout);
        },
        { deadlineMs: 20_000, describe: () => `${pattern} in ${stdout}; ${world.whatWasLogged()}` },
      );
    };
    const from = ' +workshop.io/mirror-controller.* +';

    test('[O3] kubectl describe tells the story of a source', async () => {
      await world.createSource();
      await shows('describe configmap colors', /Normal +Mirrored .* 1 companion in sync/);
      const companion = `companion ${world.full('home/colors-synced')}`;
      await kubectl.run(['edit', 'configmap', 'colors-synced'], { editor: `sed -i s/blue/green/` });
      await shows(
        'describe configmap colors',
        new RegExp(
          `Normal +Healed .*${from}${companion} healed after an edit by kubectl-edit: differs in content`,
        ),
      );
      await kubectl.run(['delete', 'configmap', 'colors-synced']);
      await shows(
        'describe configmap colors',
        new RegExp(`Normal +Healed .*\\(x2 over .*${companion} recreated after it was deleted`),
      );
      await shows('get events', /Normal +Healed +configmap\/colors +companion/);
      await shows('get events.events.k8s.io', /Normal +Mirrored +configmap\/colors +1 companion in sync/);
      await shows('events --for configmap/colors', /Mirrored/);
    });

    test('[O3] kubectl describe shows why a companion is missing', async () => {
      await world.person.create({
        metadata: { name: 'many-synced', namespace: world.full('team-a') },
        data: { mine: 'yes' },
      });
      const targets = ['team-a', 'team-b', 'closed', 'later'].map((name) => world.full(name)).join();
      await world.createSource({ name: 'many', asks: { 'target-namespaces': targets, 'include-key': 'x' } });
      const describeIt = 'describe configmap many';
      await shows(describeIt, /Warning +Conflict .*team-a\/many-synced: a ConfigMap with this name exists/);
      await shows(describeIt, /Warning +Refused .*closed\/many-synced: /);
      await shows(describeIt, /Warning +TargetMissing .*later does not exist/);
      await shows(describeIt, /Warning +InvalidAnnotation .*did you mean/);
      await shows(
        describeIt,
        /Mirrored .* 1 companion in sync, 1 in conflict, 1 refused, 1 without a namespace/,
      );
      await world.createNamespace('later');
      await shows(describeIt, /Mirrored .*\(x2 .* 2 companions in sync, 1 in conflict, 1 refused/);
    });

    test('[V4] kubectl describe shows which placeholder has no value, and where', async () => {
      const asks = { 'render-keys': '*', 'values-from': 'options' };
      await world.createSource({ name: 'rendered', data: { k: '$(mirror.value.title)' }, asks });
      const there = `nothing is written in ${world.full('home')}: k: \\$\\(mirror.value.title\\): there is no ConfigMap`;
      await shows('describe configmap rendered', new RegExp(`Warning +Unresolved .*${there}`));
      const metadata = { namespace: world.full('home'), name: 'options' };
      const labels = world.ours({ managed: 'values' });
      await world.person.create({ metadata: { ...metadata, labels }, data: { title: 'x' } });
      await shows('describe configmap rendered', /Normal +Mirrored .* 1 companion in sync/);
    });

    test('[O3] [P3] a malformed consent is reported on the Namespace, in default', async () => {
      await world.createSource({ name: 'wide', asks: { 'target-namespaces': world.full('team-*') } });
      await world.person.patchNamespace(world.full('idle'), {
        metadata: { annotations: world.ours({ 'accept-mirrors-from': '.*' }) },
      });
      await shows(
        `get events --namespace default --field-selector involvedObject.name=${world.full('idle')}`,
        /Warning +InvalidAnnotation +namespace\/.*idle +accept-mirrors-from is malformed/,
      );
    });
  });

  describe('Events of other runs', () => {
    test.concurrent('[O3] [C4] run --once makes Events, a dry run and a restart make none', async () => {
      await using world = await World.open(server);
      await world.createSource();
      const events = async () => {
        const path = `/apis/events.k8s.io/v1/namespaces/${world.full('home')}/events`;
        const list = await world.person.get<{ readonly items: readonly EventView[] }>(path);
        return (list?.items ?? []).map(({ reason, series }) => `${reason} ${series?.count ?? 1}`);
      };
      expect((await world.run('--once', '--dry-run')).code).toBe(0);
      expect(await events()).toEqual([]);
      expect((await world.run('--once')).code).toBe(0);
      expect(await events()).toEqual(['Mirrored 1']);
      expect((await world.run('--once')).code).toBe(0);
      expect(await events()).toEqual(['Mirrored 1']);
      await world.person.delete(world.full('home/colors-synced'));
      expect((await world.run('--once')).code).toBe(0);
      expect(await events()).toEqual(['Mirrored 2']);
    });
  });
}

interface EventView {
  readonly reason: string;
  readonly series?: { readonly count: number };
}
