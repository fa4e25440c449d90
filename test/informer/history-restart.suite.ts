import { expect, test } from 'vitest';
import { fastClock } from '../controller/fast-clock.ts';
import { Person } from '../controller/person.ts';
import { startController } from '../controller/running-controller.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';

/** Writes that put the server's revision well ahead of that of a new one. */
const AHEAD = 300;

const source = (name: string, sky: string) => ({
  metadata: { namespace: 'default', name, labels: { 'workshop.io/managed': 'true' } },
  data: { sky },
});

export function historyRestartSuite(server: TestServer): void {
  test('[W6] a server whose history starts over is mirrored without a restart of the controller', async () => {
    await using place = await server.openOwn();
    await using person = new Person(place.cluster);
    for (let number = 0; number < AHEAD; number++) {
      await person.create({ metadata: { namespace: 'default', name: `ahead-${number}` } });
    }
    const companionIs = (name: string, sky: string) =>
      waitFor(async () => (await person.configMap(`default/${name}-synced`))?.data?.['sky'] === sky, {
        deadlineMs: 30_000,
        describe: () => controller.log.told.map((line) => JSON.stringify(line)).join('\n'),
      });
    const old = Array.from({ length: 10 }, (_, number) => `old-${number}`);
    // The backoff after the connection is cut takes a fraction of a second.
    await using controller = startController(place.cluster, {}, fastClock(10));
    for (const name of old) await person.create(source(name, 'blue'));
    for (const name of old) await companionIs(name, 'blue');

    await place.startOver();
    await person.create(source('old-0', 'red'));
    await person.create(source('new', 'green'));
    await companionIs('old-0', 'red');
    await companionIs('new', 'green');
    await person.patch('default/old-0', { data: { sky: 'grey' } });
    await companionIs('old-0', 'grey');
    await waitFor(() => controller.isSettled());
    const companions = await person.configMaps('default', 'workshop.io/managed=companion');
    expect(companions.map(({ metadata }) => metadata.name).sort()).toEqual(['new-synced', 'old-0-synced']);
    expect(controller.log.told).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: "the API server's history started over; listing everything again",
      }),
    );
  });
}
