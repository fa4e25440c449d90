import { expect, test } from 'vitest';
import { promtool } from '../deploy/tools.ts';
import { useBundle } from '../leaderelection/replicas.ts';
import { startOwnControlPlane } from '../support/control-plane-suite.ts';
import { soak } from './soak.ts';

const program = useBundle();

test('[R1] [L1] half a minute of random work and random trouble for two replicas', async () => {
  await using controlPlane = await startOwnControlPlane();
  const report = await soak({
    controlPlane,
    program: program(),
    promtool,
    seed: Math.floor(Math.random() * 1e6),
    durationMs: 30_000,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  expect(String(report)).toContain('\n0 differences');
  expect(report.rounds).toBeGreaterThan(0);
}, 900_000);
