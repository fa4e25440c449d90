import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { systemClock } from '../../src/clock/clock.ts';
import type { Command } from '../../src/demo/commands.ts';
import { playDemo, playSteps } from '../../src/demo/demo.ts';
import { SANDBOX_SETTING } from '../../src/demo/setting.ts';
import { createTransport } from '../../src/kube/http/pooled-transport.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { hasKubectl } from '../support/kubectl.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { clusterSuite } from './cluster.suite.ts';
import { openSandboxDemo } from './sandbox-demo.ts';

const STEPS = 21;
const folder = mkdtempSync(join(tmpdir(), 'demo-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('[C5] the demo plays to its end on the sandbox: exit code 0, plain, within 80 columns', async () => {
  const io = memoryIo();
  const code = await runProgram(['demo'], io);
  expect(io.err()).toBe('');
  expect(code).toBe(0);
  expect(io.out().match(/^ {4}✓ .*$/gm)).toHaveLength(STEPS);
  expect(io.out()).toContain(`${STEPS} steps, all as expected, in `);
  expect(io.out().trimEnd().split('\n').at(-1)).toContain('npm run sandbox');
  expect(io.out()).not.toContain('\u001b');
  expect(
    io
      .out()
      .split('\n')
      .filter((line) => line.length > 80),
  ).toEqual([]);
});

test('[C5] the outage is real: the demo shows delays of the controller, and they grow', async () => {
  await using demo = await openSandboxDemo();
  await playDemo(demo.place, demo.deps);
  const shown = /(\d+) writes failed and were retried after ([\d,\s]+) ms/.exec(demo.out());
  const delays = String(shown?.[2]).split(/,\s+/).map(Number);
  expect(delays.length).toBeGreaterThanOrEqual(5);
  expect(delays).toHaveLength(Number(shown?.[1]));
  // 50 ms doubled each time, of which at most half is taken away: the last exceeds the first in any
  // case.
  expect(delays.at(-1)).toBeGreaterThan(Number(delays[0]));
});

describe('[C5] a step that fails ends the demo, with the step, what was expected and what was found', () => {
  test('when the controller only pretends to work', async () => {
    await using demo = await openSandboxDemo({
      flags: { 'dry-run': 'true' },
      onLine: (line, { haltController }) => line.includes('Label it') && haltController(),
    });
    await expect(playDemo(demo.place, demo.deps)).rejects.toThrow(
      /^step 2, "Label it", failed: expected default\/colors-synced with sky=blue.*; found default\/colors {"sky":"blue"}$/,
    );
    expect(demo.out()).toContain('✗');
  });

  // Step 1 expects nothing of the controller, and step 9 only prepares step 10.
  const dependent = Array.from({ length: STEPS }, (_, i) => i + 1).filter((step) => step !== 1 && step !== 9);
  test.each(dependent)('when the controller has died before step %i', async (step) => {
    const title = new RegExp(`^ ?${step}  `);
    await using demo = await openSandboxDemo({
      onLine: (line, { haltController }) => title.test(line) && haltController(),
    });
    await expect(playDemo(demo.place, demo.deps)).rejects.toThrow(`step ${step}, `);
    expect(demo.out().match(/^ {4}✓/gm) ?? []).toHaveLength(step - 1);
  });

  test('when the API server refuses what a person types', async () => {
    await using demo = await openSandboxDemo();
    const taken = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'colors' } };
    await post(`${demo.server.url}/api/v1/namespaces/default/configmaps`, taken);
    await expect(playDemo(demo.place, demo.deps)).rejects.toThrow(
      /^step 1, .*failed: the API server answered 409: configmaps "colors" already exists/,
    );
  });
});

test('[C5] Ctrl-C ends the demo and its controller at once', async () => {
  await using demo = await openSandboxDemo({
    onLine: (line, { interrupt }) => line.includes('Let the API server fail') && interrupt(),
  });
  await expect(playDemo(demo.place, demo.deps)).rejects.toThrow('interrupted in step 6');
  expect(demo.isControllerRunning()).toBe(false);
  expect(demo.out()).not.toContain('Many namespaces');
});

test('[C5] an interrupted demo exits with 1', async () => {
  const io = memoryIo();
  io.stop();
  expect(await runProgram(['demo'], io)).toBe(1);
  expect(io.err()).toMatch(/^mirror-controller: interrupted before the first step\n$/);
});

