import { ask } from '../inspect/ask.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { BRAKE_FLAGS, brakeHasHeld } from './brake-check.ts';
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
  /** Whether the controller has a brake. */
  readonly brake: boolean;
}

const WRITES = { method: ['POST', 'PATCH', 'DELETE'], path: /\/configmaps/ };

/** Plays the history without pauses. Compares with the model at each `settle` and at the end. */
export async function playHistory(
  server: TestServer,
  history: readonly Action[],
  { across, brake }: PlayOptions,
): Promise<void> {
  await using world = await World.open(server, HOMES.slice(1));
  const needsProxy = brake || history.some((action) => action.do === 'silence');
  await using proxy = needsProxy
    ? await startFaultProxy({ upstream: world.place.access, tls: false })
    : undefined;
  const options = { clock: fastClock(CLOCK_SPEED), ...(proxy && { cluster: { server: proxy.url } }) };
  let controller: RunningController | undefined;
  let requestsBefore = 0;
  const start = () => {
    if (controller !== undefined) return controller;
    requestsBefore = proxy?.requests.length ?? 0;
    const flags = { 'deny-target-namespaces': world.full('denied'), ...(brake && BRAKE_FLAGS) };
    controller = world.start(flags, options);
    return controller;
  };
  const stop = async () => {
    if (controller === undefined) return;
    await controller.stop();
    controller = undefined;
    if (brake && proxy) brakeHasHeld(proxy.requests.slice(requestsBefore), CLOCK_SPEED);
  };
  const player = new Player(world, {
    deadlineMs: DEADLINE_MS,
    start,
    stop,
    settle: () => world.settle(start(), { namespaces: across }),
    ...(brake && { release: () => release(world) }),
    silence: () => proxy?.inject({ match: WRITES, fault: { kind: 'no-answer' }, times: 1 }),
  });
  for (const action of history) await player.act(action);
  await player.settle();
  if (brake) await player.releaseAll();
  await stop();
}

async function release(world: World): Promise<void> {
  const { code, err } = await ask(world, ['release', '--all-namespaces', '--yes']);
  // 1: something has changed meanwhile.
  if (code > 1) throw new Error(err);
}
