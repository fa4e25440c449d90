import { randomUUID } from 'node:crypto';
import { systemClock } from '../../clock/clock.ts';
import { objectKey } from '../../kube/api/object-key.ts';
import type { Sink } from '../../notify/delivery/config.ts';
import { type Message, postOf } from '../../notify/delivery/delivery.ts';
import { HttpClient, NoAnswerError, type Post } from '../../notify/delivery/http-client.ts';
import { systemResolver } from '../../notify/delivery/resolve-host.ts';
import type { EventType } from '../../notify/event-types.ts';
import type { Notification } from '../../notify/state/record.ts';
import { RunError, UsageError } from '../errors.ts';
import type { NOTIFY_COMMAND_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print } from '../io.ts';
import { readSinks } from '../session/notifications.ts';

/** Most of an answer (characters) that is shown. */
const MOST_SHOWN = 1_000;
/** The types whose notifications say why. */
const WITH_REASON = /^(companions\.failing|deletes\..*|canary\..*)$/;

/** `mirror-controller notify test SINK`: sends one example, and shows what the receiver answers. */
export async function notify(
  flags: FlagValues<typeof NOTIFY_COMMAND_FLAGS>,
  io: ProcessIo,
  [verb, name]: readonly string[],
): Promise<void> {
  if (verb !== 'test' || name === undefined) {
    throw new UsageError('notify: write "notify test SINK", with the name of a sink in --notify-config');
  }
  const sinks = await readSinks(flags);
  const sink = sinks.find((each) => each.name === name);
  if (sink === undefined) {
    const names = sinks.map((each) => each.name).join(', ');
    throw new UsageError(
      `notify: there is no sink "${name}" in ${flags['notify-config']}; there are ${names}`,
    );
  }
  const message = exampleFor(sink, flags['cluster-name'] ?? 'example');
  const post = await postOf(sink, message, systemClock.wallTime());
  await print(io, flags['dry-run'] ? shown(post, sink) : await answerTo(post, sink, io.signal));
}

/** About an invented source, in the form of the first type that the sink takes. */
function exampleFor({ types, content }: Sink, cluster: string): Message {
  const [type = 'source.created'] = types;
  const at = systemClock.wallTime();
  return {
    cluster,
    items: [
      {
        uid: randomUUID(),
        ref: objectKey('mirror-controller-test', 'example'),
        notification: {
          type,
          seq: Math.floor(at.getTime() / 1000),
          version: '0'.repeat(64),
          at: at.toISOString(),
          ...factsOf(type),
        },
      },
    ],
    content: contentOf(type, content),
  };
}

/** A source that is deleted has no content any more. */
function contentOf(type: EventType, asked: Sink['content']): Message['content'] {
  if (asked !== 'full' || type === 'source.deleted') return undefined;
  return { data: { example: 'this is a test' }, binaryData: {} };
}

/** What a notification of this type says beside what all say. */
function factsOf(type: EventType): Partial<Notification> {
  if (type === 'source.deleted') return {};
  const facts = { resourceVersion: '1', companions: { 'in sync': 1 } };
  if (type === 'source.changed') {
    return { ...facts, previousVersion: '1'.repeat(64), changedKeys: ['example'] };
  }
  return WITH_REASON.test(type) ? { ...facts, reason: 'this is a test' } : facts;
}

/** @throws RunError if the receiver does not accept it. */
async function answerTo(post: Post, { name, timeoutMs }: Sink, signal: AbortSignal): Promise<string> {
  const client = new HttpClient({
    timeoutMs,
    connections: 1,
    clock: systemClock,
    resolveHost: systemResolver,
  });
  try {
    const { status, text } = await client.post(post, signal);
    const body = printable(text).slice(0, MOST_SHOWN);
    const answer = `${name} answered ${status}${body === '' ? '' : `\n${body}`}`;
    if (status < 200 || status >= 300) throw new RunError(answer);
    return `${answer}\n`;
  } catch (error) {
    if (error instanceof NoAnswerError) throw new RunError(`${name}: ${error.message}`);
    throw error;
  } finally {
    await client.close();
  }
}

/** The request, without what a file keeps secret. */
function shown({ url, headers, body }: Post, sink: Sink): string {
  const ours = /^(content-type|webhook-.*)$/;
  const lines = Object.entries(headers).map(
    ([header, value]) => `${header}: ${ours.test(header) ? value : '<from headersFile>'}`,
  );
  const address = typeof sink.url === 'string' ? url : `<from ${sink.url.file}>`;
  return `POST ${address}\n${lines.join('\n')}\n\n${JSON.stringify(JSON.parse(body), null, 2)}\n`;
}

/** It is not trusted, and must not control the terminal. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]+/gu, ' ').trim();
}
