import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { eventOf, folderWith, startReceiver } from '../notify/receiver.ts';
import { memoryIo } from './memory-io.ts';

const KEY = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

async function outcome(...args: readonly string[]) {
  const io = memoryIo();
  const code = await runProgram(['notify', ...args], io);
  return { code, out: io.out(), err: io.err() };
}

/** The file of sinks for a receiver, with credentials. */
function configFor({ url, ca }: { readonly url: string; readonly ca: string }): string {
  const folder = folderWith({
    'sinks.yaml': `sinks:
- {name: app, type: webhook, url: "${url}/", caFile: ca, headersFile: headers, signingKeyFiles: [key], content: full}
- {name: chat, type: slack, urlFile: url, caFile: ca}`,
    headers: 'Authorization: Bearer sesame\n',
    url: `${url}/services/sesame`,
    key: KEY,
    ca,
  });
  return `${folder}/sinks.yaml`;
}

test('[N1] notify test sends one example and prints what the receiver answers', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(202).end('thank\u001byou'));
  const config = configFor(receiver);
  expect(await outcome('test', 'app', '--notify-config', config)).toEqual({
    ...{ code: 0, out: 'app answered 202\nthank you\n', err: '' },
  });
  const [request] = receiver.requests;
  if (request === undefined) throw new Error('nothing came');
  expect(request.headers['authorization']).toBe('Bearer sesame');
  expect(eventOf(request)).toMatchObject({
    source: '/mirror-controller/example',
    subject: 'mirror-controller-test/example',
    data: { data: { example: 'this is a test' } },
  });
  expect(new Webhook(KEY).verify(request.body, request.headers as Record<string, string>)).toBeTruthy();
  expect((await outcome('test', 'chat', '--notify-config', config)).code).toBe(0);
  expect(JSON.parse(receiver.requests[1]?.body ?? '').text).toContain('mirror-controller-test/example');
});

test('[N1] notify test --dry-run prints the request without secrets, and sends nothing', async () => {
  const receiver = await startReceiver();
  const config = configFor(receiver);
  const { code, out } = await outcome('test', 'app', '--notify-config', config, '--dry-run');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^POST https:.*\nauthorization: <from headersFile>\nwebhook-id: \w{64}\nwebhook-timestamp: \d+\nwebhook-signature: v1,.*\ncontent-type: application\/cloudevents\+json/,
  );
  const chat = await outcome('test', 'chat', '--notify-config', config, '--dry-run');
  expect(chat.out).toMatch(/^POST <from .*url>\n/);
  expect(out + chat.out).not.toContain('sesame');
  expect(receiver.requests).toEqual([]);
});

test.each([
  ['source.created', ['uid', 'version', 'resourceVersion', 'companions', 'data']],
  [
    'source.changed',
    ['uid', 'version', 'resourceVersion', 'companions', 'previousVersion', 'changedKeys', 'data'],
  ],
  ['source.deleted', ['uid', 'version']],
  ['companions.failing', ['uid', 'version', 'resourceVersion', 'companions', 'reason', 'data']],
  ['companions.recovered', ['uid', 'version', 'resourceVersion', 'companions', 'data']],
  ['deletes.held', ['uid', 'version', 'resourceVersion', 'companions', 'reason', 'data']],
  ['canary.failed', ['uid', 'version', 'resourceVersion', 'companions', 'reason', 'data']],
])('[N2] the example of %s has the fields that a real one has', async (type, fields) => {
  const sinks = `sinks: [{name: app, type: webhook, url: "https://x", types: [${type}], content: full}]`;
  const config = `${folderWith({ 'sinks.yaml': sinks })}/sinks.yaml`;
  const { out } = await outcome('test', 'app', '--notify-config', config, '--dry-run');
  const { data } = JSON.parse(out.slice(out.indexOf('{')));
  expect(Object.keys(data).sort()).toEqual([...fields].sort());
});

test('[N1] notify test ends with 1 when the receiver refuses or is not there', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(403).end('who are you?'));
  const config = configFor(receiver);
  expect(await outcome('test', 'app', '--notify-config', config)).toEqual({
    ...{ code: 1, out: '', err: 'mirror-controller: app answered 403\nwho are you?\n' },
  });
  await receiver.stop();
  const { code, err } = await outcome('test', 'app', '--notify-config', config);
  expect([code, err]).toEqual([1, expect.stringContaining('refused the connection')]);
});

test('[N1] what is wrong with the command or the file is said with exit code 2', async () => {
  const config = configFor(await startReceiver());
  const broken = `${folderWith({ 'sinks.yaml': 'sinks: [{name: app, type: webhook, urlFile: gone}]' })}/sinks.yaml`;
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[], 'write "notify test SINK"'],
    [['send', 'app'], 'write "notify test SINK"'],
    [['test', 'app'], '--notify-config: name the file that lists the sinks'],
    [['test', 'pager', '--notify-config', config], 'there is no sink "pager" in'],
    [['test', 'app', '--notify-config', `${config}x`], 'the file does not exist'],
    [['test', 'app', '--notify-config', broken], 'sink app: '],
  ];
  const files = {
    'sinks.yaml':
      'sinks: [{name: a, type: webhook, urlFile: gone}, {name: b, type: webhook, urlFile: wrong}]',
    wrong: 'ftp://x',
  };
  const both = await outcome('test', 'a', '--notify-config', `${folderWith(files)}/sinks.yaml`);
  expect(both.err).toMatch(/sink a: .*gone does not exist\n.*sink b: the address in .*wrong: /);
  const one = {
    'sinks.yaml':
      'sinks: [{name: a, type: webhook, url: "https://x", headersFile: h, signingKeyFiles: [h, gone], caFile: h}]',
    h: 'no header',
  };
  const all = await outcome('test', 'a', '--notify-config', `${folderWith(one)}/sinks.yaml`);
  expect(all.err).toMatch(
    /sink a: .*h: line 1 is not a header.*; .*h is not a signing key.*; .*gone does not exist; .*h holds no certificate/,
  );
  for (const [args, problem] of cases) {
    const { code, err } = await outcome(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
  }
});
