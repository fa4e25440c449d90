import { expect, test } from 'vitest';
import { memoryIo } from '../cli/memory-io.ts';
import { World } from '../controller/world.ts';
import type { TestServer } from '../support/servers/server.ts';
import { ask, inWords, repeatedScope, rowsOf, short } from './ask.ts';

/** A source `broken` in `home`, and the namespace where its companion is missed. */
interface Broken {
  readonly target: string;
  /** Where the first walk ends. */
  readonly check: string;
  readonly make: (world: World) => Promise<unknown>;
}

const source = (world: World, asks: Readonly<Record<string, string>>) =>
  world.createSource({ name: 'broken', asks });

/** Ten sources that are broken in different ways. */
const BROKEN: Readonly<Record<string, Broken>> = {
  'has no label': {
    target: 'home',
    check: 'label',
    make: async (world) => {
      await source(world, {});
      await world.unlabel('home/broken');
    },
  },
  'has a wrong label': {
    target: 'home',
    check: 'label',
    make: async (world) => {
      await source(world, {});
      await world.person.patch(world.full('home/broken'), {
        metadata: { labels: world.ours({ managed: 'yes' }) },
      });
    },
  },
  'has a malformed annotation': {
    target: 'team-a',
    check: 'annotations',
    make: (world) => source(world, { 'target-namespaces': world.full('team-a'), 'deletion-policy': 'keep' }),
  },
  'has a typo in an annotation': {
    target: 'team-a',
    check: 'target',
    make: (world) => source(world, { 'target-namespace': world.full('team-a') }),
  },
  'excludes the namespace': {
    target: 'team-a',
    check: 'target',
    make: (world) =>
      source(world, { 'target-namespaces': `${world.full('team-*')}, !${world.full('team-a')}` }),
  },
  'selects no such namespace': {
    target: 'team-a',
    check: 'target',
    make: (world) => source(world, { 'target-namespace-selector': 'env=nowhere' }),
  },
  'targets a namespace that does not exist': {
    target: 'team-new',
    check: 'namespace',
    make: (world) => source(world, { 'target-namespaces': world.full('team-new') }),
  },
  'is refused by the namespace': {
    target: 'team-a',
    check: 'consent',
    make: async (world) => {
      await world.person.patchNamespace(world.full('team-a'), {
        metadata: { annotations: world.ours({ 'accept-mirrors-from': 'platform-*' }) },
      });
      await source(world, { 'target-namespaces': world.full('team-a') });
    },
  },
  'meets an unrelated object': {
    target: 'team-a',
    check: 'name',
    make: async (world) => {
      await world.person.create({
        metadata: { name: 'broken-synced', namespace: world.full('team-a') },
        data: { precious: 'yes' },
      });
      await source(world, { 'target-namespaces': world.full('team-a') });
    },
  },
  'has a companion that was edited': {
    target: 'home',
    check: 'content',
    make: async (world) => {
      await source(world, {});
      await world.run('--once');
      await world.person.patch(world.full('home/broken-synced'), { data: { sky: 'edited' } });
    },
  },
};

