import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that exists until the end of the test. `write` returns the path of the file. */
export function temporaryFolder(): { readonly path: string; write(name: string, text: string): string } {
  const path = mkdtempSync(join(tmpdir(), 'mirror-controller-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return {
    path,
    write: (name, text) => {
      const file = join(path, name);
      writeFileSync(file, text);
      return file;
    },
  };
}
