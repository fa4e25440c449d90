import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../controller/fast-clock.ts';
import { Person } from '../controller/person.ts';
import { startController } from '../controller/running-controller.ts';
import { waitFor } from '../support/wait-for.ts';

async function startSandbox(port = 0): Promise<Sandbox> {
  const sandbox = createSandbox({ now: () => new Date(), uid: randomUUID });
  await sandbox.start(port);
  return sandbox;
}

const source = (name: string, sky: string) => ({
  metadata: { namespace: 'default', name, labels: { 'workshop.io/managed': 'true' } },
  data: { sky },
});

test('[W6] a sandbox that starts again on the same port is mirrored, without a restart of the controller', async () => {
  const first = await startSandbox();
  const cluster = { server: first.url, context: 'sandbox' };
  await using person = new Person(cluster);
  const companionIs = (name: string, sky: string) =>
    waitFor(async () => (await person.configMap(`default/${name}-synced`))?.data?.['sky'] === sky, {
      deadlineMs: 30_000,
    });
  for (let number = 0; number < 10; number++) await person.create(source(`old-${number}`, 'blue'));
  // The backoff after the connection is cut takes a fraction of a second.
  await using controller = startController(cluster, {}, fastClock(10));
  for (let number = 0; number < 10; number++) await companionIs(`old-${number}`, 'blue');
  await first.stop();

  const second = await startSandbox(Number(new URL(first.url).port));
  try {
    await person.create(source('old-0', 'red'));
    await person.create(source('new', 'green'));
    await companionIs('old-0', 'red');
    await companionIs('new', 'green');
    await person.patch('default/old-0', { data: { sky: 'grey' } });
    await companionIs('old-0', 'grey');
    await waitFor(() => controller.isSettled());
    const companions = await person.configMaps('default', 'workshop.io/managed=companion');
    expect(companions.map(({ metadata }) => metadata.name).sort()).toEqual(['new-synced', 'old-0-synced']);
  } finally {
    await controller.stop();
    await second.stop();
  }
});
