import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { World } from '../controller/world.ts';
import { useBundle } from '../leaderelection/replicas.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';

const program = useBundle();
/** Node refuses to write files and to start processes; called otherwise before Node 23.5. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

/** Runs Node without any right but to read files. */
function runConfined(...args: readonly string[]) {
  const child = spawn(process.execPath, [PERMISSION, '--allow-fs-read=*', ...args]);
  const said = text(child.stderr);
  return { child, ended: once(child, 'exit'), said };
}

test('the controller writes no files and starts no processes: the root file system may be read-only', async () => {
  await using world = await World.open(sandboxServer);
  await world.createSource();
  const { child, ended, said } = runConfined(
    ...[program(), 'run', `--kubeconfig=${world.place.kubeconfigPath}`, '--http-address=127.0.0.1:0'],
    ...['--leader-elect', `--leader-elect-lease-namespace=${world.full('home')}`, '--freshness-canary=10s'],
  );
  await world.companion('home/colors-synced', 'home/colors');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await said).not.toContain('ERR_ACCESS_DENIED');

  const writing = runConfined('-e', 'require("fs").writeFileSync("/tmp/confined", "")');
  expect(await writing.ended).toEqual([1, null]);
  expect(await writing.said).toContain('ERR_ACCESS_DENIED');
});
