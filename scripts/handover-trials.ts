/**
 * `npm run handover-trials -- [TRIALS [LEASE RENEW RETRY]]`: how long the writes pause when the
 * leader of two real processes ends or hangs, and whether the old one writes afterwards. On a real
 * control plane of its own; default 20 trials for each signal, with the flags' default times.
 */

import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Replica } from '../test/leaderelection/replica.ts';
import { Replicas, type Times } from '../test/leaderelection/replicas.ts';
import { startControlPlane } from '../test/support/control-plane.ts';
import { type AuditedCall, AuditLog } from '../test/support/control-plane-audit.ts';
import { findBinaries } from '../test/support/control-plane-binaries.ts';
import { serverOn } from '../test/support/servers/control-plane-server.ts';
import { WRITE_VERBS } from '../test/support/servers/server.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { aboveZero } from './above-zero.ts';

const PROGRAM = fileURLToPath(new URL('../dist/mirror-controller.js', import.meta.url));
/** Time (ms) between two edits of the source: there is always something to write. */
const EDIT_MS = 50;

interface Trial {
  /** From the signal to the first write of the next leader. */
  readonly pauseMs: number;
  /** Writes of the old leader after that. */
  readonly late: number;
}

const receivedAt = (call: AuditedCall) => Date.parse(call.requestReceivedTimestamp);

async function writesOf(audit: AuditLog, replica: Replica): Promise<readonly AuditedCall[]> {
  return (await audit.calls()).filter(
    ({ verb, objectRef, impersonatedUser }) =>
      WRITE_VERBS.includes(verb) &&
      objectRef?.resource === 'configmaps' &&
      impersonatedUser?.username === replica.name,
  );
}

/** Edits the source until `signal` aborts. */
async function edit({ world }: Replicas, signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    await world.person.patch(world.full('home/colors'), { data: { sky: `${count}` } });
    await delay(EDIT_MS);
  }
}

async function trial(
  audit: AuditLog,
  leader: Replica,
  standby: Replica,
  signal: 'TERM' | 'KILL' | 'STOP',
): Promise<Trial> {
  await waitFor(async () => (await writesOf(audit, leader)).length > 0, { deadlineMs: 60_000 });
  const signalledAt = Date.now();
  leader.signal(signal);
  const first = await waitFor(async () => (await writesOf(audit, standby))[0], { deadlineMs: 120_000 });
  if (signal === 'STOP') {
    leader.signal('CONT');
    await leader.logged('lost the Lease');
  }
  // Time for the old one to do what it must not.
  await delay(1_000);
  const late = (await writesOf(audit, leader)).filter((call) => receivedAt(call) > receivedAt(first));
  return { pauseMs: receivedAt(first) - signalledAt, late: late.length };
}

async function main(): Promise<void> {
  const [count = '20', lease = '15s', renew = '10s', retry = '2s'] = process.argv.slice(2);
  const trials = aboveZero('number of trials', count);
  const times: Times = [lease, renew, retry];
  console.log(
    `${trials} trials each; lease duration ${lease}, renew deadline ${renew}, retry period ${retry}`,
  );
  const binaries = await findBinaries({ env: process.env, onProgress: (line) => console.error(line) });
  await using controlPlane = await startControlPlane({ binaries });
  const server = serverOn(controlPlane);
  for (const signal of ['TERM', 'KILL', 'STOP'] as const) {
    const results: Trial[] = [];
    for (let number = 0; number < trials; number++) {
      const audit = await AuditLog.open(controlPlane.auditLogPath);
      await using replicas = await Replicas.open(PROGRAM, server, times);
      const [leader, standby] = await replicas.startAll(2);
      const editing = new AbortController();
      const edits = edit(replicas, editing.signal);
      results.push(await trial(audit, leader, standby, signal));
      editing.abort();
      await edits;
    }
    report(signal, results);
  }
}

function report(signal: string, results: readonly Trial[]): void {
  const pauses = results.map(({ pauseMs }) => pauseMs).sort((a, b) => a - b);
  const median = pauses[Math.floor(pauses.length / 2)];
  const late = results.reduce((sum, result) => sum + result.late, 0);
  console.log(
    `SIG${signal}: ${results.length} handovers, pause of writes ${pauses[0]}-${pauses.at(-1)} ms, median ${median} ms; ` +
      `writes of the old leader afterwards: ${late}`,
  );
}

await main();
process.exit(0);
