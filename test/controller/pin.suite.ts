import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { ask, repeatedScope, scopeOf, short } from '../inspect/ask.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { BLUE, edit, GREEN, hold, keeps, RED, revisionOf, shortOf } from './rolling.ts';
import { World } from './world.ts';

/** SPEC D5: companions hold an earlier content. */
export function pinSuite(server: TestServer): void {
  /** A source that has been red, green and blue. */
  async function openHistory(): Promise<World> {
    const world = await World.open(server, ['team-a', 'team-b']);
    await world.createSource({
      data: RED,
      asks: { 'keep-revisions': '5', 'target-namespaces': world.full('team-*') },
    });
    world.start();
    for (const data of [RED, GREEN, BLUE]) {
      await edit(world, data);
      await hold(world, { 'team-a': data, 'team-b': data });
    }
    return world;
  }

  test.concurrent('[D5] companions hold the pinned revision, new ones too, and follow the source again afterwards', async () => {
    await using world = await openHistory();
    await world.ask('home/colors', { pin: shortOf(RED) });
    await hold(world, { 'team-a': RED, 'team-b': RED });
    await world.createNamespace('team-c');
    await world.person.delete(world.full('team-a/colors-synced'));
    await world.person.patch(world.full('team-b/colors-synced'), { data: { sky: 'grey' } });
    await hold(world, { 'team-a': RED, 'team-b': RED, 'team-c': RED });
    await world.ask('home/colors', { pin: shortOf(BLUE) });
    await hold(world, { 'team-a': BLUE, 'team-b': BLUE, 'team-c': BLUE });
    await world.ask('home/colors', { pin: null });
    await edit(world, GREEN);
    await hold(world, { 'team-a': GREEN, 'team-b': GREEN, 'team-c': GREEN });
  });

  test.concurrent('[D4] [D5] while it is pinned, a revision stays, and new contents are kept but not mirrored', async () => {
    await using world = await openHistory();
    await world.ask('home/colors', { pin: shortOf(RED), 'keep-revisions': '1' });
    await hold(world, { 'team-a': RED });
    await keeps(world, RED, GREEN, BLUE);
    await edit(world, { sky: 'grey' });
    await keeps(world, RED, BLUE, { sky: 'grey' });
    await world.ask('home/colors', { 'keep-revisions': null });
    await keeps(world, RED);
    await hold(world, { 'team-a': RED, 'team-b': RED });
    await world.ask('home/colors', { pin: null });
    await keeps(world);
    await hold(world, { 'team-a': { sky: 'grey' }, 'team-b': { sky: 'grey' } });
  });

  test.concurrent('[D5] without the pinned revision, companions stay as they are, and that is reported', async () => {
    await using world = await openHistory();
    const before = await world.source('team-a/colors-synced');
    const controller = world.start();
    await world.ask('home/colors', { pin: '00000000' });
    await world.createNamespace('team-c');
    await edit(world, GREEN);
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);
    expect(await world.managed('team-c')).toEqual([]);
    const { out } = await ask(world, ['status', '-A']);
    const lines = short(world, out).split('\n');
    expect(lines.filter((line) => line.includes('home/colors ')).map((line) => line.split(/ {3,}/))).toEqual(
      ['team-a', 'team-b', 'team-c'].map((name) => [
        'home/colors',
        `${name}/colors-synced`,
        'waiting',
        'pinned to revision 00000000, which does not exist',
      ]),
    );
    expect(controller.log.told.map(({ reason }) => reason)).toContain(
      'pinned to revision 00000000, which does not exist, so companions stay as they are',
    );
    await world.ask('home/colors', { pin: shortOf(RED) });
    await hold(world, { 'team-a': RED, 'team-b': RED, 'team-c': RED });
  });

  test.concurrent('[D5] a pinned revision that somebody deletes leaves its companions as they are', async () => {
    await using world = await openHistory();
    await world.ask('home/colors', { pin: shortOf(RED) });
    await hold(world, { 'team-a': RED, 'team-b': RED });
    await world.person.delete(world.full(revisionOf(RED)));
    await keeps(world, GREEN, BLUE);
    const controller = world.start();
    await world.settle(controller, { namespaces: true });
    await hold(world, { 'team-a': RED, 'team-b': RED });
  });

  test.concurrent('[D5] undo goes one further back each time, says how to end it, and --to names one', async () => {
    await using world = await openHistory();
    const key = world.full('home/colors');
    const first = await ask(world, ['undo', key]);
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(short(world, first.out)).toBe(
      `home/colors is pinned to ${shortOf(GREEN)}: its companions will hold that content.\n` +
        '  ~ data sky: 4 B → 5 B\nTo let them follow the source again:\n' +
        '  kubectl annotate configmap colors --namespace home --overwrite workshop.io/pin-\n',
    );
    await hold(world, { 'team-a': GREEN, 'team-b': GREEN });
    expect((await ask(world, ['undo', 'colors', '-n', world.full('home')])).code).toBe(0);
    await hold(world, { 'team-a': RED, 'team-b': RED });
    const third = await ask(world, ['undo', key]);
    expect(third.code).toBe(2);
    expect(short(world, third.err)).toContain(
      'home/colors has no revision older than what its companions hold',
    );
    expect((await ask(world, ['undo', key, '--to', shortOf(BLUE)])).code).toBe(0);
    await hold(world, { 'team-a': BLUE, 'team-b': BLUE });
    const wrong = await ask(world, ['undo', key, '--to', 'beef']);
    expect(wrong.err).toContain(
      `${key} has no revision beef; write at least 8 digits of one that ` +
        `"mirror-controller history ${key}${repeatedScope(world).ours}" lists\n`,
    );
  });

  test.concurrent('[D5] undo says what is missing', async () => {
    await using world = await World.open(server);
    await world.createSource({ data: RED });
    const key = world.full('home/colors');
    const none = await ask(world, ['undo', key]);
    expect([none.code, short(world, none.err)]).toEqual([
      2,
      'mirror-controller: home/colors has no revisions; workshop.io/keep-revisions=5 keeps its contents from now on\n',
    ]);
    await world.ask('home/colors', { 'keep-revisions': 'x' });
    expect(short(world, (await ask(world, ['undo', key])).err)).toContain(
      'home/colors is invalid, so a pin would change nothing: workshop.io/keep-revisions: "x"',
    );
    expect(short(world, (await ask(world, ['undo', `${key}-x`])).err)).toContain(
      'home/colors-x is not a source\nTo see why, run: mirror-controller explain home/colors-x',
    );
  });

  test.concurrent('[D5] undo warns if no revision will keep what it pins', async () => {
    await using world = await World.open(server);
    await world.createSource({ data: RED });
    const { code, out } = await ask(world, ['undo', world.full('home/colors'), '--to', shortOf(RED)]);
    expect([code, short(world, out).replaceAll('\n', ' ')]).toEqual([
      0,
      expect.stringContaining(
        'Warning: home/colors keeps no revisions, so its next edit loses this content, and its companions stay as they are then. Before that, set workshop.io/keep-revisions=5.',
      ),
    ]);
  });

  test.concurrent('[D5] undo that the server refuses says why, and exits with 2 as after any error', async () => {
    await using world = await openHistory();
    await using proxy = await startFaultProxy({ upstream: world.place.access, tls: false });
    const folder = mkdtempSync(join(tmpdir(), 'undo-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, proxy.kubeconfig());
    const key = world.full('home/colors');
    for (const [status, why] of [
      [403, `Give this user the right to patch ConfigMap ${key}.`],
      [409, `${key} has just been changed; look at it, and try again`],
    ] as const) {
      const rule = proxy.inject({ match: { method: 'PATCH' }, fault: { kind: 'status', code: status } });
      const io = memoryIo();
      expect(await runProgram(['undo', key, ...scopeOf(world, kubeconfig)], io)).toBe(2);
      expect(io.err()).toContain(why);
      rule.remove();
    }
    rmSync(folder, { recursive: true });
  });

  test.concurrent('[D5] history lists the contents, with sizes, changes, and how many companions hold each', async () => {
    await using world = await openHistory();
    const key = world.full('home/colors');
    await world.ask('home/colors', { pin: shortOf(RED) });
    await hold(world, { 'team-a': RED, 'team-b': RED });
    const { out, code } = await ask(world, ['history', key]);
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.split(/ {3,}/))).toEqual([
      ['REVISION', 'CHECKSUM', 'SIZE', 'COMPANIONS', 'NOTE'],
      ['3', shortOf(BLUE), '7 B', '0', 'what the source says now'],
      ['  ~ data sky: 5 B → 4 B'],
      ['2', shortOf(GREEN), '8 B', '0'],
      ['  ~ data sky: 3 B → 5 B'],
      ['1', shortOf(RED), '6 B', '2', 'pinned'],
      [''],
    ]);
    await edit(world, { sky: 'grey' });
    await waitFor(async () => {
      const rows = JSON.parse((await ask(world, ['history', key, '-o', 'json'])).out);
      return expect(rows[0]).toMatchObject({ revision: 4, marks: ['source'], bytes: 7, companions: 0 });
    });
    const yaml = await ask(world, ['history', key, '-o', 'yaml']);
    const json = await ask(world, ['history', key, '-o', 'json']);
    expect(load(yaml.out)).toEqual(JSON.parse(json.out));
  });
}
