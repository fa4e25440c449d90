import { describe, expect, it } from 'vitest';
import { findBreaches } from '../../scripts/layer-rules.ts';

const breachesOf = (path: string, text: string) => findBreaches([{ path, text }]);

describe('the layer rules', () => {
  const breaches: readonly {
    readonly name: string;
    readonly path: string;
    readonly text: string;
    readonly reason: string;
  }[] = [
    {
      name: 'an import that points up',
      path: 'src/kube/transport.ts',
      text: "import { Informer } from '../informer/informer.ts';",
      reason: 'informer is above kube',
    },
    {
      name: 'a type that is imported from above',
      path: 'src/clock/clock.ts',
      text: "import type { Logger } from '../telemetry/logger.ts';",
      reason: 'telemetry is above clock',
    },
    {
      name: 'an import over several lines',
      path: 'src/controller/controller.ts',
      text: "import {\n  runDemo,\n  type Step,\n} from '../demo/demo.ts';",
      reason: 'demo is above controller',
    },
    {
      name: 'a re-export from above',
      path: 'src/workqueue/queue.ts',
      text: "export { reconcile } from '../controller/reconcile.ts';",
      reason: 'controller is above workqueue',
    },
    {
      name: 'an import for its effect',
      path: 'src/demo/demo.ts',
      text: "import '../cli/run.ts';",
      reason: 'cli is above demo',
    },
    {
      name: 'a dynamic import from above',
      path: 'src/controller/controller.ts',
      text: "const { main } = await import('../main.ts');",
      reason: 'main.ts is above controller',
    },
    {
      name: 'an import of a sibling',
      path: 'src/informer/reflector.ts',
      text: "import { WorkQueue } from '../workqueue/queue.ts';",
      reason: 'informer and workqueue are siblings',
    },
    {
      name: 'a rule that looks at the clock',
      path: 'src/mirror/plan.ts',
      text: "import type { Clock } from '../clock/clock.ts';",
      reason: 'mirror may import only src/kube/api/types.ts, src/kube/api/object-key.ts, node:crypto',
    },
    {
      name: 'a rule that reads a file',
      path: 'src/mirror/plan.ts',
      text: "import { readFileSync } from 'node:fs';",
      reason: 'mirror may import only src/kube/api/types.ts, src/kube/api/object-key.ts, node:crypto',
    },
    {
      name: "a sandbox that shares the controller's code",
      path: 'src/sandbox/patch.ts',
      text: "import { objectKey } from '../kube/api/object-key.ts';",
      reason: 'the sandbox imports nothing outside its folder',
    },
    {
      name: 'a controller that knows the sandbox',
      path: 'src/controller/controller.ts',
      text: "import { Sandbox } from '../sandbox/sandbox.ts';",
      reason: 'only demo, cli and tests may import the sandbox',
    },
    {
      name: 'the client library outside of kube',
      path: 'src/controller/controller.ts',
      text: "import { CoreV1Api } from '@kubernetes/client-node';",
      reason: 'only kube may import @kubernetes/client-node',
    },
    {
      name: 'a part of a package that is confined',
      path: 'src/demo/demo.ts',
      text: "import { hideBin } from 'yargs/helpers';",
      reason: 'only cli may import yargs',
    },
    {
      name: 'a socket outside of kube, telemetry and sandbox',
      path: 'src/cli/serve.ts',
      text: "import { createServer } from 'node:http';",
      reason: 'only kube, telemetry, sandbox may import node:http',
    },
    {
      name: 'the process outside of cli and main',
      path: 'src/telemetry/logger.ts',
      text: "import process from 'node:process';",
      reason: 'only cli, main.ts, v8-flags.ts may import node:process',
    },
    {
      name: 'production code that uses a test or a script',
      path: 'src/informer/informer.ts',
      text: "import { ManualClock } from '../../test/support/manual-clock.ts';",
      reason: 'nothing outside src may be imported, except package.json',
    },
  ];
  it.each(breaches)('refuse $name', ({ path, text, reason }) => {
    const [breach, ...others] = breachesOf(path, text);
    expect(breach).toMatch(new RegExp(`^${path} imports \\S+: `));
    expect(breach).toContain(reason);
    expect(others).toEqual([]);
  });

  const allowed: readonly { readonly name: string; readonly path: string; readonly text: string }[] = [
    {
      name: 'an import from below',
      path: 'src/kube/watch.ts',
      text: "import { sleep } from '../clock/clock.ts';",
    },
    {
      name: 'an import from the same folder',
      path: 'src/mirror/plan.ts',
      text: "import { a } from './digest.ts';",
    },
    {
      name: 'what mirror may see',
      path: 'src/mirror/plan.ts',
      text: "import type { A } from '../kube/api/types.ts';",
    },
    {
      name: 'the sandbox in the demo',
      path: 'src/demo/a.ts',
      text: "import { A } from '../sandbox/sandbox.ts';",
    },
    {
      name: 'a package that is free',
      path: 'src/informer/a.ts',
      text: "import { LRUCache } from 'lru-cache';",
    },
    {
      name: 'the version',
      path: 'src/cli/a.ts',
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
  it.each(allowed)('allow $name', ({ path, text }) => {
    expect(breachesOf(path, text)).toEqual([]);
  });

  it('ask for a place for a folder that they do not know', () => {
    expect(breachesOf('src/utils/strings.ts', '')).toEqual([
      'src/utils/strings.ts: the folder "utils" has no layer; give it one in scripts/layer-rules.ts',
    ]);
  });
});
