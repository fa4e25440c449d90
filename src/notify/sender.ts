import { aborted, type Clock, sleep } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Content } from '../mirror/observe/content.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Item } from './delivery/cloud-event.ts';
import type { Sink } from './delivery/config.ts';
import type { Message, Outcome } from './delivery/delivery.ts';
import { aspectOf } from './event-types.ts';
import { ChatPace, UNPACED } from './pace.ts';
import type { Report } from './report.ts';
import { type Attempt, SinkQueue } from './sink-queue.ts';
import type { NotifyState } from './state/notify-state.ts';
import { putBack, replaced, settled } from './state/pending.ts';

/** Of an attempt, or of a notification. */
export const RESULTS = ['sent', 'failed', 'dropped'] as const;
export type Result = (typeof RESULTS)[number];

export interface SenderDeps {
  readonly sink: Sink;
  readonly state: Pick<NotifyState, 'get' | 'set' | 'isStored' | 'stored'>;
  readonly cluster: () => string;
  /**
   * The data of a source at this version; undefined if it is not there any more; `outdated` if it
   * is about to be told of in another version. Rejects if it cannot be read.
   */
  readonly content: (
    uid: string,
    ref: ObjectKey,
    version: string,
  ) => Promise<Content | 'outdated' | undefined>;
  /** Makes one attempt. Rejects only because of a fault of this program. */
  readonly deliver: (sink: Sink, message: Message, signal: AbortSignal) => Promise<Outcome>;
  readonly count: (result: Result) => void;
  readonly report: Report;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
}

/** Attempts of one webhook at once. */
const CONCURRENCY = 4;
/** Age (ms) at which a notification is given up. */
const EXPIRES_MS = 3 * 24 * 3_600_000;
/** Time (ms) that requests in flight have after a stop: a chat's would be lost otherwise. */
const GRACE_MS = 2_000;
/** Longest time (ms) for which a `Retry-After` holds a sink. */
const MAX_HOLD_MS = 3_600_000;

const NOT_ACCEPTED = 'notification not accepted';
/** How an attempt ended, if it was one: see `SenderDeps.content`. */
type Sent = Outcome | { readonly kind: 'outdated' };

