import process from 'node:process';
import { setFlagsFromString } from 'node:v8';

// Imported before everything else: a flag affects only what is compiled and allocated after it is
// set.

/**
 * After a burst of changes the young generation stays small; by default it grows to 48 MiB of
 * resident memory.
 */
setFlagsFromString('--semi-space-growth-factor=1');
/**
 * Garbage is collected when the heap has grown by a fifth. At 50 % a first start over 10,000
 * sources takes 11 MiB more at its peak (`npm run bench -- --scenario cold-start-10000`), in the
 * same processor time.
 */
setFlagsFromString('--heap-growing-percent=20');
/**
 * undici's HTTP parser is WebAssembly: to optimize it takes 25 MiB of memory at every start, for no
 * faster an answer.
 */
setFlagsFromString('--liftoff-only');
setFlagsFromString('--no-wasm-tier-up');
/**
 * Functions are optimized four times later than by default (V8 11 in Node 20 counts in another unit
 * than its successors). A start is a short burst: by default the compiler takes a quarter of our
 * processor time in it, and a cold start over 1,000 sources has a third fewer writes a second (`npm
 * run bench -- --scenario cold-start-1000 --other FILE`).
 */
const isNode20 = Number.parseInt(process.versions.v8, 10) < 12;
setFlagsFromString(isNode20 ? '--interrupt-budget=270336' : '--invocation-count-for-turbofan=12000');
