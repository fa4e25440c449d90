import { setTimeout as delay } from 'node:timers/promises';
import { HOMES, Player } from '../controller/player.ts';
import { World } from '../controller/world.ts';
import { writesWithoutLease } from '../leaderelection/lease-history.ts';
import type { Replica } from '../leaderelection/replica.ts';
import { Replicas } from '../leaderelection/replicas.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { AuditLog } from '../support/control-plane-audit.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { serverOn } from '../support/servers/control-plane-server.ts';
import { INTERVAL_S, ScrapeLog } from './alerts.ts';
import { Pair, sum } from './pair.ts';
import { Report } from './report.ts';
import { roundOf, type Trouble } from './round.ts';

export interface SoakOptions {
  /** The bundle. */
  readonly program: string;
  /** Used by nobody else. */
  readonly controlPlane: ControlPlane;
  readonly promtool: (...args: readonly string[]) => Promise<string>;
  readonly seed: number;
  /** No round begins later (ms). */
  readonly durationMs: number;
  /** Ends it after the present round. */
  readonly signal: AbortSignal;
  /** Told of each round, in one line. */
  readonly onProgress: (line: string) => void;
}

/**
 * Shorter than by default, so that there are more terms; the renewals are as many as can be seen
 * through.
 */
const TIMES = ['6s', '4s', '500ms'] as const;

/** How much of a replica's log a difference shows. */
const LINES = 40;

interface Scene {
  readonly options: SoakOptions;
  readonly pair: Pair;
  readonly proxy: FaultProxy;
  readonly player: Player;
  readonly scrapes: ScrapeLog;
  readonly report: Report;
}

/**
 * Two replicas with leader election behind the fault proxy, on a real control plane. In each round
 * they get random work and random trouble side by side; then the trouble ends, and all must become
 * as the model says. The first difference ends it.
 */
export async function soak(options: SoakOptions): Promise<Report> {
  const { controlPlane, program, promtool, signal } = options;
  const audit = await AuditLog.open(controlPlane.auditLogPath);
  const world = await World.open(serverOn(controlPlane), [...HOMES.slice(1), 'system']);
  await using proxy = await startFaultProxy({ upstream: world.place.access });
  const flags = [`--deny-target-namespaces=${world.full('denied')}`, '--freshness-canary=10s'];
  await using replicas = new Replicas({
    program,
    world,
    proxy,
    flags,
    times: TIMES,
    leaseNamespace: 'system',
  });
  const pair = await Pair.start(replicas);
  const player = new Player(world, pair);
  const report = new Report(options.seed);
  const scene = { options, pair, player, proxy, report, scrapes: new ScrapeLog(new Date()) };
  const ending = new AbortController();
  const scraping = scrape(scene, ending.signal);
  try {
    await player.settle();
    const end = performance.now() + options.durationMs;
    while (performance.now() < end && !signal.aborted && !report.differs) await playRound(scene);
  } catch (error) {
    report.differ(`${error instanceof Error ? error.message : error}\n${tails(pair)}`);
  } finally {
    ending.abort();
    await scraping;
  }
  for (const fault of pair.faults) report.differ(fault);
  for (const write of writesWithoutLease(await audit.calls(), world.full(''))) report.differ(write);
  await scene.scrapes.check(promtool).catch((error: Error) => report.differ(error.message));
  report.terms = replicas.all.reduce((total, replica) => total + replica.count('became leader'), 0);
  report.replicas = replicas.all.length;
  return report;
}

async function playRound({ options, pair, player, proxy, scrapes, report }: Scene): Promise<void> {
  const round = roundOf(options.seed, report.rounds);
  const acting = async () => {
    for (const { action, pauseMs } of round.actions) {
      await delay(pauseMs);
      await player.act(action);
      report.count('actions', action.do);
    }
  };
  const troubling = async () => {
    for (const { trouble, pauseMs } of round.troubles) {
      await delay(pauseMs);
      await cause(trouble, { options, pair, proxy });
      report.count('troubles', trouble.do);
    }
  };
  const begun = performance.now();
  await Promise.all([acting(), troubling()]);
  proxy.heal();
  const calmAt = performance.now();
  await player.settle();
  const settledAt = performance.now();
  await look(pair, report);
  scrapes.noteCalm();
  report.rounds += 1;
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  options.onProgress(
    `round ${report.rounds}: ${round.actions.length} actions and ${round.troubles.length} troubles in ` +
      `${seconds(calmAt - begun)} s, settled after ${seconds(settledAt - calmAt)} s`,
  );
}

async function cause(
  trouble: Trouble,
  { options, pair, proxy }: Pick<Scene, 'options' | 'pair' | 'proxy'>,
): Promise<void> {
  const { controlPlane } = options;
  switch (trouble.do) {
    case 'terminate':
      return pair.terminate(trouble.replica);
    case 'kill':
      return pair.kill(trouble.replica);
    case 'stop':
      return pair.pause(trouble.replica, trouble.forMs);
    case 'pause the API server':
      controlPlane.pauseApiServer();
      await delay(trouble.forMs);
      return controlPlane.resumeApiServer();
    case 'pause etcd':
      controlPlane.pauseEtcd();
      await delay(trouble.forMs);
      return controlPlane.resumeEtcd();
    case 'cut replies':
      return proxy.cutOpenReplies();
    case 'harm requests':
      proxy.inject(trouble.rule);
  }
}

/** What must hold whenever all is settled, beside the model. */
async function look(pair: Pair, report: Report): Promise<void> {
  const scrapes = await pair.scrapes();
  const holders = scrapes.filter(({ metrics }) => sum(metrics, 'leader_election_master_status') === 1);
  if (holders.length !== 1) report.differ(`${holders.length} replicas lead:\n${tails(pair)}`);
  for (const { metrics } of scrapes) {
    report.resources(sum(metrics, 'process_resident_memory_bytes'), sum(metrics, 'process_open_fds'));
  }
}

async function scrape({ pair, scrapes }: Scene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const begun = performance.now();
    scrapes.add(await pair.scrapes());
    const restMs = INTERVAL_S * 1_000 - (performance.now() - begun);
    await delay(restMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Without the canary, which writes all the time. */
function tails(pair: Pair): string {
  const tail = ({ name, log }: Replica) => {
    const lines = log.map((line) => JSON.stringify(line)).filter((line) => !line.includes('canary'));
    return [`${name} logged last:`, ...lines.slice(-LINES)].join('\n');
  };
  return pair.running.map(tail).join('\n');
}
