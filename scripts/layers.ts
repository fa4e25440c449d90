/** `npm run layers`: fails when an import in `src` breaks a rule of `layer-rules.ts`. */
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { findBreaches, findVacancies } from './layer-rules.ts';

const root = new URL('../', import.meta.url);
const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));

const breaches = [...findBreaches(files), ...findVacancies(files)];
for (const breach of breaches) console.error(breach);
console.log(`layers: ${files.length} files, ${breaches.length} breaches of a rule`);
process.exitCode = breaches.length === 0 ? 0 : 1;
