import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { shardKey, shardOf } from '../../src/notify/state/stored-record.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { World } from '../controller/world.ts';
import { ask } from '../inspect/ask.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { eventOf, folderWith, mountedSecret, startReceiver } from './receiver.ts';

const [KEY = '', NEW_KEY = ''] = [7, 8].map((fill) => `whsec_${Buffer.alloc(24, fill).toString('base64')}`);

interface Noted {
  readonly reason: string;
  readonly note: string;
}

/** `run` with this file of sinks, as by an operator; it stops with the test. */
function notifying(world: World, folder: string, ...more: readonly string[]) {
  const io = memoryIo();
  const flags = [
    `--kubeconfig=${world.place.kubeconfigPath}`,
    `--domain=${world.domain}`,
    `--allow-target-namespaces=${world.full('*')}`,
    `--leader-elect-lease-namespace=${world.full('home')}`,
    `--notify-config=${folder}/sinks.yaml`,
    '--log-format=json',
    '--http-address=',
    ...more,
  ];
  const running = runProgram(['run', ...flags], io);
  const stop = async () => {
    io.stop();
    return running;
  };
  onTestFinished(async () => void (await stop()));
  return { log: io.err, stop };
}

/** What `status -o wide` prints of the namespace `home`. */
async function status(world: World): Promise<string> {
  const io = memoryIo();
  const { kubeconfigPath } = world.place;
  const flags = [`--kubeconfig=${kubeconfigPath}`, `--domain=${world.domain}`, '-n', world.full('home')];
  await runProgram(['status', '-o', 'wide', ...flags], io);
  return io.out() + io.err();
}