export function explainSuite(server: TestServer): void {
  for (const [what, { target, check, make }] of Object.entries(BROKEN)) {
    test.concurrent(`[C8] a source that ${what}: explain says so, and its commands lead to a companion in sync`, async () => {
      await using world = await World.open(server, ['team-a']);
      await make(world);
      const explain = () => ask(world, ['explain', world.full('home/broken'), '-n', world.full(target)]);
      const first = await explain();
      expect(first.code, first.err).toBe(1);
      expect(first.out.match(/^ {2}no +(\w+)/m)?.[1]).toBe(check);
      let answer = first;
      for (let round = 0; round < 6 && answer.code !== 0; round += 1) {
        const command = answer.out.match(/^(?:To change that|Without one):\n {2}(.*)$/m)?.[1];
        await carryOut(command ?? expect.fail(answer.out), world);
        answer = await explain();
      }
      expect(answer.code, answer.out).toBe(0);
      expect(answer.out).toMatch(/\nin sync\n$/);
    });
  }

  test.concurrent('[C8] of a source whose name is too long: the command names a companion that can be', async () => {
    await using world = await World.open(server);
    const name = `${'x'.repeat(236)}.${'y'.repeat(15)}`;
    await world.createSource({ name });
    const explain = () => ask(world, ['explain', world.full(`home/${name}`)]);
    const { out } = await explain();
    const command = out.match(/^To change that:\n {2}(.*)$/m)?.[1];
    await carryOut(command ?? expect.fail(out), world);
    await world.run('--once');
    expect(await explain()).toMatchObject({ code: 0 });
  });

  test.concurrent('[C8] explain, word for word', async () => {
    await using world = await World.open(server, ['team-a']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    const { out } = await ask(world, ['explain', world.full('home/colors'), '-n', world.full('team-a')]);
    expect(short(world, out)).toBe(
      [
        'home/colors → team-a/colors-synced',
        '',
        '  ok   label         workshop.io/managed=true',
        '  ok   annotations   target-namespaces: team-*',
        '  ok   target        "team-*" in target-namespaces matches team-a',
        "  ok   bounds        allowed by the controller's flags",
        '  ok   namespace     team-a exists',
        '  ok   consent       team-a has no accept-mirrors-from, so it accepts all namespaces',
        '  ok   name          team-a/colors-synced is free',
        '  no   content       it does not exist yet',
        '',
        'missing: it did not exist; the controller would create it',
        'A running controller will do that. To see whether one runs:',
        '  kubectl get deployments --all-namespaces --selector app.kubernetes.io/name=mirror-controller',
        'Without one:',
        '  mirror-controller run --once',
        'It does all that is due, for every source. Give it the flags with which the controller would run.',
        '',
      ].join('\n'),
    );
  });

  test.concurrent('[C8] every command that explain and undo print is for the cluster and the rules that were asked', async () => {
    await using world = await World.open(server, ['team-a']);
    await world.createSource({ asks: { 'keep-revisions': '1', 'delete-after': 'soon' } });
    const commandsIn = async (...args: readonly string[]) => {
      const lines = (await ask(world, args)).out.split('\n');
      return lines.filter((line) => /^ {2}(kubectl|mirror-controller) /.test(line));
    };
    const key = world.full('home/colors');
    const printed = await commandsIn('explain', key);
    await world.ask('home/colors', { 'delete-after': '1s' });
    printed.push(...(await commandsIn('explain', key)));
    await world.run('--once');
    await world.person.patch(key, { data: { sky: 'red' } });
    await world.run('--once');
    printed.push(...(await commandsIn('undo', key)));
    const repeated = repeatedScope(world);
    const isRight = (line: string) =>
      line.endsWith(line.startsWith('  kubectl') ? repeated.kubectl : repeated.ours);
    expect(printed.map(isRight), printed.join('\n')).toEqual([true, true, true, true]);
  });

  test.concurrent('[C9] kubectl mirror explain prints no command that kubectl mirror does not have', async () => {
    await using world = await World.open(server);
    await world.createSource();
    const { out } = await ask(world, ['explain', world.full('home/colors')], memoryIo(), 'kubectl-mirror');
    expect(out).toMatch(/A running controller will do that.*\n {2}kubectl get deployments .*\n$/);
  });

  test.concurrent('[C8] explain takes a companion too, one that is there, is missed, or has lost its source', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    await world.createSource({ name: 'gone', asks: { 'target-namespaces': world.full('team-a') } });
    await world.run('--once');
    await world.person.delete(world.full('home/gone'));
    const explain = async (key: string) => {
      const { code, out } = await ask(world, ['explain', world.full(key)]);
      const [title, , ...lines] = short(world, out).split('\n');
      const last = lines.findIndex((line, at) => at > 0 && line === '');
      return { code, title, check: lines[last - 1]?.replace(/ +/g, ' ').trim(), end: lines[last + 1] };
    };
    expect(await explain('team-a/colors-synced')).toMatchObject({
      code: 0,
      title: 'home/colors → team-a/colors-synced',
      end: 'in sync',
    });
    expect(await explain('team-b/colors-synced')).toMatchObject({
      code: 1,
      title: 'home/colors → team-b/colors-synced',
      check: 'no target nothing in the target annotations matches team-b',
    });
    expect(await explain('team-a/gone-synced')).toEqual({
      code: 1,
      title: 'home/gone → team-a/gone-synced',
      check: 'no label there is no ConfigMap gone in namespace home',
      end: 'orphaned: the source is gone; the controller would delete it',
    });
    const wide = await ask(world, ['explain', world.full('home/colors')]);
    expect(wide).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--namespace') });
  });

  test.concurrent('[C8] a name without a namespace that the context lacks is in that of -n, as with kubectl', async () => {
    await using world = await World.open(server, ['team-a']);
    await world.createSource({ name: 'there' });
    await world.createSource({ name: 'wide', asks: { 'target-namespaces': world.full('team-a') } });
    await world.run('--once');
    const explain = async (name: string, namespace: string) => {
      const { code, out, err } = await ask(world, ['explain', name, '-n', world.full(namespace)]);
      return { code, title: short(world, out).split('\n')[0], err: short(world, err) };
    };
    for (const name of ['there', 'there-synced']) {
      const title = 'home/there → home/there-synced';
      expect(await explain(name, 'home')).toEqual({ code: 0, title, err: '' });
    }
    expect(await explain('wide', 'home')).toMatchObject({
      code: 2,
      err: expect.stringContaining('\n  mirror-controller explain home/wide --namespace team-a\n'),
    });
    expect(await explain('nowhere', 'home')).toEqual({
      code: 1,
      title: 'home/nowhere → no companion',
      err: '',
    });
  });

  test.concurrent('[C8] of a companion and another namespace: explain asks about its source there', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    await world.run('--once');
    const key = world.full('team-a/colors-synced');
    const { code, out } = await ask(world, ['explain', key, '-n', world.full('team-b')]);
    expect(code).toBe(1);
    expect(short(world, out)).toMatch(/^home\/colors → team-b\/colors-synced\n/);
    expect(out).toMatch(/^ {2}no +target/m);
  });

  test.concurrent('[C8] the companion of an invalid source: explain says that it is invalid, not that there is none', async () => {
    await using world = await World.open(server, ['team-a']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    await world.run('--once');
    await world.ask('home/colors', { 'deletion-policy': 'keep' });
    for (const [args, title] of [
      [['home/colors', 'team-a'], 'home/colors → team-a/colors-synced'],
      [['team-a/colors-synced'], 'home/colors → team-a/colors-synced'],
      [['home/colors'], 'home/colors → its companions'],
    ] as const) {
      const [name, target] = args;
      const where = target === undefined ? [] : ['-n', world.full(target)];
      const { code, out } = await ask(world, ['explain', world.full(name), ...where]);
      expect(code).toBe(1);
      expect(short(world, out)).toMatch(new RegExp(`^${title}\n`));
      expect(short(world, out)).toMatch(/^invalid: workshop.io\/deletion-policy: /m);
    }
  });

  test.concurrent('[C8] explain advises nobody to make a source of a revision, of values or of a lost companion', async () => {
    await using world = await World.open(server);
    await world.createSource({
      asks: { 'keep-revisions': '1', 'render-keys': 'sky', 'values-from': 'options' },
      data: { sky: '$(mirror.value.title)' },
    });
    const labelled = (name: string, managed: string) =>
      world.person.create({
        metadata: { name, namespace: world.full('home'), labels: world.ours({ managed }) },
        data: { title: 'blue' },
      });
    await labelled('options', 'values');
    await labelled('unused', 'values');
    await labelled('lost', 'companion');
    await world.run('--once');
    const keys = await world.managed('home');
    const revision = keys.find((key) => key.includes('-rev-')) ?? expect.fail(keys.join());
    const explain = async (key: string) => {
      const { out, err } = await ask(world, ['explain', world.full(key)]);
      expect(out).not.toContain('kubectl label');
      return short(world, out + err);
    };
    expect(await explain(`home/${revision.split('/').at(-1)}`)).toContain(
      'it keeps an earlier content of home/colors\nSee mirror-controller history home/colors\n',
    );
    expect(await explain('home/options')).toContain('\nAsk about a source that uses it: home/colors.\n');
    expect(await explain('home/unused')).toContain(
      '\nNo source uses a text of it. workshop.io/values-from alone, without a placeholder, does not.\n',
    );
    expect(await explain('home/lost')).toContain('The controller leaves it alone.');
  });

  test.concurrent('[C8] of a namespace that the flags forbid: no advice to target it', async () => {
    await using world = await World.open(server);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    const { code, out } = await ask(world, ['explain', world.full('home/colors'), '-n', 'kube-system']);
    expect(code).toBe(1);
    expect(out).toMatch(
      /no +target +nothing in the target annotations matches kube-system, and the namespace is/,
    );
    expect(out).not.toContain('kubectl annotate');
  });

  test.concurrent('[D5] status and explain say that companions in sync are pinned', async () => {
    await using world = await World.open(server);
    await world.createSource({ asks: { 'keep-revisions': '1' } });
    await world.run('--once');
    const { checksum = '' } = JSON.parse(
      (await ask(world, ['history', world.full('home/colors'), '-o', 'json'])).out,
    )[0];
    const pin = checksum.slice(0, 8);
    await world.ask('home/colors', { pin });
    await world.run('--once');
    const { out } = await ask(world, ['explain', world.full('home/colors')]);
    expect(out).toContain(`as the source wants it: it is pinned to ${pin}\n`);
    const status = await ask(world, ['status', world.full('home/colors')]);
    expect(status.out).toMatch(new RegExp(`in sync +pinned to ${pin}\n`));
  });

  test.concurrent('[D4] [C3] a ConfigMap that has the name of a revision: status, plan and explain say that it is in the way', async () => {
    await using world = await World.open(server);
    await world.createSource({ asks: { 'keep-revisions': '1' } });
    await world.run('--once');
    await world.person.patch(world.full('home/colors'), { data: { sky: 'red' } });
    const history = await ask(world, ['history', world.full('home/colors'), '-o', 'json']);
    const name = `colors-rev-${JSON.parse(history.out)[0].checksum.slice(0, 8)}`;
    await world.person.create({ metadata: { name, namespace: world.full('home') }, data: {} });
    const why = `ConfigMap home/${name} exists and is not a revision of the source, so companions stay as they are`;
    const { code, rows } = await rowsOf(world, 'status', world.full('home/colors'), '--check');
    expect(code).toBe(1);
    expect(inWords(rows).map((row) => short(world, row))).toEqual([
      `home/colors → home/colors-synced: conflict, none; ${why}`,
    ]);
    expect(await ask(world, ['plan', '-n', world.full('home')])).toMatchObject({ code: 0 });
    const { out } = await ask(world, ['explain', world.full('home/colors')]);
    expect(short(world, out)).toMatch(`  no   content       ${why}\n\nconflict: ${why}\nDelete `);
    await world.person.delete(world.full(`home/${name}`));
    await world.run('--once');
    expect(await ask(world, ['explain', world.full('home/colors')])).toMatchObject({ code: 0 });
  });

  test.concurrent('[D7] [C3] content that waits for quiet: status, plan and explain say until when', async () => {
    await using world = await World.open(server);
    await world.createSource({ asks: { settle: '1h' } });
    await world.run('--once');
    await world.person.patch(world.full('home/colors'), { data: { sky: 'red' } });
    const status = await ask(world, ['status', world.full('home/colors')]);
    expect(status.out).toMatch(
      /waiting +its content waits until the source has been quiet .*, until 20\d\d-/,
    );
    expect(await ask(world, ['plan', '-n', world.full('home')])).toMatchObject({ code: 0 });
    const { out } = await ask(world, ['explain', world.full('home/colors')]);
    expect(out).toMatch(/^ {2}no +content +its content waits/m);
    expect(out).toMatch(/^waiting: .*until 20\d\d-/m);
    const command = out.match(/^To change that:\n {2}(.*)$/m)?.[1];
    await carryOut(command ?? expect.fail(out), world);
    await world.run('--once');
    expect(await ask(world, ['explain', world.full('home/colors')])).toMatchObject({ code: 0 });
  });
}

