/**
 * Preloaded into the controller's process (`node --import`), by the benchmark only: how long did anything keep the
 * event loop? Writes one JSON object to the file named in `BENCH_LOOP_DELAY_FILE` when the process ends.
 *
 * The machine is shared, so a late timer proves nothing: the process may have been waiting for a core. A tick counts
 * as blocked for no longer than the processor time that the process used since the tick before.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { createHistogram, performance } from 'node:perf_hooks';
import process from 'node:process';

const RESOLUTION_MS = 10;
/** Whole microseconds: a histogram takes integers from 1 up. */
const blocked = createHistogram();

// Loading the program is one long block, in which nothing could have been late. What counts begins with the first connection.
subscribe('undici:client:connected', watch);

function watch() {
  unsubscribe('undici:client:connected', watch);
  let last = performance.now();
  let lastCpu = process.cpuUsage();
  setInterval(() => {
    const now = performance.now();
    const cpu = process.cpuUsage();
    const used = (cpu.user - lastCpu.user + cpu.system - lastCpu.system) / 1000;
    const late = now - last - RESOLUTION_MS;
    blocked.record(Math.max(1, Math.round(Math.min(late, used) * 1000)));
    last = now;
    lastCpu = cpu;
  }, RESOLUTION_MS).unref();
}

process.once('exit', () => {
  const ms = (microseconds) => microseconds / 1000;
  const measured = { p99: ms(blocked.percentile(99)), max: ms(blocked.max) };
  writeFileSync(process.env['BENCH_LOOP_DELAY_FILE'], JSON.stringify(measured));
});