test('[C5] each step in which the controller acts shows what the controller logged', async () => {
  await using demo = await openSandboxDemo();
  await playDemo(demo.place, demo.deps);
  const steps = demo
    .out()
    .split(/^(?= ?\d+ {2})/m)
    .slice(1);
  expect(steps).toHaveLength(STEPS);
  const silent = steps.flatMap((text, index) => (/^ {4}\| /m.test(text) ? [] : [index + 1]));
  expect(silent).toEqual([1, 9]);
  // The lines are complete, and before the effect: the answers to all writes are waited for.
  expect(steps[6]?.match(/companion demo-team-[ab]\/colors-synced created/g)).toHaveLength(2);
  for (const text of steps) expect(text).not.toMatch(/✓(.|\n)*\n {4}\| /);
});

test('[C5] on a terminal each step waits for Enter', async () => {
  const io = memoryIo();
  const stdin = new PassThrough();
  const stdout = Object.assign(io.stdout, { isTTY: true });
  const ended = runProgram(['demo'], { ...io, stdin, stdout, env: { ...io.env, NO_COLOR: '1' } });
  const count = (pattern: RegExp) => io.out().match(pattern)?.length ?? 0;
  for (let step = 1; step <= STEPS; step++) {
    await waitFor(() => count(/Press Enter/g) === step, { describe: io.out });
    expect(count(/^.* ?\d+ {2}[A-Z]/gm)).toBe(step - 1);
    stdin.write('\n');
  }
  expect(await ended).toBe(0);
});

test('[C5] the end of the input on a terminal plays the demo without a pause', async () => {
  const io = memoryIo();
  const stdout = Object.assign(io.stdout, { isTTY: true });
  expect(await runProgram(['demo'], { ...io, stdout })).toBe(0);
});

test('[C5] --pace waits before each step, and Ctrl-C ends the wait', async () => {
  const io = memoryIo();
  const ended = runProgram(['demo', '--pace', '1d'], io);
  await waitFor(() => io.out().includes('One namespace'));
  io.stop();
  expect(await ended).toBe(1);
  expect(io.err()).toBe('mirror-controller: interrupted in step 1\n');
  expect(io.out()).not.toContain('Create a ConfigMap');
});

describe('[C5] in a real cluster', () => {
  clusterSuite(sandboxServer);

  test('[C5] a kubeconfig without --context never makes the demo use its cluster', async () => {
    await using demo = await openSandboxDemo();
    const { server } = demo;
    const path = join(folder, 'kubeconfig');
    writeFileSync(path, server.kubeconfig());
    const before = server.requestCounts();
    const outcome = async (args: readonly string[], env = {}) => {
      const io = memoryIo(env);
      return { code: await runProgram(['demo', ...args], io), io };
    };
    const refused = [await outcome(['--kubeconfig', path]), await outcome([], { MIRROR_KUBECONFIG: path })];
    for (const { code, io } of refused) {
      expect(code).toBe(2);
      expect(io.err()).toContain('uses a cluster only with --context');
    }
    const { code, io } = await outcome([], { KUBECONFIG: path });
    expect(code).toBe(0);
    expect(io.out()).toContain('on its sandbox');
    expect(server.requestCounts()).toEqual(before);
  });

  test('[O5] a cluster that cannot be used: exit code 1, and what to do', async () => {
    await using demo = await openSandboxDemo();
    const { server } = demo;
    const down = join(folder, 'down');
    writeFileSync(down, server.kubeconfig().replace(/:\d+/, ':1'));
    const io = memoryIo();
    expect(await runProgram(['demo', '--kubeconfig', down, '--context', 'sandbox'], io)).toBe(1);
    expect(io.err()).toMatch(
      /^mirror-controller: cannot reach the API server at .*\nCheck that the cluster is up.*\n$/,
    );
  });

  test('[C5] what is labelled for a controller that runs there is none of its business', async () => {
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
    await using demo = await openSandboxDemo();
    const path = join(folder, 'for-kubectl');
    writeFileSync(path, demo.server.kubeconfig());
    const env = { ...process.env, KUBECONFIG: path };
    const requests = new AbortController();
    const transport = createTransport(demo.place.cluster, {
      clock: systemClock,
      userAgent: 'workshop',
      signal: requests.signal,
    });
    const { setFailing } = demo;
    const send = ({ line }: Command) => promisify(execFile)('sh', ['-c', line], { env });
    await playSteps(SANDBOX_SETTING, transport, { ...demo.deps, send, setFailing });
    expect(demo.out()).toContain(`${STEPS} steps, all as expected, in `);
    requests.abort();
    await transport.close();
  });
});

async function post(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(status).toBe(201);
}
