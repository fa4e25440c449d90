import { expect, test } from 'vitest';
import type { LogLine } from '../informer/recorded-log.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import type { Fault, RequestMatch } from '../support/fault-proxy-rules.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { Trouble } from './trouble.ts';

// Not of Events, which come and go beside them.
const WRITES: RequestMatch = { method: ['POST', 'PUT', 'PATCH', 'DELETE'], path: /\/configmaps/ };
const CREATES: RequestMatch = { method: 'POST', path: /\/configmaps/ };
const CONFIG_MAP_WATCH: RequestMatch = { path: /\/configmaps\?/, watch: true };

/** Faults between controller and server. Each ends in the right state, without harm to others. */
export function faultsSuite(server: TestServer): void {
  const writeFaults: Record<string, { fault: Fault; says?: string }> = {
    'is answered 409': { fault: { kind: 'status', code: 409 } },
    'is answered 429 with Retry-After': {
      fault: { kind: 'status', code: 429, retryAfterSeconds: 1 },
      says: 'the API server is failing; retrying',
    },
    'is answered 500': { fault: { kind: 'status', code: 500 }, says: 'the API server is failing; retrying' },
    'is answered 503': { fault: { kind: 'status', code: 503 }, says: 'the API server is failing; retrying' },
    'is answered 504': { fault: { kind: 'status', code: 504 }, says: 'the API server is failing; retrying' },
    'is answered 403': { fault: { kind: 'status', code: 403 }, says: 'companion cannot be written' },
    'meets a reset connection': { fault: { kind: 'reset' }, says: 'the API server is failing; retrying' },
    'loses its reply': { fault: { kind: 'lost-reply' }, says: 'the API server is failing; retrying' },
    'is slow': { fault: { kind: 'delay', ms: 100 } },
  };
  for (const [what, { fault, says }] of Object.entries(writeFaults)) {
    test.concurrent(`[R2] [R15] a write that ${what} succeeds in the end`, async () => {
      await using trouble = await Trouble.open(server);
      const rule = trouble.proxy.inject({ match: WRITES, fault, times: 8 });
      await trouble.happen();
      await trouble.comesTrue();
      expect(rule.hits()).toBeGreaterThanOrEqual(3);
      expect(trouble.controller.log.told.filter(({ level }) => level === 'error')).toEqual([]);
      if (says === undefined) expect(trouble.told()).not.toContain('the API server is failing; retrying');
      else expect(trouble.told()).toEqual(expect.arrayContaining([says, 'resolved']));
    });
  }

  test.concurrent('[R2] a write without an answer is repeated after 30 s', async () => {
    await using trouble = await Trouble.open(server, { speed: 50 });
    const rule = trouble.proxy.inject({ match: WRITES, fault: { kind: 'no-answer' }, times: 2 });
    await trouble.happen();
    await trouble.comesTrue();
    expect(rule.hits()).toBe(2);
  });

  test.concurrent('[R9] writes without an answer hold back no other companion', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const { world, proxy } = trouble;
    const names = Array.from({ length: 40 }, (_, number) => `many-${number}`);
    for (const name of names) await world.createNamespace(name);
    // The newest namespaces come first: the first writes of the fan-out get no answer.
    const path = new RegExp(`/${world.full('many-3[6-9]')}/`);
    const rule = proxy.inject({ match: { method: 'POST', path }, fault: { kind: 'no-answer' } });
    await world.createSource({ name: 'wide', asks: { 'target-namespaces': world.full('many-*') } });
    for (const name of names.slice(0, -4)) await world.companion(`${name}/wide-synced`, 'home/wide');
    expect(rule.hits()).toBe(4);
    expect(await world.managed(...names.slice(-4))).toEqual([]);
  });

  test.concurrent('[R16] a write without an answer holds up neither later edits of its source nor an edit of another', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const { world, proxy } = trouble;
    const path = new RegExp(`/${world.full('team-b')}/`);
    const rule = proxy.inject({ match: { method: 'PATCH', path }, fault: { kind: 'no-answer' } });
    for (const sky of ['green', 'grey', 'pink']) {
      await world.person.patch(world.full('home/colors'), { data: { sky } });
      await world.companion('team-a/colors-synced', 'home/colors');
    }
    expect(rule.hits()).toBe(1);
    await trouble.createSource('late');
    await world.companion('team-a/late-synced', 'home/late');
  });

  test.concurrent('[R16] the companion of a write without an answer is written again after the time limit', async () => {
    await using trouble = await Trouble.open(server, { speed: 50 });
    const { world, proxy } = trouble;
    const path = new RegExp(`/${world.full('team-b')}/`);
    proxy.inject({ match: { method: 'PATCH', path }, fault: { kind: 'no-answer' }, times: 1 });
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.person.patch(world.full('home/colors'), { data: { sky: 'pink' } });
    await trouble.follows('colors');
  });

  test.concurrent('[R16] 64 sources whose writes hang do not slow down edits of others', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const { world, proxy } = trouble;
    await world.createNamespace('silent');
    const rule = proxy.inject({
      match: { method: 'POST', path: new RegExp(`/${world.full('silent')}/`) },
      fault: { kind: 'no-answer' },
    });
    const asks = { 'target-namespaces': world.full('silent') };
    const hung = Array.from({ length: 64 }, (_, number) => `hung-${number}`);
    await Promise.all(hung.map((name) => world.createSource({ name, asks })));
    await waitFor(() => rule.hits() === 64);
    for (let number = 0; number < 20; number++) {
      await world.person.patch(world.full('home/colors'), { data: { sky: `${number}` } });
      await world.companion('team-a/colors-synced', 'home/colors');
    }
    // None of the 64 was given up meanwhile: that would be seen in a second attempt.
    expect(rule.hits()).toBe(64);
  });

  test.concurrent('[R15] an outage is reported once, and retries get rarer', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const fault: Fault = { kind: 'status', code: 500 };
    const rule = trouble.proxy.inject({ match: CREATES, fault });
    await trouble.createSource('late');
    await waitFor(() => rule.hits() >= 3 * 7, { deadlineMs: 20_000 });
    rule.remove();
    await trouble.follows('late');
    const tries = trouble.proxy.requests
      .filter((request) => request.fault === 'status' && request.path.includes('team-a'))
      .map(({ at }) => at);
    const gaps = tries.slice(1).map((at, index) => at - (tries[index] ?? at));
    // After six failures between a half and the whole of 50 ms * 2^5.
    expect(gaps[5]).toBeGreaterThanOrEqual(790);
    const outages = trouble.controller.log.told.filter(
      ({ message }) => message === 'the API server is failing; retrying',
    );
    expect(outages).toHaveLength(1);
  });

  test.concurrent('[R15] Retry-After is obeyed', async () => {
    await using trouble = await Trouble.open(server);
    const fault: Fault = { kind: 'status', code: 429, retryAfterSeconds: 5 };
    trouble.proxy.inject({ match: CREATES, fault, times: 1 });
    await trouble.createSource('late');
    // Ignore requests that were sent before the refusal came.
    await waitFor(() => trouble.told().includes('the API server is failing; retrying'));
    const heardAt = performance.now();
    await trouble.createSource('later');
    await trouble.follows('late', 'later');
    const posts = trouble.proxy.requests.filter(
      ({ method, path }) => method === 'POST' && path.includes('/configmaps'),
    );
    const refused = posts.find((request) => request.fault !== undefined);
    const next = posts.find(({ at }) => at > heardAt);
    // 5 s on the controller's clock.
    expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(490);
  });

  const KEPT = { labels: { team: 'x' }, annotations: { note: 'mine' } };
  async function openWithImmutable(): Promise<Trouble> {
    const trouble = await Trouble.open(server);
    const { world, controller } = trouble;
    await world.person.patch(world.full('team-a/colors-synced'), { metadata: KEPT, immutable: true });
    await world.settle(controller, { namespaces: true });
    return trouble;
  }

  const halfReplaced: Record<string, { method: string; fault: Fault }> = {
    'the delete loses its reply': { method: 'DELETE', fault: { kind: 'lost-reply' } },
    'the create is answered 500': { method: 'POST', fault: { kind: 'status', code: 500 } },
    'the create is refused after all': { method: 'POST', fault: { kind: 'status', code: 403 } },
    'the create loses its reply': { method: 'POST', fault: { kind: 'lost-reply' } },
  };
  for (const [what, { method, fault }] of Object.entries(halfReplaced)) {
    test.concurrent(`[R12] what others put on an immutable companion is kept if ${what}`, async () => {
      await using trouble = await openWithImmutable();
      const { world, proxy } = trouble;
      const rule = proxy.inject({ match: { method, path: /\/configmaps/ }, fault, times: 2 });
      await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
      await world.companion('team-a/colors-synced', 'home/colors', KEPT);
      expect(rule.hits()).toBeGreaterThan(0);
      // Nor does it come back later, when it is nobody's any more.
      await world.settle(trouble.controller, { namespaces: true });
      await world.person.delete(world.full('team-a/colors-synced'));
      await world.companion('team-a/colors-synced', 'home/colors');
    });
  }

  const status = (code: number) => ({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: code === 410 ? 'Expired' : 'InternalError',
    message: 'etcdserver: something',
    code,
  });
  const errorEvent = (code: number) => JSON.stringify({ type: 'ERROR', object: status(code) });
  const watchFaults: Record<string, Fault> = {
    'is answered 410': { kind: 'status', code: 410 },
    'is answered 429 with Retry-After': { kind: 'status', code: 429, retryAfterSeconds: 1 },
    'is answered 500': { kind: 'status', code: 500 },
    'is answered 503': { kind: 'status', code: 503 },
    'meets a reset connection': { kind: 'reset' },
    'is cut at once': { kind: 'cut', afterBytes: 0 },
    'is cut in the middle of a line': { kind: 'cut', afterBytes: 100 },
    'ends with half a line': { kind: 'truncated-line', line: 1 },
    'brings the ERROR 410': { kind: 'replaced-line', line: 1, text: errorEvent(410) },
    'brings the ERROR 500': { kind: 'replaced-line', line: 1, text: errorEvent(500) },
    'brings a line that is no JSON': { kind: 'replaced-line', line: 1, text: '<html>' },
    'brings an event without an object': { kind: 'replaced-line', line: 1, text: '{"type":"ADDED"}' },
  };
  for (const [what, fault] of Object.entries(watchFaults)) {
    test.concurrent(`[W3] a watch that ${what} is resumed`, async () => {
      await using trouble = await Trouble.open(server);
      const rule = trouble.proxy.inject({ match: CONFIG_MAP_WATCH, fault, times: 2 });
      trouble.proxy.cutOpenReplies();
      await trouble.happen();
      await trouble.comesTrue();
      expect(rule.hits()).toBe(2);
      expect(trouble.controller.log.told.filter(({ level }) => level === 'error')).toEqual([]);
      expect(trouble.told()).toContain('watch failed, retrying');
    });
  }

  const outages: Record<
    string,
    /** Without `end` it ends by itself. `met` finds the log line that shows that it occurred. */
    {
      begin: (proxy: FaultProxy) => unknown;
      end?: (proxy: FaultProxy) => unknown;
      met?: (line: LogLine) => boolean;
    }
  > = {
    'every stream falls silent': {
      begin: (proxy) => proxy.silenceOpenReplies(),
      met: (line) => line.message === 'reconnecting' && line['ending'] === 'silent',
    },
    'nobody listens': {
      begin: (proxy) => proxy.refuseConnections(),
      end: (proxy) => proxy.acceptConnections(),
    },
    'every request is refused with 500': {
      begin: (proxy) => {
        proxy.inject({ fault: { kind: 'status', code: 500 } });
        proxy.cutOpenReplies();
      },
      end: (proxy) => proxy.heal(),
    },
    'no request is answered': {
      begin: (proxy) => {
        proxy.inject({ fault: { kind: 'no-answer' } });
        proxy.cutOpenReplies();
      },
      end: (proxy) => proxy.heal(),
    },
  };
  for (const [what, { begin, end, met }] of Object.entries(outages)) {
    test.concurrent(`[W3] [R15] the controller recovers from an outage in which ${what}`, async () => {
      await using trouble = await Trouble.open(server, { speed: 50 });
      await begin(trouble.proxy);
      await trouble.happen();
      const failures = () =>
        trouble.controller.log.lines.filter(({ message }) => message === 'watch failed, retrying');
      if (end !== undefined) {
        await waitFor(() => failures().length >= 6, { deadlineMs: 20_000 });
        await end(trouble.proxy);
      }
      await trouble.comesTrue();
      if (met !== undefined) expect(trouble.controller.log.lines.some(met)).toBe(true);
      expect(trouble.controller.log.told.filter(({ level }) => level === 'error')).toEqual([]);
    });
  }

  test.concurrent('[W2] a server that does not know sendInitialEvents is listed in pages', async () => {
    await using trouble = await Trouble.open(server, {
      prepare: (proxy) =>
        proxy.inject({ match: { path: /sendInitialEvents/ }, fault: { kind: 'status', code: 422 } }),
    });
    trouble.proxy.inject({ match: CONFIG_MAP_WATCH, fault: { kind: 'status', code: 410 }, times: 1 });
    trouble.proxy.cutOpenReplies();
    await trouble.happen();
    await trouble.comesTrue();
    expect(trouble.proxy.requests.some(({ path }) => path.includes('limit='))).toBe(true);
    expect(trouble.told()).toContain('the server does not stream lists; listing in pages from now on');
  });

  test.concurrent('[W1] a settled controller makes no request, whatever happens to unrelated ConfigMaps', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const { world, proxy } = trouble;
    const before = proxy.requests.length;
    for (let number = 0; number < 20; number += 1) {
      await world.person.create({ metadata: { namespace: world.full('home'), name: `unrelated-${number}` } });
    }
    await world.createNamespace('unrelated');
    await world.settle(trouble.controller);
    // An Event of the start may be late.
    const barrier = proxy.requests.slice(before).filter(({ path }) => !path.includes('/events'));
    expect(barrier.filter(({ path }) => !path.includes('/barrier-synced'))).toEqual([]);
    expect(barrier).toHaveLength(1);
  });

  test.concurrent('[Q3] a stop waits for the writes in flight, and begins no others', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const { world, proxy, controller } = trouble;
    const rule = proxy.inject({ match: CREATES, fault: { kind: 'delay', ms: 500 } });
    await trouble.createSource('late');
    await waitFor(() => rule.hits() === 3);
    await controller.stop();
    await trouble.follows('late');
    const after = proxy.requests.length;
    await world.person.delete(world.full('team-a/late-synced'));
    expect(await world.managed('team-a')).not.toContain('team-a/late-synced');
    expect(proxy.requests.length).toBe(after);
  });

  test.concurrent('[O3] Events that get no answer hold up no companion, and a stop does not wait for them', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const { world, proxy, controller } = trouble;
    const rule = proxy.inject({ match: { path: /\/events/ }, fault: { kind: 'no-answer' } });
    const names = Array.from({ length: 20 }, (_, number) => `late-${number}`);
    for (const name of names) await trouble.createSource(name);
    await trouble.follows(...names);
    await waitFor(() => rule.hits() >= 1);
    await world.person.delete(world.full('team-a/colors-synced'));
    await world.companion('team-a/colors-synced', 'home/colors');
    await controller.stop();
    expect(rule.hits()).toBeLessThan(names.length);
  });

  test.concurrent('[O3] Events that are refused are reported once, with the right that is missing', async () => {
    await using trouble = await Trouble.open(server, { speed: 1 });
    const { proxy, controller } = trouble;
    const rule = proxy.inject({ match: { path: /\/events/ }, fault: { kind: 'status', code: 403 } });
    await trouble.createSource('late');
    await trouble.createSource('later');
    await trouble.follows('late', 'later');
    await waitFor(() => rule.hits() >= 2);
    const warnings = controller.log.told.filter(({ message }) => message.startsWith('Events cannot'));
    expect(warnings).toMatchObject([{ level: 'warn', right: 'create events.events.k8s.io' }]);
  });
}
