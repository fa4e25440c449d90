import { expect, test } from 'vitest';
import { systemClock } from '../../../src/clock/clock.ts';
import { createNamespacePoll } from '../../../src/kube/api/namespace-poll.ts';
import { startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';

test.each(['<html>sign in</html>', '{}', '{"kind":"Status","status":"Success","metadata":{}}'])(
  '[W3] a Namespace that is something else is MALFORMED: %s',
  async (body) => {
    const server = await startServer((_request, response) => response.end(body));
    const { transport } = openTransport({ server: server.url });
    const { list } = createNamespacePoll(transport, 'team-a', systemClock);
    const never = new AbortController().signal;
    expect(await failureOf(list({ limit: 1 }, never))).toMatchObject({
      name: 'NetworkError',
      code: 'MALFORMED',
    });
  },
);