/** Both recipes of docs/notifications.md, from the annotation to the receiver. */
export function notifySuite(server: TestServer): void {
  describe('notifications', () => {
    test('[N1] [N2] [N3] [N4] recipe: an application reloads its configuration', async () => {
      await using world = await World.open(server, ['team-a']);
      const receiver = await startReceiver();
      const files = {
        'sinks.yaml': `sinks:
- name: app
  type: webhook
  url: ${receiver.url}/reload?from=mirror
  headersFile: headers
  signingKeyFiles: [key]
  caFile: ca.crt
  content: full
  types: [source.created, source.changed]
`,
        headers: 'Authorization: Bearer of-the-app\n',
        key: KEY,
        'ca.crt': receiver.ca,
      };
      const secret = mountedSecret(files);
      const run = notifying(world, secret.folder);
      const last = (count: number) =>
        waitFor(() => (receiver.requests.length >= count ? receiver.requests.at(-1) : undefined), {
          describe: () => `${count} requests; ${run.log()}`,
        });
      await waitFor(() => run.log().includes('"notifying"'), { describe: run.log });
      await world.createSource({ asks: { notify: 'app', 'target-namespaces': world.full('team-a') } });
      const first = await last(1);
      expect(`${first.method} ${first.url.pathname}${first.url.search}`).toBe('POST /reload?from=mirror');
      expect(first.headers['authorization']).toBe('Bearer of-the-app');
      const { metadata } = await world.source('home/colors');
      const created = eventOf(first);
      expect(created).toMatchObject({
        type: 'io.workshop.mirror.source.created.v1',
        subject: world.full('home/colors'),
        data: { uid: metadata.uid, data: { sky: 'blue' }, companions: { 'in sync': 1 } },
      });
      expect(created.source).toMatch(/^\/mirror-controller\/[-0-9a-f]{36}$/);
      await world.person.patch(world.full('home/colors'), { data: { sky: 'red' } });
      const second = await last(2);
      const body = new Webhook(KEY).verify(second.body, second.headers as Record<string, string>);
      const { checksum } = await waitFor(async () => {
        const companion = await world.configMap('team-a/colors-synced');
        const checksum = companion?.metadata.annotations?.[`${world.domain}/source-checksum`];
        return companion?.data?.['sky'] === 'red' ? { checksum } : undefined;
      });
      const changed = eventOf(second);
      expect(changed.toJSON()).toMatchObject(body as object);
      expect(changed).toMatchObject({
        id: second.headers['webhook-id'],
        type: 'io.workshop.mirror.source.changed.v1',
        data: {
          version: checksum,
          previousVersion: created.data?.['version'],
          changedKeys: ['sky'],
          data: { sky: 'red' },
        },
      });
      // An edit that leaves the version says nothing. The next one does, and is the third.
      await world.ask('home/colors', { 'copy-labels': 'team' });
      // Meanwhile the Secret is rotated.
      secret.change({ ...files, headers: 'Authorization: Bearer newer\n', key: NEW_KEY });
      await world.person.patch(world.full('home/colors'), { data: { sky: 'green' } });
      const third = await last(3);
      expect(eventOf(third).data).toMatchObject({ data: { sky: 'green' } });
      expect(third.headers['authorization']).toBe('Bearer newer');
      expect(new Webhook(NEW_KEY).verify(third.body, third.headers as Record<string, string>)).toBeTruthy();
      expect(receiver.requests).toHaveLength(3);
      const last8 = String(eventOf(await last(3)).data?.['version']).slice(0, 8);
      const row = new RegExp(`home/colors +.*colors-synced +in sync +none +\\d+s +app ${last8} \\d+s`);
      let shown = '';
      const isShown = async () => {
        shown = await status(world);
        return row.test(shown);
      };
      await waitFor(isShown, { describe: () => shown });
      expect(run.log()).not.toMatch(/of-the-app|newer|green/);
      expect(await run.stop()).toBe(0);
    });

    test('[N2] [N4] companions.converged comes without a resync after a person has edited the state', async () => {
      await using world = await World.open(server, ['team-a']);
      const receiver = await startReceiver();
      const folder = folderWith({
        'sinks.yaml': `sinks: [{name: app, type: webhook, url: "${receiver.url}/", caFile: ca.crt, types: [companions.converged], default: true}]`,
        'ca.crt': receiver.ca,
      });
      const run = notifying(world, folder, '--resync=0');
      const heard = (count: number) =>
        waitFor(() => receiver.requests.length >= count, { describe: () => `${count}; ${run.log()}` });
      await waitFor(() => run.log().includes('"notifying"'), { describe: run.log });
      await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
      await heard(1);
      const { uid } = (await world.source('home/colors')).metadata;
      const state = shardKey(objectKey(world.full('home'), 'mirror-controller-notify'), shardOf(uid));
      // When it is recorded that the first was sent.
      await waitFor(async () => {
        const record = (await world.person.configMap(state))?.data?.[uid];
        return record !== undefined && !record.includes('pending');
      });
      await world.person.patch(state, { metadata: { annotations: { edited: 'by a person' } } });
      await world.person.patch(world.full('home/colors'), { data: { sky: 'red' } });
      await heard(2);
      expect(run.log()).toContain('notification state not written');
      expect(await run.stop()).toBe(0);
    });

    test('[V4] [O4] [N2] values and labels that are filled in appear in companions, and nowhere else', async () => {
      await using world = await World.open(server);
      await world.createNamespace('team-a', { labels: { tier: 'hunter2-tier' } });
      const receiver = await startReceiver();
      const folder = folderWith({
        'sinks.yaml': `sinks: [{name: app, type: webhook, url: "${receiver.url}/", caFile: ca.crt, content: full, default: true}]`,
        'ca.crt': receiver.ca,
      });
      const run = notifying(world, folder, '--log-level=debug');
      const told = (type: string) =>
        waitFor(() => receiver.requests.find((request) => eventOf(request).type.includes(type)), {
          describe: () => `${type}; ${run.log()}`,
        });
      await waitFor(() => run.log().includes('"notifying"'), { describe: run.log });
      const labels = world.ours({ managed: 'values' });
      const options = { namespace: world.full('home'), name: 'options', labels };
      await world.person.create({ metadata: options, data: { title: 'hunter2-title' } });
      const asks = {
        'target-namespaces': world.full('team-a'),
        'render-keys': '*',
        'values-from': 'options',
      };
      const data = { k: '$(mirror.value.title) $(mirror.label.tier)' };
      await world.createSource({ data, asks });
      const key = 'team-a/colors-synced';
      const filled = { data: { k: 'hunter2-title hunter2-tier' } };
      await world.companion(key, 'home/colors', filled);
      expect(eventOf(await told('source.created')).data).toMatchObject({ data });
      // It is healed, then replaced, then cannot be rendered.
      await world.person.patch(world.full(key), { data: { k: 'hunter2-edited' } });
      await world.companion(key, 'home/colors', filled);
      await world.person.patch(world.full(key), { immutable: true, data: { k: 'hunter2-edited' } });
      await world.companion(key, 'home/colors', filled);
      await world.person.patch(world.full('home/options'), { data: { title: 'hunter2'.repeat(100_000) } });
      await world.person.patch(world.full('home/colors'), { data: { l: data.k } });
      const { reason } = eventOf(await told('companions.failing')).data ?? {};
      expect(reason).toMatch(/: k, l: the rendered content has \d+ bytes, more than/);
      const source = world.full('home/colors');
      const commands = [
        ['status', '-o', 'wide'],
        ['plan', '-o', 'yaml'],
        ['explain', source, '-n', world.full('team-a')],
        ['history', source],
      ];
      const answers = await Promise.all(commands.map((args) => ask(world, args)));
      expect(answers.map(({ err }) => err)).toEqual(['', '', '', '']);
      expect(answers[2]?.out).toContain('the rendered content has');
      const path = `/apis/events.k8s.io/v1/namespaces/${world.full('home')}/events`;
      const events = await waitFor(async () => {
        const text = JSON.stringify(await world.person.get<object>(path));
        return text.includes('Unresolved') && text.includes('Healed') ? text : undefined;
      });
      const bodies = receiver.requests.map(({ body }) => body);
      const seen = [...bodies, events, ...answers.map(({ out }) => out), run.log()];
      for (const text of seen) expect(text).not.toContain('hunter2');
      expect(await run.stop()).toBe(0);
    });

    test('[N1] [N4] [N7] recipe: a channel hears of new sources, once', async () => {
      await using world = await World.open(server);
      await world.createSource({ name: 'old' });
      const receiver = await startReceiver((_, response) => response.end('ok'));
      const folder = folderWith({
        'sinks.yaml': 'sinks: [{name: chat, type: slack, urlFile: url, caFile: ca.crt, default: true}]',
        url: `${receiver.url}/services/T0/B0/secret\n`,
        'ca.crt': receiver.ca,
      });
      const texts = () => receiver.requests.map(({ body }) => JSON.parse(body).text as string);
      const run = notifying(world, folder);
      await waitFor(() => run.log().includes('"notifying"'), { describe: run.log });
      await world.createSource();
      await waitFor(() => texts().length === 1, { describe: run.log });
      expect(texts()[0]).toContain(`ConfigMap *${world.full('home/colors')}* is mirrored now`);
      await world.person.patch(world.full('home/colors'), { data: { sky: 'red' } });
      await world.unlabel('home/colors');
      await world.gone('home/colors-synced');
      await world.person.patch(world.full('home/colors'), {
        metadata: { labels: world.ours({ managed: 'true' }) },
      });
      await run.stop();
      // Another process, as after a restart, remembers what was said.
      const next = notifying(world, folder);
      await waitFor(() => next.log().includes('"notifying"'), { describe: next.log });
      await world.createSource({ name: 'new' });
      await waitFor(() => texts().length >= 2, { describe: next.log });
      expect(texts()).toHaveLength(2);
      expect(texts()[1]).toContain(`ConfigMap *${world.full('home/new')}* is mirrored now`);
      expect(run.log() + next.log()).not.toContain('secret');
    });

    test('[N1] a sink that does not exist or does not admit the namespace is reported on the source', async () => {
      await using world = await World.open(server);
      const receiver = await startReceiver();
      const folder = folderWith({
        'sinks.yaml': `sinks: [{name: ops, type: webhook, url: "${receiver.url}", sourceNamespaces: [elsewhere]}]`,
      });
      const run = notifying(world, folder);
      await world.createSource({ asks: { notify: 'ops, pager' } });
      await world.companion('home/colors-synced', 'home/colors');
      const problem = `there is no sink pager`;
      await waitFor(
        async () => {
          const path = `/apis/events.k8s.io/v1/namespaces/${world.full('home')}/events`;
          const { items = [] } = (await world.person.get<{ items: Noted[] }>(path)) ?? {};
          return items.some(({ reason, note }) => reason === 'SinkUnavailable' && note.includes(problem));
        },
        { describe: run.log },
      );
      expect(run.log()).toContain(`sink ops does not accept sources of namespace ${world.full('home')}`);
      expect(receiver.requests).toEqual([]);
    });

    test('[N5] a sink that hangs delays neither companions nor another sink', async () => {
      await using world = await World.open(server);
      const [hanging, receiver] = [await startReceiver(() => undefined), await startReceiver()];
      const folder = folderWith({
        'sinks.yaml': `sinks:
- {name: hanging, type: webhook, url: "${hanging.url}", caFile: hanging-ca, types: [source.created], default: true}
- {name: ops, type: webhook, url: "${receiver.url}", caFile: ca, types: [source.created], default: true}`,
        'hanging-ca': hanging.ca,
        ca: receiver.ca,
      });
      const run = notifying(world, folder);
      await waitFor(() => run.log().includes('"notifying"'), { describe: run.log });
      const names = Array.from({ length: 20 }, (_, at) => `source-${at}`);
      for (const name of names) await world.createSource({ name });
      for (const name of names) await world.companion(`home/${name}-synced`, `home/${name}`);
      await waitFor(() => receiver.requests.length === names.length, { describe: run.log });
      // It has kept all that it got since, and gets no more.
      expect(hanging.requests.length).toBeLessThanOrEqual(4);
      expect(hanging.requests.length).toBeGreaterThan(0);
    });

    test('[N3] [N4] one of two replicas notifies, and the other goes on with what was waiting', async () => {
      await using world = await World.open(server);
      let isOpen = false;
      const receiver = await startReceiver((_, response) => {
        response.writeHead(isOpen ? 204 : 503).end();
      });
      const folder = folderWith({
        'sinks.yaml': `sinks: [{name: ops, type: webhook, url: "${receiver.url}", caFile: ca, types: [source.created]}]`,
        ca: receiver.ca,
      });
      const first = notifying(world, folder, '--leader-elect');
      await waitFor(() => first.log().includes('"notifying"'), { describe: first.log });
      const second = notifying(world, folder, '--leader-elect');
      await world.createSource({ asks: { notify: 'ops' } });
      await waitFor(() => receiver.requests.length > 0, { describe: first.log });
      await first.stop();
      const before = receiver.requests.length;
      isOpen = true;
      await waitFor(() => receiver.requests.length > before, { describe: second.log });
      const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids).size).toBe(1);
      // The next source proves that the first was sent no more.
      await world.createSource({ name: 'fonts', asks: { notify: 'ops' } });
      await waitFor(() => receiver.requests.length > before + 1, { describe: second.log });
      expect(receiver.requests.slice(before).map(({ body }) => JSON.parse(body).subject)).toEqual([
        world.full('home/colors'),
        world.full('home/fonts'),
      ]);
    });
  });
}
