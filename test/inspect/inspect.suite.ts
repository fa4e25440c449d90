import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { dump, load } from 'js-yaml';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { Row } from '../../src/inspect/report.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { World } from '../controller/world.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, inWords, repeatedScope, rowsOf, scopeOf, short } from './ask.ts';
import { MESSY_ROWS, openMessyWorld } from './messy-world.ts';

/** `plan` and `status`. */
export function inspectSuite(server: TestServer): void {
  const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.concurrent('[C2] [C3] plan and status say the same of each companion; status exits with 0, plan with 1', async () => {
    await using world = await openMessyWorld(server);
    const status = await rowsOf(world, 'status', '-A');
    expect(inWords(status.rows).map((line) => line.replace('null', '<none>'))).toEqual(MESSY_ROWS);
    expect(status.code).toBe(0);
    const plan = await rowsOf(world, 'plan');
    expect(plan.code).toBe(1);
    expect(inWords(plan.rows)).toEqual(inWords(status.rows.filter(({ state }) => state !== 'in sync')));
    const yaml = await ask(world, ['status', '-A', '-o', 'yaml']);
    expect(load(short(world, yaml.out))).toEqual(status.rows);
  });

  test.concurrent('[C2] plan names the keys that differ and their sizes, and no value', async () => {
    await using world = await openMessyWorld(server);
    const { rows } = await rowsOf(world, 'plan', '--namespace', world.full('team-b'));
    // As with kubectl, -A wins over -n.
    const everywhere = await rowsOf(world, 'plan', '-A');
    expect(everywhere).toEqual(await rowsOf(world, 'plan'));
    expect(await rowsOf(world, 'plan', '-A', '-n', world.full('team-b'))).toEqual(everywhere);
    expect(rows.length).toBeLessThan(everywhere.rows.length);
    expect(rows.find(({ action }) => action === 'update')?.differences).toEqual([
      { kind: 'data', key: 'moon', change: 'remove', bytesBefore: 5, bytesAfter: null },
      { kind: 'data', key: 'sky', change: 'change', bytesBefore: 4, bytesAfter: 4 },
    ]);
    for (const output of ['table', 'json', 'yaml']) {
      const { out } = await ask(world, ['plan', '--output', output]);
      expect(out).not.toMatch(/grey|white|green/);
    }
  });

  test.concurrent('[C2] run --once does what plan printed and nothing else; then plan has nothing to do and exits with 0', async () => {
    await using world = await openMessyWorld(server);
    const planned = (await rowsOf(world, 'plan')).rows.filter(({ action }) => action !== 'none');
    expect(planned.length).toBeGreaterThan(3);
    const before = await world.place.countWrites();
    const { log } = await world.run('--once');
    const done = short(world, log)
      .split('\n')
      .filter((line) => /"msg":"companion (created|updated|replaced|deleted)"/.test(line))
      .map((line) => JSON.parse(line) as { companion: string; msg: string })
      .map(({ companion, msg }) => `${msg.replace('companion ', '').replace(/d$/, '')} ${companion}`);
    expect(done.sort()).toEqual(planned.map(({ action, companion }) => `${action} ${companion}`).sort());
    expect((await world.place.countWrites()) - before).toBeGreaterThanOrEqual(planned.length);
    const after = await rowsOf(world, 'plan');
    expect(after.rows.filter(({ action }) => action !== 'none')).toEqual([]);
    expect(after.code).toBe(0);
  });

  test.concurrent('[C2] plan --filename: as if the files were applied, a new Namespace included; nothing is applied', async () => {
    await using world = await World.open(server, ['team-a']);
    await world.createSource();
    const file = join(folder, `${world.place.prefix}${server.name}.yaml`);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: world.full('team-n') } };
    const source = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'colors',
        namespace: world.full('home'),
        labels: world.ours({ managed: 'true' }),
        annotations: world.ours({ 'target-namespaces': world.full('team-*') }),
      },
      data: { sky: 'red' },
    };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };
    writeFileSync(file, [namespace, deployment].map((object) => dump(object)).join('---\n'));
    const io = { ...memoryIo(), stdin: Readable.from([JSON.stringify({ kind: 'List', items: [source] })]) };
    const { code, out, err } = await ask(world, ['plan', '-f', file, '-f', '-', '--output=json'], io);
    expect(err).toBe('ignored, since only ConfigMaps and Namespaces count: Deployment/web\n');
    expect(code).toBe(1);
    expect(inWords(JSON.parse(short(world, out)))).toEqual([
      'home/colors → team-a/colors-synced: missing, create; it did not exist',
      'home/colors → team-n/colors-synced: missing, create; it did not exist',
    ]);
    expect(await world.person.namespace(world.full('team-n'))).toBeUndefined();
    expect((await world.source('home/colors')).data).toEqual({ sky: 'blue' });
    const without = await rowsOf(world, 'plan');
    expect(inWords(without.rows)).toEqual([
      'home/colors → home/colors-synced: missing, create; it did not exist',
    ]);
  });

  test.concurrent('[C2] [V2] plan --filename: sources are rendered with the values of the files, and values are never shown', async () => {
    await using world = await World.open(server);
    await world.createNamespace('team-a', { labels: { tier: 'secret-tier' } });
    await world.createNamespace('team-b');
    const controller = world.start();
    const labels = world.ours({ managed: 'values' });
    const metadata = { namespace: world.full('home'), name: 'options', labels };
    await world.person.create({ metadata, data: { title: 'secret-title' } });
    const asks = { 'target-namespaces': world.full('team-*'), 'render-keys': '*', 'values-from': 'options' };
    const data = { k: '$(mirror.label.tier)', l: '$(mirror.value.title)', plain: 'x' };
    await world.createSource({ data, asks });
    const rendered = { data: { k: 'secret-tier', l: 'secret-title', plain: 'x' } };
    await world.companion('team-a/colors-synced', 'home/colors', rendered);
    await world.settle(controller, { namespaces: true });
    await controller.stop();
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const later = { ...kind, metadata, data: { title: 'secret-later' } };
    const namespace = (tier: string) => {
      const written = { name: world.full('team-b'), labels: { tier } };
      return { apiVersion: 'v1', kind: 'Namespace', metadata: written };
    };
    const plan = async (...objects: readonly object[]) => {
      const io = {
        ...memoryIo(),
        stdin: Readable.from([objects.map((object) => dump(object)).join('---\n')]),
      };
      const { out } = await ask(world, ['plan', '-n', world.full('home'), '-f', '-', '-o', 'json'], io);
      expect(out).not.toContain('secret');
      const rows: readonly Row[] = JSON.parse(short(world, out));
      return rows.filter(({ source }) => source === 'home/colors');
    };
    const missing = 'k: $(mirror.label.tier): the namespace has no such label';
    expect(inWords(await plan(namespace('secret-b')))).toEqual([
      'home/colors → team-b/colors-synced: missing, create; it did not exist',
    ]);
    const [first, ...others] = await plan(later);
    expect(inWords(others)).toEqual([`home/colors → team-b/colors-synced: invalid, none; ${missing}`]);
    const from = 'ConfigMap home/options';
    const placeholders = [{ placeholder: '$(mirror.value.title)', from }];
    const change = {
      kind: 'data',
      key: 'l',
      change: 'change',
      bytesBefore: 12,
      bytesAfter: 12,
      placeholders,
    };
    expect(first?.differences).toEqual([change, expect.objectContaining({ kind: 'annotation' })]);
    const { out } = await ask(world, ['status', world.full('home/colors')]);
    expect(short(world, out)).toContain(`invalid   ${missing}`);
    const explained = await ask(world, [
      'explain',
      world.full('home/colors'),
      '--namespace',
      world.full('team-b'),
    ]);
    expect(short(world, explained.out)).toMatch(
      /no +values +k: .*no such label[\s\S]*Set the label on Namespace team-b/,
    );
    expect(out + explained.out).not.toContain('secret');
  });

  test.concurrent('[C2] plan --filename: a label that a file lacks goes only if the last apply set it, as with kubectl apply', async () => {
    await using world = await World.open(server);
    await world.createSource();
    await world.run('--once');
    const labels = world.ours({ managed: 'true' });
    const file = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'colors' } };
    const plan = async () => {
      const io = { ...memoryIo(), stdin: Readable.from([dump(file)]) };
      const { out } = await ask(world, ['plan', '-n', world.full('home'), '-f', '-', '-o', 'json'], io);
      return inWords(JSON.parse(short(world, out)));
    };
    expect(await plan()).toEqual([]);
    const lastApplied = JSON.stringify({ ...file, metadata: { ...file.metadata, labels } });
    await world.person.patch(world.full('home/colors'), {
      metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied } },
    });
    expect(await plan()).toEqual([
      'home/colors → home/colors-synced: orphaned, delete; the source is no longer labelled',
    ]);
  });

  test.concurrent('[C2] plan --filename: a Namespace keeps what its file lacks', async () => {
    await using world = await World.open(server);
    await world.createNamespace('team-a', { annotations: world.ours({ 'accept-mirrors-from': '' }) });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    const file = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: world.full('team-a') } };
    const io = { ...memoryIo(), stdin: Readable.from([dump(file)]) };
    const { out } = await ask(world, ['plan', '-f', '-', '-o', 'json'], io);
    expect(inWords(JSON.parse(short(world, out)))).toEqual([
      expect.stringContaining('home/colors → team-a/colors-synced: refused, none; '),
    ]);
  });

  test.concurrent('[C3] status shows the namespace that is asked for, names, states, and names only', async () => {
    await using world = await openMessyWorld(server);
    const companions = async (...args: readonly string[]) =>
      (await rowsOf(world, 'status', ...args)).rows.map(({ companion }) => companion);
    expect(await companions('-n', world.full('team-c'))).toEqual(['team-c/shy-synced']);
    expect(await companions(world.full('home/colors'), world.full('team-c/shy-synced'))).toEqual([
      'team-a/colors-synced',
      'team-b/colors-synced',
      'team-z/colors-synced',
      'team-c/shy-synced',
    ]);
    expect(await companions('-n', world.full('home'), 'new')).toEqual(['home/new-synced']);
    await world.createNamespace('empty');
    const empty = await ask(world, ['status', '-n', world.full('empty')]);
    expect(empty.code).toBe(0);
    expect(short(world, empty.out)).toBe('no companions in namespace empty\n');
    expect(await companions('-A', '--state', ',in-sync, retained,')).toEqual([
      'team-a/colors-synced',
      'team-a/kept-synced',
    ]);
    const names = await ask(world, ['status', '-A', '--state=drifted', '-o', 'name']);
    expect(short(world, names.out)).toBe('team-b/colors-synced\n');
    const unknown = await ask(world, ['status', 'nowhere/nothing']);
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toContain(
      'nowhere/nothing: neither a source nor a companion\n' +
        `To see why, run: mirror-controller explain nowhere/nothing${repeatedScope(world).ours}\n`,
    );
  });

  test.concurrent('[C3] status --check exits with 1 if something is not in sync; retained is, and so is what a pattern meets', async () => {
    await using world = await openMessyWorld(server);
    const code = async (...args: readonly string[]) =>
      (await ask(world, ['status', '--check', ...args])).code;
    expect(await code('-A')).toBe(1);
    expect(await code(world.full('team-a/colors-synced'))).toBe(0);
    expect(await code(world.full('home/kept'))).toBe(0);
    expect(await code(world.full('home/late'))).toBe(1);
    await world.createNamespace('other', { annotations: world.ours({ 'accept-mirrors-from': '' }) });
    await world.createSource({ name: 'wide', asks: { 'target-namespaces': world.full('o*') } });
    expect(await code(world.full('home/wide'))).toBe(0);
    await world.ask('home/wide', { 'target-namespaces': world.full('other') });
    expect(await code(world.full('home/wide'))).toBe(1);
  });

  test.concurrent('[C3] while a controller runs, status agrees with it', async () => {
    await using world = await openMessyWorld(server);
    const controller = world.start();
    await world.settle(controller, { namespaces: true });
    const { rows } = await rowsOf(world, 'status', '-A');
    const barrier = (row: { readonly source: string | null }) => row.source?.includes('barrier') === true;
    const notInSync = rows.filter((row) => row.state !== 'in sync' && !barrier(row));
    const told = controller.log.told.filter(({ level }) => level === 'warn' || level === 'info');
    for (const { source, companion, state } of notInSync) {
      if (companion === 'team-a/stray') continue;
      const about = state === 'invalid' ? { source } : { source, companion };
      const full = Object.fromEntries(
        Object.entries(about).map(([name, key]) => [name, world.full(String(key))]),
      );
      expect(told).toContainEqual(expect.objectContaining({ ...full, message: TOLD[state] }));
    }
    expect(notInSync.map(({ state }) => state).sort()).toEqual([
      'conflict',
      'invalid',
      'missing',
      'orphaned',
      'refused',
      'retained',
    ]);
    expect((await rowsOf(world, 'plan')).code).toBe(0);
  });

  test.concurrent('[C3] status --watch in a pipe prints a line for each change, until it is stopped', async () => {
    await using world = await World.open(server, ['team-a']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    const io = memoryIo();
    const watching = runProgram(['status', ...scopeOf(world), '-A', '--watch'], io);
    const lines = () => short(world, io.out()).replace(/ +/g, ' ').trim().split('\n');
    const line = (rest: string) => `home/colors team-a/colors-synced ${rest}`;
    const told = (...expected: readonly string[]) =>
      waitFor(() => expect(lines()).toEqual(expected.map(line)) ?? true, {
        deadlineMs: 20_000,
        describe: io.out,
      });
    await told('missing it did not exist');
    await world.run('--once');
    await told('missing it did not exist', 'in sync');
    await world.ask('home/colors', { 'target-namespaces': world.full('home') });
    await waitFor(() => lines().length > 3, { deadlineMs: 20_000, describe: io.out });
    expect(lines()).toContain(line('orphaned the source no longer targets the namespace'));
    io.stop();
    expect(await watching).toBe(0);
    expect(io.err()).toBe('');
  });

  test.concurrent('[C3] status --watch in a pipe says that a companion without a source is gone, but not as a name', async () => {
    await using world = await World.open(server);
    const labels = world.ours({ managed: 'companion' });
    const createStray = (name: string) =>
      world.person.create({ metadata: { namespace: world.full('home'), name, labels } });
    await createStray('stray');
    const table = memoryIo();
    const names = memoryIo();
    const watches = [table, names].map((io, at) =>
      runProgram(['status', ...scopeOf(world), '-A', '-w', '-o', at === 0 ? 'table' : 'name'], io),
    );
    await waitFor(() => table.out() !== '' && names.out() !== '', { deadlineMs: 20_000 });
    await world.person.delete(world.full('home/stray'));
    await waitFor(() => table.out().includes('gone'), { deadlineMs: 20_000, describe: table.out });
    expect(short(world, table.out())).toMatch(/^<none> {3}home\/stray {3}gone$/m);
    await createStray('other');
    await waitFor(() => names.out().includes('other'), { deadlineMs: 20_000, describe: names.out });
    for (const io of [table, names]) io.stop();
    expect(await Promise.all(watches)).toEqual([0, 0]);
    expect(short(world, names.out())).toBe('home/stray\nhome/other\n');
  });

  test.concurrent('[C3] status --watch --state in a pipe: a companion that leaves the states is not gone', async () => {
    await using world = await World.open(server);
    await world.createSource();
    const io = memoryIo();
    const watching = runProgram(['status', ...scopeOf(world), '-A', '-w', '--state=missing'], io);
    const lines = () => short(world, io.out()).replace(/ +/g, ' ').trim().split('\n');
    const line = (rest: string) => `home/colors home/colors-synced ${rest}`;
    await waitFor(() => lines()[0] !== '', { deadlineMs: 20_000 });
    await world.run('--once');
    await waitFor(() => lines().length > 1, { deadlineMs: 20_000, describe: io.out });
    expect(lines()).toEqual([line('missing it did not exist'), line('in sync')]);
    io.stop();
    expect(await watching).toBe(0);
  });

  test.concurrent('[C3] status of a namespace that does not exist is an error, unless a source names it', async () => {
    await using world = await World.open(server);
    const about = (name: string) => ask(world, ['status', '--check', '-n', world.full(name)]);
    const mistyped = await about('hmoe');
    expect(mistyped).toMatchObject({ code: 2, out: '' });
    expect(short(world, mistyped.err)).toContain('namespace hmoe does not exist');
    expect(await about('home')).toMatchObject({ code: 0, err: '' });
    const watched = await ask(world, ['status', '--watch', '-n', world.full('hmoe')]);
    expect(watched.code).toBe(2);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-new') } });
    expect((await about('team-new')).code).toBe(1);
  });

  test.concurrent('[C3] [P2] a namespace that is not among --namespaces is an error, unless a source names it', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    const scoped = (command: string, name: string) =>
      ask(world, [command, `--namespaces=${world.full('home')}`, '-n', world.full(name)]);
    for (const command of ['status', 'plan', 'release']) {
      const elsewhere = await scoped(command, 'team-b');
      expect(elsewhere).toMatchObject({ code: 2, out: '' });
      expect(short(world, elsewhere.err)).toContain('namespace team-b is not among --namespaces: choose one');
      expect((await scoped(command, 'team-a')).code).toBe(0);
    }
  });

  test.concurrent('[C3] [P2] status --namespaces of a source that targets others says that it does not see them', async () => {
    await using world = await World.open(server, ['team-a']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    const about = (...args: readonly string[]) => ask(world, ['status', world.full('home/colors'), ...args]);
    const { code, err } = await about(`--namespaces=${world.full('home')}`);
    expect(code).toBe(0);
    expect(short(world, err)).toBe(
      'home/colors matches none of the --namespaces, so there is nothing to show\n',
    );
    await world.ask('home/colors', { 'target-namespaces': world.full('qa-*') });
    expect(short(world, (await about()).err)).toBe(
      'home/colors matches no namespace, so there is nothing to show\n',
    );
  });

  test.concurrent('[C3] [V3] a ConfigMap with values is neither a source nor a companion', async () => {
    await using world = await World.open(server);
    const labels = world.ours({ managed: 'values' });
    const metadata = { namespace: world.full('home'), name: 'options', labels };
    await world.person.create({ metadata, data: { sky: 'blue' } });
    const { code, err } = await ask(world, ['status', world.full('home/options')]);
    expect(code).toBe(2);
    expect(short(world, err)).toContain('home/options: neither a source nor a companion');
  });

  test.concurrent('[C3] status --watch of a mistyped name exits with 2', async () => {
    await using world = await World.open(server);
    const mistyped = await ask(world, ['status', world.full('home/colours'), '--watch']);
    expect(mistyped.code).toBe(2);
    expect(short(world, mistyped.err)).toContain('home/colours: neither a source nor a companion');
  });
}

/** What the controller logs of a companion in each state. */
const TOLD: Readonly<Record<string, string>> = {
  conflict: 'companion in conflict',
  invalid: 'source is invalid; its companions stay as they are',
  missing: 'companion has no namespace',
  refused: 'companion refused',
  retained: 'companion retained',
};
