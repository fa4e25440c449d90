import type { Clock } from '../../clock/clock.ts';
import { type CloudEventOptions, cloudEvent, type Item, notificationId } from './cloud-event.ts';
import type { Sink } from './config.ts';
import { type Answer, type HttpClient, NoAnswerError, type Post } from './http-client.ts';
import { signatureHeaders } from './signature.ts';
import { readSinkFiles, SinkFileError } from './sink-files.ts';
import { slackBody } from './slack.ts';

/** What is to be said: one thing to a webhook, one or more to a chat. */
export interface Message {
  readonly cluster: string;
  readonly items: readonly [Item, ...Item[]];
  /** See `CloudEventOptions`. */
  readonly content: CloudEventOptions['content'];
}

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** The receiver wants no more. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** Whether it may have been accepted all the same. */
      readonly mayHaveArrived: boolean;
      /** For how long (ms) the receiver wants nothing. */
      readonly retryAfterMs: number | undefined;
    };

/** The request for a message, as it would be sent now. Rejects with `SinkFileError`. */
export async function postOf(sink: Sink, message: Message, now: Date): Promise<Post> {
  const { cluster, items, content } = message;
  const { url, headers, signingKeys, ca } = await readSinkFiles(sink);
  const withKeys = sink.content !== 'none';
  if (sink.type === 'slack') {
    const body = slackBody(items, withKeys);
    return { url, headers: { ...headers, 'content-type': 'application/json; charset=utf-8' }, body, ca };
  }
  const [item] = items;
  const id = notificationId(sink.name, item.uid, item.notification);
  const body = cloudEvent({ ...item, id, cluster, withKeys, content });
  const signed = signatureHeaders(id, body, signingKeys, now);
  return {
    url,
    headers: { ...headers, ...signed, 'content-type': 'application/cloudevents+json; charset=utf-8' },
    body,
    ca,
  };
}

/** One attempt. Rejects only because of a fault of this program. */
export async function deliver(
  sink: Sink,
  message: Message,
  {
    client,
    clock,
    signal,
  }: { readonly client: HttpClient; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Outcome> {
  try {
    const post = await postOf(sink, message, clock.wallTime());
    return outcomeOf(await client.post(post, signal));
  } catch (error) {
    if (!(error instanceof NoAnswerError || error instanceof SinkFileError)) throw error;
    const mayHaveArrived = error instanceof NoAnswerError && error.mayHaveArrived;
    return { kind: 'failed', reason: error.message, mayHaveArrived, retryAfterMs: undefined };
  }
}

/** A server's own failure says nothing about whether it had taken the message before. */
function outcomeOf({ status, retryAfterMs }: Answer): Outcome {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  if (status === 410) return { kind: 'gone' };
  const reason =
    status < 400 ? `it answered ${status}, a redirect, which is not followed` : `it answered ${status}`;
  return { kind: 'failed', reason, mayHaveArrived: status >= 500, retryAfterMs };
}
