import { expect, test } from 'vitest';
import { ArrivingBody } from '../../../src/kube/http/arriving-body.ts';

/** A server that sends `chunks` as fast as it is let, and what it has been told. */
function startSending(chunks: readonly Buffer[], options: { readonly ending?: 'end' | Error } = {}) {
  const sent: Buffer[] = [];
  const source = {
    paused: false,
    aborted: false,
    pause: () => {
      source.paused = true;
    },
    resume: () => {
      source.paused = false;
      send();
    },
    abort: () => {
      source.aborted = true;
    },
  };
  const body = new ArrivingBody(source);
  const send = () => {
    while (!source.paused && sent.length < chunks.length) {
      const chunk = chunks[sent.length] ?? Buffer.of();
      sent.push(chunk);
      body.push(chunk);
    }
    if (sent.length < chunks.length || options.ending === undefined) return;
    body.end(options.ending === 'end' ? undefined : options.ending);
  };
  return { body, source, send, sentBytes: () => Buffer.concat(sent).length };
}

async function readAll(body: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  for await (const chunk of body) read.push(chunk);
  return Buffer.concat(read).toString();
}

const texts = (...all: string[]) => all.map((text) => Buffer.from(text));

test('[W3] chunks come in order, whether the reader waits for them or they for the reader', async () => {
  const early = startSending(texts('a', 'b', 'c'), { ending: 'end' });
  early.send();
  expect(await readAll(early.body)).toBe('abc');

  const late = startSending(texts('a', 'b', 'c'), { ending: 'end' });
  const read = readAll(late.body);
  late.send();
  expect(await read).toBe('abc');
});

test('[W3] what arrived before a failure is read before it is thrown, and it is thrown to who waits', async () => {
  const reset = new Error('reset');
  const early = startSending(texts('a'), { ending: reset });
  early.send();
  expect(String((await early.body.next()).value)).toBe('a');
  await expect(early.body.next()).rejects.toBe(reset);
  await expect(early.body.next()).rejects.toBe(reset);

  const late = startSending([], { ending: reset });
  const next = late.body.next();
  late.send();
  await expect(next).rejects.toBe(reset);
});

test('[W4] of a body that nobody reads no more than 64 KiB and a chunk are held; all of it is read in the end', async () => {
  const chunk = Buffer.alloc(10_000, 'x');
  const { body, send, sentBytes } = startSending(new Array(100).fill(chunk), { ending: 'end' });
  send();
  expect(sentBytes()).toBe(70_000);
  await body.next();
  expect(sentBytes()).toBe(70_000);
  expect(await readAll(body)).toHaveLength(990_000);
});

test('leaving the loop gives the answer up, unless it has ended', async () => {
  const lasting = startSending(texts('a', 'b'));
  lasting.send();
  for await (const _ of lasting.body) break;
  expect(lasting.source.aborted).toBe(true);
  expect(await lasting.body.next()).toEqual({ done: true, value: undefined });

  const ended = startSending(texts('a', 'b'), { ending: 'end' });
  ended.send();
  for await (const _ of ended.body) break;
  expect(ended.source.aborted).toBe(false);
});
