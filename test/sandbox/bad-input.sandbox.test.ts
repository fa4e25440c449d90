import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Answer, CONFIGMAPS, JSON_TYPE, useSandbox } from './client.ts';

const client = useSandbox();
const { request, create } = client;

describe('[B1] bad input is answered, and the server goes on', () => {
  test.each([
    ['GET', '/%zz', 400],
    ['GET', '/api/v1/namespaces/default/configmaps/%E0%A4%A', 400],
    ['GET', '//api//v1//namespaces//', 200],
    ['GET', `/api/v1/namespaces/default/configmaps/${'x'.repeat(4000)}`, 404],
    ['GET', '/api/v1/namespaces/default/configmaps/constructor', 404],
    ['GET', '/api/v1/namespaces/__proto__/configmaps', 200],
    ['GET', '/apis/constructor/v1', 404],
    ['GET', `${CONFIGMAPS}?labelSelector=${'a'.repeat(5000)}`, 400],
    ['GET', `${CONFIGMAPS}?limit=99999999999999999999`, 200],
    ['GET', `${CONFIGMAPS}?continue=%00`, 400],
    ['TRACE', CONFIGMAPS, 405],
    ['PROPFIND', CONFIGMAPS, 405],
  ])('%s %s is a %d', async (method, path, code) => {
    // fetch refuses some methods and corrects some paths.
    const socket = connect(Number(new URL(client.sandbox.url).port), '127.0.0.1');
    socket.end(`${method} ${path} HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString().split('\r\n')[0]).toContain(String(code));
    socket.destroy();
    expect((await request('/healthz')).status).toBe(200);
  });

  test.each([
    ['', 400],
    ['{', 400],
    ['[]', 400],
    ['"x"', 400],
    ['[[[['.repeat(10_000), 400],
    ['{"metadata":{"name":"deep","annotations":'.repeat(5000), 400],
    ['\u0000', 400],
    ['{"metadata":{"name":"x","labels":{"__proto__":"y"}}}', 422],
    ['{"__proto__":{"metadata":{"name":"y"}}}', 422],
    ['{"metadata":{"name":"proto"},"data":{"__proto__":"kept"}}', 201],
  ])('the body %# is a %d', async (body, code) => {
    const response = await request(CONFIGMAPS, { method: 'POST', headers: JSON_TYPE, body });
    expect(response.status).toBe(code);
    expect(((await response.json()) as Answer).kind).toBe(code === 201 ? 'ConfigMap' : 'Status');
  });

  test('a data key __proto__ is stored like any other', async () => {
    await request(CONFIGMAPS, {
      method: 'POST',
      headers: JSON_TYPE,
      body: '{"metadata":{"name":"proto"},"data":{"__proto__":"kept"}}',
    });
    expect(await (await request(`${CONFIGMAPS}/proto`)).text()).toContain('"data":{"__proto__":"kept"}');
  });

  test('a body of 50 MiB gets a 413 and is not buffered', async () => {
    const body = `{"metadata":{"name":"big"},"data":{"a":"${'x'.repeat(50 * 1024 * 1024)}"}}`;
    const outcome = await request(CONFIGMAPS, { method: 'POST', headers: JSON_TYPE, body }).then(
      (response) => response.status,
      // The server may close the connection before the client has sent everything and reads the
      // answer.
      () => 413,
    );
    expect(outcome).toBe(413);
    expect((await request(`${CONFIGMAPS}/big`)).status).toBe(404);
  });

  test('clients that disappear in the middle of a body, an answer or a watch', async () => {
    const port = Number(new URL(client.sandbox.url).port);
    for (const text of [
      `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"met`,
      `GET ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET ${CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n`,
      'NONSENSE\r\n\r\n',
      '\u0000\u0001\u0002',
    ]) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(text);
      await new Promise((resolve) => setImmediate(resolve));
      socket.resetAndDestroy();
    }
    await create('after');
    expect((await request(`${CONFIGMAPS}/after`)).status).toBe(200);
  });
});
