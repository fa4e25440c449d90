import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundleWithoutEvents } from '../../bench/subjects/without-events.ts';
import { bundle } from '../../scripts/bundle.ts';
import { World } from '../controller/world.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';

const run = promisify(execFile);

test.each([
  { what: 'ours, with Events,', build: (outfile: string) => bundle({ outfile }), events: 1 },
  { what: 'the one without Events', build: bundleWithoutEvents, events: 0 },
])('[O3] of the bundles whose start the benchmark compares, $what mirrors', async ({ build, events }) => {
  const folder = mkdtempSync(join(tmpdir(), 'without-events-'));
  const program = join(folder, 'program.js');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await build(program);
  await using world = await World.open(sandboxServer);
  await world.createSource();
  await run(process.execPath, [program, 'run', '--once', `--kubeconfig=${world.place.kubeconfigPath}`]);
  await world.companion('home/colors-synced', 'home/colors');
  const path = `/apis/events.k8s.io/v1/namespaces/${world.full('home')}/events`;
  const list = await world.person.get<{ readonly items: readonly object[] }>(path);
  expect(list?.items).toHaveLength(events);
  rmSync(folder, { recursive: true });
});
