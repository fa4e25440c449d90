import { expect, test } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import type { TestServer } from '../support/servers/server.ts';
import { World } from './world.ts';

/** The longest and strangest ConfigMaps that an API server accepts. */
export function badInputSuite(server: TestServer): void {
  const nameOf = (length: number) => 'n'.repeat(length);

  test.concurrent('[R13] a name of 246 characters leaves room for -synced', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({ name: nameOf(246) });
    await world.companion(`home/${nameOf(246)}-synced`, `home/${nameOf(246)}`);
  });

  for (const length of [247, 253]) {
    test.concurrent(`[R13] a name of ${length} characters does not, which is reported once; another companion name fixes it`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      const key = `home/${nameOf(length)}`;
      await world.createSource({ name: nameOf(length) });
      await world.person.patch(world.full(key), { data: { sky: 'grey' } });
      await world.settle(controller);
      expect(await world.managed('home')).toEqual([key]);
      expect(controller.log.told.filter(({ level }) => level === 'warn')).toEqual([
        expect.objectContaining({
          source: world.full(key),
          reason: expect.stringContaining(`would have ${length + 7} characters, and at most 253 are allowed`),
        }),
      ]);
      await world.ask(key, { 'companion-name': 'short' });
      await world.companion('home/short', key);
    });
  }

  const MEBIBYTE = 1_048_576;
  test.concurrent('[M3] 1 MiB of data is copied', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({ data: { big: 'x'.repeat(MEBIBYTE - 100), small: 'y'.repeat(90) } });
    await world.companion('home/colors-synced', 'home/colors');
  });

  test.concurrent('[M3] 1 MiB of binaryData is copied', async () => {
    await using world = await World.open(server);
    world.start();
    const blob = Buffer.alloc(MEBIBYTE, 0xff).toString('base64');
    await world.createSource({ data: {}, binaryData: { blob } });
    await world.companion('home/colors-synced', 'home/colors');
  });

  test.concurrent('[R13] content too large for one request is reported once, and waits for a change', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    const asks = { 'target-namespaces': world.full('team-a') };
    // A control character takes six bytes of JSON, so two edits can exceed one request's 3 MiB.
    await world.createSource({ asks, data: { one: '\u0001'.repeat(400_000) } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.createSource({ name: 'other', asks });
    await controller.stop();
    await world.person.delete(world.full('team-a/colors-synced'));
    await world.person.patch(world.full('home/colors'), { data: { two: '\u0001'.repeat(400_000) } });
    const next = world.start();
    await world.companion('team-a/other-synced', 'home/other');
    await world.settle(next, { namespaces: true });
    expect(await world.configMap('team-a/colors-synced')).toBeUndefined();
    expect(next.log.told.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({ message: 'companion cannot be written', source: world.full('home/colors') }),
    ]);
    await world.person.patch(world.full('home/colors'), { data: { two: null } });
    await world.companion('team-a/colors-synced', 'home/colors');
  });

  const contents: Record<string, Pick<ConfigMap, 'data' | 'binaryData'>> = {
    'no data at all': {},
    'empty data': { data: {}, binaryData: {} },
    'only binaryData': { data: {}, binaryData: { 'a.bin': 'AP8=' } },
    'keys with dots, dashes and underscores': {
      data: { '.hidden': '1', '-': '2', _: '3', 'a..b': '4', '0': '5' },
    },
    'keys that are names of JavaScript’s own': {
      data: JSON.parse('{"constructor":"b","hasOwnProperty":"c","toString":"d"}'),
      binaryData: JSON.parse('{"valueOf":"AA=="}'),
    },
    unicode: { data: { text: 'ü 漢字 \u{1f3a8} e\u0301 \u2028\u0000 \ufeff', more: '\ud83c\udfa8' } },
    'values that look like something else': {
      data: { yes: 'true', nil: 'null', number: '1e3', nothing: '' },
    },
  };
  for (const [what, content] of Object.entries(contents)) {
    test.concurrent(`[M3] ${what} is copied, and kept`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      const { domain } = world;
      await world.person.create({
        metadata: {
          name: 'colors',
          namespace: world.full('home'),
          labels: { [`${domain}/managed`]: 'true' },
        },
        ...content,
      });
      const companion = await world.companion('home/colors-synced', 'home/colors');
      await world.settle(controller);
      expect(await world.configMap('home/colors-synced')).toEqual(companion);
      await world.person.patch(world.full('home/colors-synced'), { data: { tampered: 'yes' } });
      await world.companion('home/colors-synced', 'home/colors');
    });
  }

  const proto = { data: JSON.parse('{"__proto__":"a"}') };
  test.concurrent('[M3] the key __proto__ is copied', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource(proto);
    await world.companion('home/colors-synced', 'home/colors');
  });

  test.concurrent('[M5] the key __proto__ is healed', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource(proto);
    await world.companion('home/colors-synced', 'home/colors');
    await world.person.patch(world.full('home/colors-synced'), { data: { tampered: 'yes' } });
    await world.companion('home/colors-synced', 'home/colors');
  });

  test.concurrent('[M3] a key that moves between data and binaryData moves in the companion too', async () => {
    await using world = await World.open(server);
    world.start();
    const key = world.full('home/colors');
    await world.createSource({ data: { moves: 'AAAA', stays: 'here' } });
    await world.companion('home/colors-synced', 'home/colors');
    await world.person.patch(key, { data: { moves: null }, binaryData: { moves: 'AAAA' } });
    await world.companion('home/colors-synced', 'home/colors');
    await world.person.patch(key, { data: { moves: 'AAAA' }, binaryData: null });
    await world.companion('home/colors-synced', 'home/colors');
  });
}