/** Does what a person does who pastes the command. */
async function carryOut(pasted: string, world: World): Promise<void> {
  const repeated = repeatedScope(world);
  if (pasted === `mirror-controller run --once${repeated.ours}`) {
    await world.run('--once');
    return;
  }
  const command = pasted.replace(repeated.kubectl, '');
  if (command === pasted) expect.fail(`a command for another cluster: ${pasted}`);
  const created = /^kubectl create namespace (\S+)$/.exec(command)?.[1];
  if (created !== undefined) {
    await world.person.createNamespace(created);
    return;
  }
  const [, verb, kind, name = '', namespace = '', entry = ''] =
    /^kubectl (label|annotate) (\w+) (\S+)(?: --namespace (\S+))? --overwrite (.+)$/.exec(command) ??
    expect.fail(`not a command that this test knows: ${command}`);
  const [key = '', value] = entry.includes('=') ? entry.split(/=(.*)/) : [entry.slice(0, -1)];
  const entries = { [key]: value?.replace(/^'(.*)'$/, '$1') ?? null };
  const patch = { metadata: verb === 'label' ? { labels: entries } : { annotations: entries } };
  if (kind === 'namespace') await world.person.patchNamespace(name, patch);
  else await world.person.patch(`${namespace}/${name}`, patch);
}
