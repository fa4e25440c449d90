import process from 'node:process';
import { setFlagsFromString } from 'node:v8';

// Imported before everything else: a flag affects only code that is compiled after it is set. A flag that is set here does not
// set those that it implies on the command line, and one that V8 does not know is named on stderr.

/** 11 in Node 20, 12 in Node 22, 13 in Node 24. */
const engine = Number.parseInt(process.versions.v8, 10);

/**
 * The heap's young generation stays at its first size. Otherwise V8 lets it grow to 48 MiB at the first burst and keeps it,
 * which is more than all that we remember of 10,000 companions.
 */
setFlagsFromString('--semi-space-growth-factor=1');

/**
 * The old generation is collected when it is half as large again as what was alive the last time. By default a small heap
 * may grow to four times that: ten fan-outs to 1,000 namespaces left 20 MiB of garbage.
 */
setFlagsFromString('--heap-growing-percent=50');

/**
 * undici's HTTP parser is WebAssembly, most of it one function: to optimise it takes V8 35 MiB and 0.1 s of processor time
 * at every start, and at a thousand answers a second nothing is gained (docs/performance.md).
 */
setFlagsFromString('--liftoff-only');
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');

/**
 * Functions are optimised four times later than by default. A controller starts with a burst of a second or two on a busy
 * machine: with the default the compiler takes a third of all our processor time in it. To go back to the default when the
 * burst is over costs the first fan-outs an eighth of their writes a second, for 2 % of an edit (docs/performance.md).
 */
const TIMES_LATER = 4;
const [threshold, byDefault] =
  engine < 12 ? ['--interrupt-budget', 67_584] : ['--invocation-count-for-turbofan', 3000];
setFlagsFromString(`${threshold}=${byDefault * TIMES_LATER}`);

/** The compiler between the first and the last, which Node 24 has switched on: 11 MiB for nothing (docs/performance.md). */
setFlagsFromString('--no-maglev');

/**
 * The young generation is collected by the main thread alone. It is small, and where the API server has all cores busy the
 * helpers are waited for longer than they help: a collection that takes 1 ms took up to 60.
 */
setFlagsFromString('--no-parallel-scavenge');
