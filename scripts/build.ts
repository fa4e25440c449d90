/** `npm run build`: writes dist/mirror-controller.js. */
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';

const outfile = fileURLToPath(new URL('../dist/mirror-controller.js', import.meta.url));
const start = performance.now();
await bundle({ outfile });
const kib = Math.round(statSync(outfile).size / 1024);
console.log(`dist/mirror-controller.js: ${kib} KiB in ${Math.round(performance.now() - start)} ms`);
