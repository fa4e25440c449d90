import { setFlagsFromString } from 'node:v8';

// Imported before everything else: a flag affects only what is compiled and allocated after it is set.

/** After a burst of changes the young generation stays small; by default it grows to 48 MiB of resident memory. */
setFlagsFromString('--semi-space-growth-factor=1');
/** Garbage is collected when the heap has grown by half; by default, ten fan-outs to 1,000 namespaces leave 20 MiB. */
setFlagsFromString('--heap-growing-percent=50');
/** undici's HTTP parser is WebAssembly: to optimize it takes 35 MiB of memory at every start, for no faster an answer. */
setFlagsFromString('--liftoff-only');
setFlagsFromString('--no-wasm-tier-up');
