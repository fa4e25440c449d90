import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Pages, startHttpServer } from '../../src/serving/http-server.ts';
import { RecordedLog } from '../informer/recorded-log.ts';

const plain = (body: string) => ({ status: 200, contentType: 'text/plain', body });

async function started(pages: Pages) {
  const log = new RecordedLog();
  const server = await startHttpServer({ host: '127.0.0.1', port: 0, pages, log });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { server, log, url: `http://127.0.0.1:${server.port}` };
}

test('[O2] it serves its pages to GET and HEAD, with their query', async () => {
  const { url } = await started(new Map([['/say', (query) => plain(`word: ${query.get('word')}`)]]));
  const get = await fetch(`${url}/say?word=höh`);
  expect([get.status, await get.text()]).toEqual([200, 'word: höh']);
  const head = await fetch(`${url}/say`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('[O2] other methods and paths are refused, with what there is', async () => {
  const { url } = await started(new Map([['/livez', () => plain('ok')]]));
  const post = await fetch(`${url}/livez`, { method: 'POST', body: 'x' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  const missing = await fetch(`${url}/healthy`);
  expect([missing.status, await missing.text()]).toEqual([404, 'not found; there are /livez\n']);
});

test('[O2] a page that fails is an answer, too, and is logged', async () => {
  const { url, log } = await started(
    new Map([['/metrics', () => Promise.reject(new Error('survey failed'))]]),
  );
  expect((await fetch(`${url}/metrics`)).status).toBe(500);
  expect(log.lines).toMatchObject([{ level: 'error', path: '/metrics' }]);
});

test('[O2] a client that does not finish its request is cut off', async () => {
  const { server } = await started(new Map());
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.resume();
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n');
  await once(socket, 'close');
}, 30_000);

test('[O2] to dispose of it frees the port, whoever is connected', async () => {
  const { server, url } = await started(new Map([['/hangs', () => new Promise(() => undefined)]]));
  const hanging = fetch(`${url}/hangs`).catch(() => 'cut');
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  await server[Symbol.asyncDispose]();
  expect(await hanging).toBe('cut');
  const again = await startHttpServer({
    host: '127.0.0.1',
    port: server.port,
    pages: new Map(),
    log: new RecordedLog(),
  });
  await again[Symbol.asyncDispose]();
});