/**
 * Sends one sink what waits for it (SPEC N4, N5). At least once: send, then record that it was
 * sent. At most once: record first, and when that is stored, send.
 */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #queue: SinkQueue;
  /** What is being sent, by uid. */
  readonly #sending = new Map<string, number>();
  #failures = 0;
  #stopping: AbortSignal = AbortSignal.abort();
  /** Ends the requests in flight. */
  readonly #cut = new AbortController();

  constructor(deps: SenderDeps) {
    const { sink, clock, random } = deps;
    const isChat = sink.type === 'slack';
    this.#deps = deps;
    this.#queue = new SinkQueue({
      concurrency: isChat ? 1 : CONCURRENCY,
      pace: isChat ? new ChatPace() : UNPACED,
      attempt: (uids) => this.#attempt(uids),
      clock,
      random,
    });
  }

  /** When the oldest that waits was made (ms since the epoch); Infinity: none waits. */
  get oldest(): number {
    return this.#queue.oldest;
  }

  /** The sequence number of what is being sent of a source. */
  sending(uid: string): number | undefined {
    return this.#sending.get(uid);
  }

  /** Sends what waits for the sink of this source, once that is stored. */
  offer(uid: string): void {
    const first = this.#first(uid);
    if (first !== undefined) this.#queue.add(uid, first.ref, Date.parse(first.notification.at));
  }

  /** Until `signal` aborts. Requests in flight then have 2 s to end. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const done = new AbortController();
    this.#stopping = signal;
    void aborted(signal)
      .then(() => sleep(clock, GRACE_MS, done.signal))
      .then(() => this.#cut.abort());
    await this.#queue.run(signal);
    done.abort();
  }

  async #attempt(uids: readonly string[]): Promise<Attempt> {
    const due = uids.flatMap((uid) => this.#due(uid));
    for (const { uid, notification } of due) this.#sending.set(uid, notification.seq);
    const outcome = await this.#sendAll(due);
    for (const uid of uids) {
      this.#sending.delete(uid);
      // Something else may wait, too.
      if (outcome === undefined || outcome.kind === 'accepted') this.offer(uid);
    }
    return outcome === undefined ? { kind: 'done' } : this.#judge(outcome, due);
  }

  /** Undefined: there was nothing to send. */
  async #sendAll(due: readonly Item[]): Promise<Sent | undefined> {
    const { sink } = this.#deps;
    const isClaimed = sink.guarantee === 'at-most-once';
    const [first, ...others] = isClaimed ? await this.#claim(due) : due;
    if (first === undefined) return undefined;
    const items = [first, ...others] as const;
    const outcome = this.#stopping.aborted ? failed('the process stops', false) : await this.#send(items);
    for (const item of items) this.#finish(item, outcome, isClaimed);
    return outcome;
  }

  /** The oldest that waits of a source, if it is stored. */
  #first(uid: string): Item | undefined {
    const { state, sink } = this.#deps;
    const record = state.get(uid);
    const [notification] = record?.sinks?.[sink.name]?.pending ?? [];
    if (record === undefined || notification === undefined) return undefined;
    return state.isStored(uid, notification.seq) ? { uid, ref: record.ref, notification } : undefined;
  }

  /** What a source's turn is for: the oldest that waits, unless it is too old. */
  #due(uid: string): readonly Item[] {
    const { sink, count, report, clock, log } = this.#deps;
    for (let item = this.#first(uid); item !== undefined; item = this.#first(uid)) {
      const { ref, notification } = item;
      const { type, at } = notification;
      if (clock.wallTime().getTime() - Date.parse(at) < EXPIRES_MS) return [item];
      log.warn({ source: ref, sink: sink.name, type }, 'notification dropped after three days');
      report(uid, ref, 'NotificationDropped', `sink ${sink.name} has not taken ${type} for three days`);
      count('dropped');
      this.#change(item, settled);
    }
    return [];
  }

  /** Those of which it is stored that nobody else will send them. */
  async #claim(due: readonly Item[]): Promise<readonly Item[]> {
    const { state } = this.#deps;
    const claimed = due.map(async (item) => {
      this.#change(item, settled);
      const stored = await state.stored(item.uid);
      if (stored === 'stopped') this.#change(item, putBack);
      return stored === 'stored' ? [item] : [];
    });
    return (await Promise.all(claimed)).flat();
  }

  async #send(items: readonly [Item, ...Item[]]): Promise<Sent> {
    const { sink, deliver, cluster } = this.#deps;
    const content = await this.#contentOf(items[0]).catch((error: Error) => error);
    if (content === 'outdated') return { kind: 'outdated' };
    if (content instanceof Error) {
      return failed(`the source's data cannot be read: ${content.message}`, false);
    }
    const message = { cluster: cluster(), items, content };
    return deliver(sink, message, this.#cut.signal).catch((error: Error) => failed(error.message, true));
  }

  async #contentOf({ uid, ref, notification }: Item): Promise<Message['content'] | 'outdated'> {
    const { sink, content } = this.#deps;
    if (sink.content !== 'full' || notification.type === 'source.deleted') return undefined;
    const found = (await content(uid, ref, notification.version)) ?? 'omitted';
    // Only a notification about the source itself is replaced when it changes. Any other would wait
    // for content that does not come back.
    return found === 'outdated' && aspectOf(notification.type) !== 'source' ? 'omitted' : found;
  }

  #finish(item: Item, outcome: Sent, isClaimed: boolean): void {
    const { sink, count, clock, log } = this.#deps;
    const { ref, notification } = item;
    const fields = { source: ref, sink: sink.name, type: notification.type };
    if (outcome.kind === 'accepted') {
      this.#change(item, (record) => settled(record, sink.name, notification, clock.wallTime()));
      count('sent');
      log.debug({ ...fields, version: notification.version.slice(0, 8) }, 'notification sent');
    } else if (isClaimed && outcome.kind === 'failed' && outcome.mayHaveArrived) {
      count('dropped');
      log.warn({ ...fields, reason: outcome.reason }, 'notification may be lost');
    } else {
      this.#change(item, isClaimed ? putBack : replaced);
      // A stop is nobody's failure.
      if (outcome.kind !== 'outdated' && !this.#stopping.aborted) count('failed');
    }
  }

  /** What the outcome means for the sink as a whole. */
  #judge(outcome: Sent, due: readonly Item[]): Attempt {
    const { sink, log, report } = this.#deps;
    if (outcome.kind === 'accepted') {
      if (this.#failures > 0) log.info({ sink: sink.name, was: NOT_ACCEPTED }, 'resolved');
      this.#failures = 0;
      return { kind: 'done' };
    }
    if (outcome.kind === 'outdated') return { kind: 'postponed' };
    if (outcome.kind === 'gone') {
      const note = `sink ${sink.name} answered 410, so it gets nothing more until the controller restarts or gains the Lease`;
      log.error(
        { sink: sink.name },
        'sink answered 410 and gets nothing more until the next start or takeover',
      );
      for (const { uid, ref } of due) report(uid, ref, 'SinkGone', note);
      return { kind: 'failed', holdMs: Number.POSITIVE_INFINITY };
    }
    const { reason, retryAfterMs } = outcome;
    if (this.#failures === 0 && !this.#stopping.aborted) log.warn({ sink: sink.name, reason }, NOT_ACCEPTED);
    this.#failures += 1;
    return { kind: 'failed', holdMs: Math.min(retryAfterMs ?? 0, MAX_HOLD_MS) };
  }

  #change({ uid, notification }: Item, change: typeof settled): void {
    const { state, sink } = this.#deps;
    const before = state.get(uid);
    if (before === undefined) return;
    const after = change(before, sink.name, notification);
    if (after !== before) state.set(uid, after);
  }
}

function failed(reason: string, mayHaveArrived: boolean): Outcome {
  return { kind: 'failed', reason, mayHaveArrived, retryAfterMs: undefined };
}
