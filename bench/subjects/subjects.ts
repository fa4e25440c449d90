import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { SubjectName } from '../report/figure.ts';

/** A program to measure: our controller, or an opponent. */
export interface Subject {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Added to our own environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** `baseline`: the Go program. `other`: another bundle of ours, if there is one. */
export function subjects(
  baseline: string,
  other: string | undefined,
): Readonly<Partial<Record<SubjectName, Subject>>> {
  const env = imageEnvironment();
  const bundle = (name: string, path: string): Subject => ({
    name,
    command: [process.execPath, '--import', local('./loop-delay.mjs'), path, 'run'],
    env,
  });
  const goProgram = (name: string, ...flags: string[]): Subject => ({
    name,
    command: [baseline, ...flags],
    env: {},
  });
  return {
    ours: bundle('ours', local('../../dist/mirror-controller.js')),
    ...(other !== undefined && { other: bundle('other', resolve(other)) }),
    go: goProgram('go'),
    // As fast as client-go gets. Its default is JSON, and few controllers change that.
    'go-protobuf': goProgram('go-protobuf', '--content-type=application/vnd.kubernetes.protobuf'),
  };
}

/** The variables that the container image sets: users run the image. */
function imageEnvironment(): Readonly<Record<string, string>> {
  const dockerfile = readFileSync(local('../../Dockerfile'), 'utf8');
  const settings = dockerfile.matchAll(/^ENV (\w+)=(\S+)$/gm);
  return Object.fromEntries(Array.from(settings, ([, name, value]) => [name, value]));
}

function local(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
