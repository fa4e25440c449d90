import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../test/support/control-plane.ts';
import type { ControlPlaneBinaries } from '../test/support/control-plane-binaries.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { clean } from './clean.ts';
import { Load } from './load.ts';
import { foreignLoad, waitForQuiet } from './machine.ts';
import { findProcess } from './process-stats.ts';
import { Results } from './report.ts';
import type { Figure, Scenario, SubjectName } from './scenario.ts';
import type { Subject } from './subject.ts';
import { subjectsOf, type Turn, turns } from './turns.ts';
import { World } from './world.ts';

export interface Plan {
  readonly binaries: ControlPlaneBinaries;
  readonly scenarios: readonly Scenario[];
  /** Those that are to be measured, where a scenario has them; `none` has none. */
  readonly subjects: Readonly<Partial<Record<SubjectName, Subject>>>;
  readonly runs: number;
  /** For the order of turns; 0 to less than 1. */
  readonly random: () => number;
  /** Small sizes, one control plane for all scenarios, no waiting for a quiet machine. */
  readonly quick: boolean;
  /** How long to wait for a quiet machine before each measurement, milliseconds. */
  readonly quietMs: number;
  readonly onProgress: (line: string) => void;
  /** Called after each measurement with all that is known by then: what is interrupted is not lost. */
  readonly onResults: (results: Results) => void;
}

/** Without the audit log, which is for tests and costs the API server time. */
const API_SERVER_FLAGS = ['--audit-log-path=', '--audit-policy-file='];

/**
 * Measures every scenario with each of its subjects by turns, `runs` times over, on one control plane. How fast the machine
 * is changes within minutes: what is to be compared is measured one right after the other, and a run's figures are
 * compared with each other before runs are summed up.
 */
export async function measure(plan: Plan): Promise<void> {
  const results = new Results();
  const there = new Set(Object.keys(plan.subjects) as SubjectName[]);
  const together = plan.quick ? [plan.scenarios] : plan.scenarios.map((scenario) => [scenario]);
  for (const scenarios of together) {
    await using controlPlane = await open(plan);
    for (const scenario of scenarios) {
      for (const turn of turns(subjectsOf(scenario, there), plan.runs, plan.random)) {
        plan.onProgress(`${scenario.name}, run ${turn.run}: ${turn.subject}`);
        await session(plan, results, scenario, turn, controlPlane);
        plan.onResults(results);
      }
    }
  }
}

function open({ binaries }: Plan): Promise<ControlPlane> {
  return startControlPlane({ binaries, apiServerFlags: API_SERVER_FLAGS });
}

async function session(
  plan: Plan,
  results: Results,
  scenario: Scenario,
  { subject, run }: Turn,
  controlPlane: ControlPlane,
): Promise<void> {
  await using load = new Load(controlPlane);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const servers = await serversOf(controlPlane);
  if (!plan.quick) await waitForQuiet(plan.quietMs);
  const foreign = foreignLoad(servers);
  const world = new World({
    address: controlPlane,
    load,
    subject: plan.subjects[subject],
    opponent: plan.subjects.go,
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
    plan.onProgress(`${scenario.name}, run ${run}: ${subject}: FAILED: ${failure}`);
    // What it has to say to that has been said.
    await world.stop().catch(() => undefined);
  }
  const about = { scenario: scenario.name, subject, run, foreignLoad: foreign() };
  results.add({ ...about, ...(failure !== undefined && { failure }) }, figures);
  await clean(controlPlane, load, world.namespaces);
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
