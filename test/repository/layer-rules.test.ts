import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findBreaches, findVacancies } from '../../scripts/layer-rules.ts';

interface Case {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

const breachesOf = ({ path, text }: Case) => findBreaches([{ path, text }]);
const MIRROR_IMPORTS_ONLY =
  'src/mirror imports only src/kube/api/object-key.ts, src/kube/api/types.ts, node:crypto';

describe('the layer rules', () => {
  const breaches: readonly (Case & { readonly reason: string })[] = [
    {
      name: 'an import of a room above',
      path: 'src/kube/http/transport.ts',
      text: "import { Informer } from '../../informer/informer.ts';",
      reason: 'informer is above kube in src',
    },
    {
      name: 'a type imported from above',
      path: 'src/clock/clock.ts',
      text: "import type { Logger } from '../telemetry/logger.ts';",
      reason: 'telemetry is above clock in src',
    },
    {
      name: 'an import over several lines',
      path: 'src/controller/controller.ts',
      text: "import {\n  runDemo,\n  type Step,\n} from '../demo/demo.ts';",
      reason: 'demo is above controller in src',
    },
    {
      name: 'a re-export from above',
      path: 'src/workqueue/queue.ts',
      text: "export { reconcile } from '../controller/reconcile/reconcile.ts';",
      reason: 'controller is above workqueue in src',
    },
    {
      name: 'an import for its effect',
      path: 'src/demo/demo.ts',
      text: "import '../cli/run.ts';",
      reason: 'cli is above demo in src',
    },
    {
      name: 'a dynamic import from above',
      path: 'src/controller/controller.ts',
      text: "const { main } = await import('../main.ts');",
      reason: 'main.ts is above controller in src',
    },
    {
      name: 'an import of a sibling',
      path: 'src/informer/reflector.ts',
      text: "import { WorkQueue } from '../workqueue/queue.ts';",
      reason: 'workqueue and informer are siblings in src',
    },
    {
      name: 'an import of a room above in the same room',
      path: 'src/controller/write/writer.ts',
      text: "import { reconcile } from '../reconcile/reconcile.ts';",
      reason: 'reconcile is above write in src/controller',
    },
    {
      name: 'an import of a room above by a file of the same room',
      path: 'src/kube/errors.ts',
      text: "import type { Cluster } from './config/cluster.ts';",
      reason: 'config is above errors.ts in src/kube',
    },
    {
      name: 'a rule that looks at the clock',
      path: 'src/mirror/plan/plan.ts',
      text: "import type { Clock } from '../../clock/clock.ts';",
      reason: MIRROR_IMPORTS_ONLY,
    },
    {
      name: 'a rule that reads a file',
      path: 'src/mirror/plan/plan.ts',
      text: "import { readFileSync } from 'node:fs';",
      reason: MIRROR_IMPORTS_ONLY,
    },
    {
      name: "a sandbox that shares the controller's code",
      path: 'src/sandbox/patch/patch.ts',
      text: "import { objectKey } from '../../kube/api/object-key.ts';",
      reason: 'kube is above sandbox in src',
    },
    {
      name: 'a sandbox that shares the clock',
      path: 'src/sandbox/sandbox.ts',
      text: "import { systemClock } from '../clock/clock.ts';",
      reason: 'clock and sandbox are siblings in src',
    },
    {
      name: 'a controller that knows the sandbox',
      path: 'src/controller/controller.ts',
      text: "import { createSandbox } from '../sandbox/sandbox.ts';",
      reason: 'only src/cli may import src/sandbox',
    },
    {
      name: 'a controller that knows the commands that look at it',
      path: 'src/controller/controller.ts',
      text: "import { Inspection } from '../inspect/inspection.ts';",
      reason: 'inspect is above controller in src',
    },
    {
      name: 'the client library outside kube',
      path: 'src/controller/controller.ts',
      text: "import { CoreV1Api } from '@kubernetes/client-node';",
      reason: 'only src/kube may import @kubernetes/client-node',
    },
    {
      name: 'a part of a confined package',
      path: 'src/demo/demo.ts',
      text: "import { hideBin } from 'yargs/helpers';",
      reason: 'only src/cli may import yargs',
    },
    {
      name: 'a socket outside kube, serving and sandbox',
      path: 'src/cli/program.ts',
      text: "import { createServer } from 'node:http';",
      reason: 'only src/kube, src/serving, src/sandbox may import node:http',
    },
    {
      name: 'the process outside cli and main',
      path: 'src/telemetry/logger.ts',
      text: "import process from 'node:process';",
      reason: 'only src/main.ts, src/v8-flags.ts may import node:process',
    },
    {
      name: 'production code that uses a test or a script',
      path: 'src/informer/informer.ts',
      text: "import { ManualClock } from '../../test/support/manual-clock.ts';",
      reason: 'src imports nothing outside src, except package.json',
    },
  ];
  it.each(breaches)('refuse $name', (breach) => {
    const [line, ...others] = breachesOf(breach);
    expect(line).toMatch(new RegExp(`^${breach.path} imports \\S+: `));
    expect(line?.endsWith(`: ${breach.reason}`), line).toBe(true);
    expect(others).toEqual([]);
  });

  const allowed: readonly Case[] = [
    {
      name: 'an import of a room below',
      path: 'src/kube/http/watch.ts',
      text: "import { sleep } from '../../clock/clock.ts';",
    },
    {
      name: 'an import of a room below in the same room',
      path: 'src/kube/api/config-maps.ts',
      text: "import { Transport } from '../http/transport.ts';\nimport { ApiError } from '../errors.ts';",
    },
    {
      name: 'an import in a room without order',
      path: 'src/mirror/plan/plan.ts',
      text: "import { a } from './step.ts';",
    },
    {
      name: 'what mirror may import',
      path: 'src/mirror/plan/plan.ts',
      text: "import type { A } from '../../kube/api/types.ts';\nimport { createHash } from 'node:crypto';",
    },
    {
      name: 'the sandbox in a command',
      path: 'src/cli/commands/a.ts',
      text: "import { A } from '../../sandbox/sandbox.ts';",
    },
    {
      name: 'sockets in the sandbox',
      path: 'src/sandbox/http/http-server.ts',
      text: "import { createServer } from 'node:http';",
    },
    {
      name: 'a package that is free',
      path: 'src/informer/a.ts',
      text: "import { LRUCache } from 'lru-cache';",
    },
    {
      name: 'the version',
      path: 'src/cli/version.ts',
      text: "import p from '../../package.json' with { type: 'json' };",
    },
    {
      name: 'main, which imports the command line',
      path: 'src/main.ts',
      text: "import { cli } from './cli/cli.ts';",
    },
    {
      name: 'words that only look like an import',
      path: 'src/clock/a.ts',
      text: "// as from '../cli/run.ts'",
    },
  ];
  it.each(allowed)('allow $name', (each) => {
    expect(breachesOf(each)).toEqual([]);
  });

  it('report a room without a place', () => {
    const unknown = ['src/utils/strings.ts', 'src/kube/http.ts'].map((path) => ({ path, text: '' }));
    expect(findBreaches(unknown)).toEqual([
      'src/utils/strings.ts: "utils" has no place in src; give it one in scripts/layer-rules.ts',
      'src/kube/http.ts: "http.ts" has no place in src/kube; give it one in scripts/layer-rules.ts',
    ]);
  });

  it('report rooms that do not exist', () => {
    const vacancies = findVacancies([{ path: 'src/clock/clock.ts', text: '' }]);
    expect(vacancies).toContain('src/kube/api does not exist; delete it from scripts/layer-rules.ts');
    expect(vacancies.join('\n')).not.toContain('src/clock');
  });

  it('report permissions that nothing uses', () => {
    const text = "import { Agent } from 'undici';";
    const vacancies = findVacancies([{ path: 'src/kube/http/transport.ts', text }]);
    expect(vacancies).toContain('src/notify does not import undici; delete it from scripts/layer-rules.ts');
    expect(vacancies.join('\n')).not.toContain('src/kube does not import undici');
  });
});

describe('Biome, as configured here', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  /** What `npm run lint` reports about circles in a folder with these files. */
  const circlesIn = (files: Readonly<Record<string, string>>): readonly string[] => {
    const folder = mkdtempSync(join(tmpdir(), 'circles-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const options = ['--only=suspicious/noImportCycles', '--vcs-enabled=false', '--reporter=github'];
    const run = { cwd: folder, encoding: 'utf8' } as const;
    const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', ...options], run);
    const reported = stdout.split('\n').filter((line) => line.includes('part of a cycle'));
    expect(status).toBe(reported.length === 0 ? 0 : 1);
    return reported.map((line) => /file=(?:[^,]*\/)?([^/,]+),/.exec(line)?.[1] ?? line).sort();
  };

  it('refuses a circle, even of types alone', () => {
    expect(
      circlesIn({
        'a.ts': "import type { B } from './b.ts';\nexport type A = { b: B };\n",
        'b.ts': "import type { C } from './c.ts';\nexport type B = { c: C };\n",
        'c.ts': "import type { A } from './a.ts';\nexport type C = { a: A };\n",
      }),
    ).toEqual(['a.ts', 'b.ts', 'c.ts']);
  });

  it('refuses a circle of a re-export and a dynamic import', () => {
    expect(
      circlesIn({
        'a.ts': "export const a = async () => (await import('./b.ts')).b;\n",
        'b.ts': "export { a as b } from './a.ts';\n",
      }),
    ).toEqual(['a.ts', 'b.ts']);
  });

  it('allows imports that form no circle', () => {
    expect(
      circlesIn({
        'a.ts': "import type { B } from './b.ts';\nexport type A = { b: B };\n",
        'b.ts': 'export type B = { c: string };\n',
      }),
    ).toEqual([]);
  });
});
