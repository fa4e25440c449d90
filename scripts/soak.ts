/**
 * `npm run soak -- [--minutes N] [--seed N]`: two replicas in random trouble, on a real control
 * plane of its own, for 10 minutes by default. The seed is random by default; the same one gives
 * the same work and the same trouble, as far as time allows. Ends with 1 if anything is not as it
 * should be. Ctrl-C ends it after the present round.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { soak } from '../test/soak/soak.ts';
import { startControlPlane } from '../test/support/control-plane.ts';
import { findBinaries } from '../test/support/control-plane-binaries.ts';
import { builtTools } from '../test/support/go-tools.ts';
import { aboveZero } from './above-zero.ts';

const inRepository = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const run = promisify(execFile);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
  const minutes = aboveZero('--minutes', values.minutes ?? '10');
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  const { env } = process;
  const onProgress = (line: string) => console.error(line);
  const tools = await builtTools({
    module: inRepository('test/deploy/'),
    name: 'helm and promtool',
    cache: 'deploy/tools',
    env,
    onProgress,
  });
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  await using controlPlane = await startControlPlane({ binaries: await findBinaries({ env, onProgress }) });
  const report = await soak({
    controlPlane,
    program: inRepository('dist/mirror-controller.js'),
    promtool: async (...args) => (await run(join(tools, 'promtool'), args)).stdout,
    seed,
    durationMs: minutes * 60_000,
    signal: stopping.signal,
    onProgress,
  });
  console.log(String(report));
  if (report.differs) process.exitCode = 1;
}

await main();
