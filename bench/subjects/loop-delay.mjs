/**
 * Measures how long the event loop is blocked. The benchmark preloads it into the controller's
 * process (`node --import`). Writes JSON to `BENCH_LOOP_DELAY_FILE` when the process ends.
 *
 * The machine is shared, so a late timer alone proves nothing: the process may have waited for a
 * core. A tick therefore counts at most the processor time used since the tick before.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { createHistogram, performance } from 'node:perf_hooks';
import process from 'node:process';

/** Interval between two ticks. */
const RESOLUTION_MS = 10;
/** In whole microseconds: a histogram takes integers from 1. */
const blocked = createHistogram();

// While the program loads there is nothing to delay: start with the first connection.
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
