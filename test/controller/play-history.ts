import { startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { fastClock } from './fast-clock.ts';
import type { Action } from './history.ts';
import { HOMES, Player } from './player.ts';
import type { RunningController } from './running-controller.ts';
import { World } from './world.ts';

/** Deadline (ms) for a controller whose clock is fast; only a failure waits so long. */
const DEADLINE_MS = 10_000;
/** A wait of 30 s (for a name that becomes free unseen) takes half a second. */
const CLOCK_SPEED = 50;

export interface PlayOptions {
  /** Whether the history uses more than one namespace. */
  readonly across: boolean;
}

const WRITES = { method: ['POST', 'PATCH', 'DELETE'], path: /\/configmaps/ };

/** Plays the history without pauses. Compares with the model at each `settle` and at the end. */
export async function playHistory(
  server: TestServer,
  history: readonly Action[],
  { across }: PlayOptions,
): Promise<void> {
  await using world = await World.open(server, HOMES.slice(1));
  const isSilenced = history.some((action) => action.do === 'silence');
  await using proxy = isSilenced
    ? await startFaultProxy({ upstream: world.place.access, tls: false })
    : undefined;
  const options = { clock: fastClock(CLOCK_SPEED), ...(proxy && { cluster: { server: proxy.url } }) };
  let controller: RunningController | undefined;
  const start = () => {
    controller ??= world.start({ 'deny-target-namespaces': world.full('denied') }, options);
    return controller;
  };
  const stop = async () => {
    await controller?.stop();
    controller = undefined;
  };
  const player = new Player(world, {
    deadlineMs: DEADLINE_MS,
    start,
    stop,
    settle: () => world.settle(start(), { namespaces: across }),
    silence: () => proxy?.inject({ match: WRITES, fault: { kind: 'no-answer' }, times: 1 }),
  });
  for (const action of history) await player.act(action);
  await player.settle();
  await stop();
}
