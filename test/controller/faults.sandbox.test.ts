import { describe, expect, test } from 'vitest';
import type { RequestMatch } from '../support/fault-proxy-rules.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { fastClock } from './fast-clock.ts';
import { faultsSuite } from './faults.suite.ts';
import { Trouble } from './trouble.ts';

describe('between the controller and the sandbox', () => faultsSuite(sandboxServer));

test.concurrent('[R16] reads are answered while as many writes as there may be get no answer', async () => {
  await using trouble = await Trouble.open(sandboxServer, { speed: 1 });
  const { world, proxy } = trouble;
  await trouble.controller.stop();
  const rule = proxy.inject({ match: { method: 'POST' }, fault: { kind: 'no-answer' } });
  const names = Array.from({ length: 8 }, (_, number) => `many-${number}`);
  for (const name of names) await world.createNamespace(name);
  world.start({ 'max-writes-in-flight': '1' }, { clock: fastClock(1), cluster: { server: proxy.url } });
  await world.createSource({ name: 'wide', asks: { 'target-namespaces': world.full('many-*') } });
  await waitFor(() => rule.hits() === 8, { deadlineMs: 15_000 });
  await world.person.delete(world.full('home/doomed'));
  await waitFor(
    () => proxy.requests.some(({ method, path }) => method === 'GET' && path.endsWith('/configmaps/doomed')),
    { deadlineMs: 10_000 },
  );
});

/** These depend on the proxy alone, so that one server is enough. */
describe('a list that fails or comes late', () => {
  for (const [kind, path] of [
    ['ConfigMaps', /\/configmaps\?/],
    ['Namespaces', /\/namespaces\?/],
  ] as const) {
    test.concurrent(`[C4] the controller does not wait indefinitely for ${kind} that it may not list, and reports them`, async () => {
      await using trouble = await Trouble.open(sandboxServer, { speed: 20 });
      const { world, proxy } = trouble;
      await trouble.controller.stop();
      const rule = proxy.inject({ match: { method: 'GET', path }, fault: { kind: 'status', code: 403 } });
      const controller = trouble.startAnother();
      await waitFor(() => controller.isSettled(), { describe: () => world.whatWasLogged() });
      expect(controller.unfinished()).toEqual([`the list of ${kind}`]);
      expect(rule.hits()).toBeGreaterThanOrEqual(5);
      rule.remove();
      await waitFor(() => controller.unfinished().length === 0 && controller.isSettled());
    });
  }

  test.concurrent('[R5] [R8] a reference that was edited while the controller was down is healed, although Namespaces come late', async () => {
    await using trouble = await Trouble.open(sandboxServer, { speed: 1 });
    const { world, proxy } = trouble;
    await trouble.controller.stop();
    const before = await world.configMap('team-a/colors-synced');
    await world.person.patch(world.full('team-a/colors-synced'), {
      metadata: { annotations: world.ours({ source: world.full('home/vanished') }) },
    });
    const namespaces: RequestMatch = { method: 'GET', path: /\/namespaces\?/ };
    proxy.inject({ match: namespaces, fault: { kind: 'delay', ms: 500 } });
    trouble.startAnother();
    const healed = await world.companion('team-a/colors-synced', 'home/colors');
    expect(healed.metadata.uid).toBe(before?.metadata.uid);
  });
});
