import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import type { User } from '@kubernetes/client-node';
import { temporaryFolder } from './temporary-files.ts';

/** An exec plugin that counts its runs and then executes `script`, in which `run` is the count. */
export function plugin(script: string): { user: User; runs(): number } {
  const folder = temporaryFolder();
  const log = `${folder.path}/runs`;
  const file = folder.write(
    'plugin.cjs',
    `const fs = require('node:fs');
     fs.appendFileSync(${JSON.stringify(log)}, 'x');
     const run = fs.readFileSync(${JSON.stringify(log)}).length;
     const give = (status) => console.log(JSON.stringify({ kind: 'ExecCredential', status }));
     ${script}`,
  );
  return {
    user: { name: 'alice', exec: { command: process.execPath, args: [file] } },
    runs: () => (existsSync(log) ? readFileSync(log, 'utf8').length : 0),
  };
}
