import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../test/support/control-plane.ts';
import type { ControlPlaneBinaries } from '../test/support/control-plane-binaries.ts';
import { waitFor } from '../test/support/wait-for.ts';
import type { Figure, SubjectName } from './report/figure.ts';
import { Results } from './report/report.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { type Measurement, schedule, subjectsOf } from './schedule.ts';
import type { Subject } from './subjects/subjects.ts';
import { clean } from './testbed/clean.ts';
import { Load } from './testbed/load.ts';
import { otherLoad, waitForQuiet } from './testbed/machine.ts';
import { findProcess } from './testbed/process-stats.ts';
import { Testbed } from './testbed/testbed.ts';

export interface Plan {
  readonly binaries: ControlPlaneBinaries;
  readonly scenarios: readonly Scenario[];
  /** Those to measure, in the scenarios that have them. */
  readonly subjects: Readonly<Partial<Record<SubjectName, Subject>>>;
  readonly runs: number;
  /** For the order of measurements; 0 to less than 1. */
  readonly random: () => number;
  /** Small sizes, one control plane for all scenarios, no wait for a quiet machine. */
  readonly quick: boolean;
  /** Longest wait for a quiet machine before each measurement. */
  readonly quietMs: number;
  readonly onProgress: (line: string) => void;
  /** Called after each measurement with all results so far: an interruption loses little. */
  readonly onResults: (results: Results) => void;
}

/** No audit log: it is for tests and costs the API server time. */
const API_SERVER_FLAGS = ['--audit-log-path=', '--audit-policy-file='];

/**
 * Measures every scenario `runs` times with each of its subjects, on one control plane each.
 * The machine's speed changes within minutes, so subjects to compare are measured one right after
 * the other, and the figures of a run are compared before runs are summed up.
 */
export async function measure(plan: Plan): Promise<void> {
  const results = new Results();
  const available = new Set(Object.keys(plan.subjects) as SubjectName[]);
  const together = plan.quick ? [plan.scenarios] : plan.scenarios.map((scenario) => [scenario]);
  for (const scenarios of together) {
    await using controlPlane = await open(plan);
    for (const scenario of scenarios) {
      const subjects = subjectsOf(scenario, available);
      for (const measurement of schedule(subjects, plan.runs, plan.random)) {
        plan.onProgress(`${scenario.name}, run ${measurement.run}: ${measurement.subject}`);
        await session(plan, results, scenario, measurement, controlPlane);
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
  { subject, run }: Measurement,
  controlPlane: ControlPlane,
): Promise<void> {
  await using load = new Load(controlPlane);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const servers = await serversOf(controlPlane);
  if (!plan.quick) await waitForQuiet(plan.quietMs);
  const others = otherLoad(servers);
  const testbed = new Testbed({
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
    figures = await scenario.measure(testbed);
    await testbed.stop();
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    plan.onProgress(`${scenario.name}, run ${run}: ${subject}: FAILED: ${failure}`);
    // It may have failed because the controller has ended.
    await testbed.stop().catch(() => undefined);
  }
  const about = { scenario: scenario.name, subject, run, otherLoad: others() };
  results.add({ ...about, ...(failure !== undefined && { failure }) }, figures);
  await clean(controlPlane, load, testbed.namespaces);
  rmSync(folder, { recursive: true, force: true });
}

/** Pids of the servers. A shell starts each, and may not have become the server yet. */
function serversOf(controlPlane: ControlPlane): Promise<readonly number[]> {
  const { url, etcdUrl, kubeconfigPath, hasControllerManager } = controlPlane;
  return waitFor(() => [
    findProcess(`--secure-port=${new URL(url).port}`),
    findProcess(`--listen-client-urls=${etcdUrl}`),
    ...(hasControllerManager ? [findProcess(`--kubeconfig=${kubeconfigPath}`)] : []),
  ]);
}
