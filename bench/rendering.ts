import { spawn } from 'node:child_process';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { World } from '../test/controller/world.ts';
import { sandboxServer } from '../test/support/servers/sandbox-server.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { cpuSeconds } from './testbed/process-stats.ts';
import { names } from './testbed/sources.ts';

/**
 * What rendering adds to a fan-out (SPEC V5), on the sandbox: `npm run build`, then
 * `npx tsx bench/rendering.ts [NAMESPACES] [KIB] [ROUNDS]`, by default 1,000 namespaces, 10 KiB and
 * 5 rounds. Compares the processor time of the controller process for a source with placeholders,
 * of which one is a label that differs in each namespace, with that for a source without. To see
 * where the time goes, set `NODE_OPTIONS=--cpu-prof` for the controller alone: `CPU_PROF=1`.
 */
const [namespaces = 1000, kib = 10, rounds = 5] = process.argv.slice(2).map(Number);
const DEADLINE_MS = 120_000;
/** Time (ms) after the last companion in which the controller handles its watch events. */
const AFTER_MS = 1000;

await using world = await World.open(sandboxServer);
const targets = names('target-', namespaces);
for (const name of targets) await world.createNamespace(name, { labels: { tier: `tier-${name}` } });

const flags = ['run', `--kubeconfig=${world.place.kubeconfigPath}`, '--log-level=warn', '--http-address='];
const nodeFlags = process.env['CPU_PROF'] === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir=dist'];
const controller = spawn(process.execPath, [...nodeFlags, 'dist/mirror-controller.js', ...flags], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
const { pid } = controller;
if (pid === undefined) throw new Error('the controller did not start; run `npm run build` first');

const line = 'key: a value of some length, as in many files\n';
const plain = line.repeat((kib * 1024) / line.length);
const template = `${plain}tier: $(mirror.label.tier)\nnamespace: $(mirror.namespace)\n`;

/** Processor time (s) of the controller until the source has all its companions, and knows it. */
async function fanOut(name: string, text: string, asks: Readonly<Record<string, string>>): Promise<number> {
  const before = cpuSeconds(pid ?? 0);
  const all = { 'target-namespaces': world.full('target-*'), ...asks };
  await world.createSource({ name, data: { 'app.yaml': text }, asks: all });
  // One by one: a thousand reads at once would slow down the server, which runs in this process.
  for (const target of targets) {
    const companion = () => world.configMap(`${target}/${name}-synced`);
    await waitFor(async () => (await companion()) !== undefined, { deadlineMs: DEADLINE_MS });
  }
  await delay(AFTER_MS);
  return cpuSeconds(pid ?? 0) - before;
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
const RENDER = { 'render-keys': '*' };
// Code that is not compiled yet.
await fanOut('warm-plain', plain, {});
await fanOut('warm-rendered', template, RENDER);
const measured = { plain: [] as number[], rendered: [] as number[] };
for (let round = 0; round < rounds; round += 1) {
  measured.plain.push(await fanOut(`plain-${round}`, plain, {}));
  measured.rendered.push(await fanOut(`rendered-${round}`, template, RENDER));
}
const [without, rendered] = [median(measured.plain), median(measured.rendered)];
const share = (100 * (rendered - without)) / rendered;
process.stdout.write(
  `${namespaces} namespaces, ${kib} KiB: plain ${without.toFixed(2)} s, rendered ${rendered.toFixed(2)} s of processor time: rendering is ${share.toFixed(0)} %\n`,
);
controller.kill('SIGTERM');
