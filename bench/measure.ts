import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../test/support/control-plane.ts';
import type { ControlPlaneBinaries } from '../test/support/control-plane-binaries.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { collection, inFlight, Load } from './load.ts';
import { foreignLoad, waitForQuiet } from './machine.ts';
import { findProcess } from './process-stats.ts';
import { Results } from './report.ts';
import type { Figure, Scenario, SubjectName } from './scenario.ts';
import type { Subject } from './subject.ts';
import { World } from './world.ts';

export interface Plan {
  readonly binaries: ControlPlaneBinaries;
  readonly scenarios: readonly Scenario[];
  /** By name; `none` has none. */
  readonly subjects: Readonly<Partial<Record<SubjectName, Subject>>>;
  readonly runs: number;
  /** Small sizes on one control plane, without waiting for a quiet machine. */
  readonly quick: boolean;
  /** How long to wait for a quiet machine before each measurement, milliseconds. */
  readonly quietMs: number;
  readonly onProgress: (line: string) => void;
  /** Called after each measurement with all that is known by then: what is interrupted is not lost. */
  readonly onResults: (results: Results) => void;
}

/** Without the audit log, which is for tests and costs the API server time. */
const API_SERVER_FLAGS = ['--audit-log-path=', '--audit-policy-file='];

interface Turn {
  readonly scenario: Scenario;
  readonly subject: SubjectName;
  /** From 1. */
  readonly run: number;
}

/** Measures every scenario with each of its subjects, one right after the other, `runs` times over. */
export async function measure(plan: Plan): Promise<void> {
  const results = new Results();
  await using shared = plan.quick ? await open(plan) : undefined;
  for (const turn of turns(plan)) {
    plan.onProgress(`run ${turn.run}: ${turn.scenario.name}, ${turn.subject}`);
    if (shared !== undefined) {
      await session(plan, results, turn, shared);
    } else {
      // One of its own, so that no measurement inherits another's objects.
      await using controlPlane = await open(plan);
      await session(plan, results, turn, controlPlane);
    }
    plan.onResults(results);
  }
}

function* turns({ scenarios, runs }: Plan): Iterable<Turn> {
  for (let run = 1; run <= runs; run++) {
    for (const scenario of scenarios) {
      const subjects = scenario.subjects ?? (['ours', 'go'] as const);
      for (const subject of run % 2 === 1 ? subjects : subjects.toReversed())
        yield { scenario, subject, run };
    }
  }
}

function open({ binaries }: Plan): Promise<ControlPlane> {
  return startControlPlane({ binaries, apiServerFlags: API_SERVER_FLAGS });
}

async function session(plan: Plan, results: Results, turn: Turn, controlPlane: ControlPlane): Promise<void> {
  const { scenario, subject, run } = turn;
  await using load = new Load(controlPlane);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const servers = await serversOf(controlPlane);
  if (!plan.quick) await waitForQuiet(plan.quietMs);
  const foreign = foreignLoad(servers);
  const world = new World({
    address: controlPlane,
    load,
    subject: plan.subjects[subject],
    quick: plan.quick,
    prefix: `${scenario.name}-${subject}-${run}-`,
    folder,
  });
  let figures: readonly Figure[] = [];
  let failure: string | undefined;
  try {
    figures = await scenario.measure(world);
    await world.stop();
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    plan.onProgress(`run ${run}: ${scenario.name}, ${subject}: FAILED: ${failure}`);
    // What it has to say to that has been said.
    await world.stop().catch(() => undefined);
  }
  const about = { scenario: scenario.name, subject, run, foreignLoad: foreign() };
  results.add({ ...about, ...(failure !== undefined && { failure }) }, figures);
  if (plan.quick) await clean(load, world.namespaces);
  rmSync(folder, { recursive: true, force: true });
}

/** Their processes. A server has just been started by a shell, which may not have become the server yet. */
function serversOf(controlPlane: ControlPlane): Promise<readonly number[]> {
  const { url, etcdUrl, kubeconfigPath, hasControllerManager } = controlPlane;
  return waitFor(() => [
    findProcess(`--secure-port=${new URL(url).port}`),
    findProcess(`--listen-client-urls=${etcdUrl}`),
    ...(hasControllerManager ? [findProcess(`--kubeconfig=${kubeconfigPath}`)] : []),
  ]);
}

/** Leaves the namespaces, which nobody's names match any more, and none of their ConfigMaps. */
async function clean(load: Load, namespaces: readonly string[]): Promise<void> {
  await inFlight(16, namespaces, (namespace) => load.call('DELETE', collection(namespace)));
  const query = `?labelSelector=${encodeURIComponent('workshop.io/managed')}`;
  await waitFor(async () => (await load.list('', query)).items.length === 0);
}
