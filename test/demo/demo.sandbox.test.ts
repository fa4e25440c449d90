import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { systemClock } from '../../src/clock/clock.ts';
import { SANDBOX_SETTING } from '../../src/demo/cast.ts';
import type { Command } from '../../src/demo/command.ts';
import { playDemo } from '../../src/demo/demo.ts';
import { perform } from '../../src/demo/perform.ts';
import { createTransport } from '../../src/kube/http/transport.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { hasKubectl } from '../support/kubectl.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { clusterSuite } from './cluster.suite.ts';
import { rehearsal } from './rehearsal.ts';

const STEPS = 12;
const folder = mkdtempSync(join(tmpdir(), 'demo-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('[C5] the demo plays to its end on the sandbox: exit code 0, plain, within 80 columns', async () => {
  const io = memoryIo();
  const code = await runProgram(['demo'], io);
  expect(io.err()).toBe('');
  expect(code).toBe(0);
  expect(io.out().match(/^ {4}✓ .*$/gm)).toHaveLength(STEPS);
  expect(io.out()).toContain(`${STEPS} steps, all as expected, in `);
  expect(io.out()).not.toContain('\u001b');
  expect(
    io
      .out()
      .split('\n')
      .filter((line) => line.length > 80),
  ).toEqual([]);
});

test('[C5] the outage is real: the demo shows delays of the controller, and they grow', async () => {
  await using stage = await rehearsal();
  await playDemo(stage.stage, stage.deps);
  const shown = /(\d+) writes failed, tried again after ([\d,\s]+) ms/.exec(stage.out());
  const delays = String(shown?.[2]).split(/,\s+/).map(Number);
  expect(delays.length).toBeGreaterThanOrEqual(5);
  expect(delays).toHaveLength(Number(shown?.[1]));
  // 50 ms doubled each time, of which at most half is taken away: the last exceeds the first in any case.
  expect(delays.at(-1)).toBeGreaterThan(Number(delays[0]));
});

describe('[C5] a step that does not hold ends the demo, which reports the step, what it expected and what it found', () => {
  test('when the controller only pretends to work', async () => {
    await using stage = await rehearsal({
      flags: { 'dry-run': 'true' },
      onLine: (line, { haltController }) => line.includes('Label it') && haltController(),
    });
    await expect(playDemo(stage.stage, stage.deps)).rejects.toThrow(
      /^step 2, "Label it", does not hold: expected default\/colors-synced with sky=blue.*; found default\/colors \(sky=blue\)$/,
    );
    expect(stage.out()).toContain('✗');
  });

  // Step 1 expects nothing of the controller, and step 9 only prepares step 10.
  const dependent = Array.from({ length: STEPS }, (_, i) => i + 1).filter((step) => step !== 1 && step !== 9);
  test.each(dependent)('when the controller has died before step %i', async (step) => {
    const title = new RegExp(`^ ?${step}  `);
    await using stage = await rehearsal({
      onLine: (line, { haltController }) => title.test(line) && haltController(),
    });
    await expect(playDemo(stage.stage, stage.deps)).rejects.toThrow(`step ${step}, `);
    expect(stage.out().match(/✓/g)).toHaveLength(step - 1);
  });

  test('when the API server refuses what a person types', async () => {
    await using stage = await rehearsal();
    const taken = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'colors' } };
    await post(`${stage.server.url}/api/v1/namespaces/default/configmaps`, taken);
    await expect(playDemo(stage.stage, stage.deps)).rejects.toThrow(
      /^step 1, .*expected the API server to take "kubectl create configmap colors.*; found 409 configmaps "colors" already exists/,
    );
  });
});

test('[C5] Ctrl-C ends the demo and its controller at once', async () => {
  await using stage = await rehearsal({
    onLine: (line, { interrupt }) => line.includes('Let the API server fail') && interrupt(),
  });
  await expect(playDemo(stage.stage, stage.deps)).rejects.toThrow('interrupted in step 6');
  expect(stage.isControllerRunning()).toBe(false);
  expect(stage.out()).not.toContain('Many namespaces');
});

test('[C5] an interrupted demo exits with 1', async () => {
  const io = memoryIo();
  io.stop();
  expect(await runProgram(['demo'], io)).toBe(1);
  expect(io.err()).toMatch(/^mirror-controller: interrupted before the first step\n$/);
});

describe("[C5] in somebody's cluster", () => {
  clusterSuite(sandboxServer);

  test('[C5] the demo leaves alone what is labelled for a controller that runs there', async () => {
    await using place = await sandboxServer.open();
    const url = `${place.access.url}/api/v1/namespaces/default/configmaps`;
    const theirs = { name: 'theirs', labels: { 'workshop.io/managed': 'true' } };
    await post(url, { apiVersion: 'v1', kind: 'ConfigMap', metadata: theirs });
    const args = ['demo', '--kubeconfig', place.kubeconfigPath, '--context', 'sandbox'];
    expect(await runProgram(args, memoryIo())).toBe(0);
    const { items } = (await (await fetch(url)).json()) as { items: readonly unknown[] };
    expect(items).toHaveLength(1);
  });
});

describe.skipIf(!hasKubectl())('with kubectl', () => {
  test('[C5] the lines that the demo shows do what it says, typed into a shell', async () => {
    await using stage = await rehearsal();
    const path = join(folder, 'for-kubectl');
    writeFileSync(path, stage.server.kubeconfig());
    const env = { ...process.env, KUBECONFIG: path };
    const requests = new AbortController();
    const transport = createTransport(stage.stage.cluster, {
      clock: systemClock,
      userAgent: 'workshop',
      signal: requests.signal,
    });
    const { setFailing } = stage;
    const send = ({ line }: Command) => promisify(execFile)('sh', ['-c', line], { env });
    const tally = await perform({ setting: SANDBOX_SETTING, transport, send, setFailing }, stage.deps);
    expect(tally).toMatchObject({ held: STEPS, skipped: 0 });
    requests.abort();
    await transport.close();
  });
});

async function post(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(status).toBe(201);
}
