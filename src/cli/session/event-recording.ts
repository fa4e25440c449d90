import { hostname } from 'node:os';
import type { Clock } from '../../clock/clock.ts';
import { createEventApi } from '../../kube/api/events.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { createTransport } from '../../kube/http/pooled-transport.ts';
import type { TransportOptions } from '../../kube/http/transport.ts';
import { DEFAULT_DOMAIN, MANAGED_BY } from '../../mirror/vocabulary.ts';
import { EventRecorder } from '../../recorder/recorder.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { USER_AGENT } from '../version.ts';
import type { Follower } from './follower.ts';

/** Dispose of it when nothing more is recorded; that stops it, too. */
export interface EventRecording extends AsyncDisposable {
  readonly recorder: EventRecorder;
  /** Writes the last Events, for at most 1 s. */
  stop(): Promise<void>;
}

/** Time limit (ms) of a request: an Event is not worth more. */
const TIME_LIMIT_MS = 5_000;
/** Longest `reportingInstance`, in characters. */
const MAX_INSTANCE = 128;

export interface EventRecordingDeps {
  /** Asked right before each request: only the leader writes Events. */
  readonly mayWrite: () => boolean;
  /** Whether companions are being written. */
  readonly isBusy: () => boolean;
  /** See `TransportOptions`. */
  readonly onAnswer: TransportOptions['onAnswer'];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Writes Events, on a connection of their own: they never delay a write of a companion. */
export function openEventRecording(cluster: Cluster, deps: EventRecordingDeps): EventRecording {
  const { mayWrite, isBusy, onAnswer, clock, log } = deps;
  const requests = new AbortController();
  const transport = createTransport(cluster, {
    clock,
    userAgent: `${USER_AGENT} events`,
    signal: requests.signal,
    timeLimitMs: TIME_LIMIT_MS,
    connections: 1,
    onAnswer,
  });
  const recorder = new EventRecorder({
    api: createEventApi(transport, { fieldManager: MANAGED_BY, mayBeSent: mayWrite }),
    controller: `${DEFAULT_DOMAIN}/${MANAGED_BY}`,
    instance: hostname().slice(0, MAX_INSTANCE),
    clock,
    random: Math.random,
    isBusy,
    log,
  });
  const stopping = new AbortController();
  const running = recorder.run(stopping.signal);
  const stop = () => {
    stopping.abort();
    return running;
  };
  const dispose = async () => {
    await stop();
    requests.abort();
    await transport.close();
  };
  return { recorder, stop, [Symbol.asyncDispose]: dispose };
}

/** The follower, which ends with its last Events: only the holder of the Lease may write them. */
export function recording(
  follower: Follower,
  { recorder, stop }: Pick<EventRecording, 'recorder' | 'stop'>,
): Follower {
  return {
    run: async (signal) => {
      await follower.run(signal);
      await stop();
    },
    takeOver: async () => {
      recorder.takeOver();
      await follower.takeOver();
    },
  };
}
