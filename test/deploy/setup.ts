/** Vitest's global setup of the suite `deploy`: helm and promtool, built from `go.mod` here. */
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { builtTools } from '../support/go-tools.ts';

/** Paths of executables. */
export interface DeployTools {
  readonly helm: string;
  readonly promtool: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly deployTools: DeployTools;
  }
}

/** Fails without Go: this suite is not part of `npm test`, so it is asked for. */
export async function setup(project: TestProject): Promise<void> {
  const folder = await builtTools({
    module: fileURLToPath(new URL('./', import.meta.url)),
    name: 'helm and promtool',
    cache: 'deploy/tools',
    env: process.env,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  project.provide('deployTools', { helm: join(folder, 'helm'), promtool: join(folder, 'promtool') });
}
