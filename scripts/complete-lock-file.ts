/**
 * `npm run complete-lock-file`: adds to package-lock.json the optional packages of other platforms
 * that npm left out.
 *
 * npm leaves out what its registry does not have, and a mirror often lacks binaries for platforms
 * that nobody behind it uses. `npm ci` then refuses the lock file, on every platform. An added
 * entry says for which platform the package is, which is enough for `npm ci` to skip it elsewhere;
 * it has no checksum, since we have not seen the package.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { completed, type LockFile } from './lock-file.ts';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8')) as LockFile;
const { lockFile, added } = completed(lock);
writeFileSync(file, `${JSON.stringify(lockFile, null, 2)}\n`);
console.log(`package-lock.json: ${added.length} optional packages added`);
for (const path of added) console.log(`  ${path}`);
