import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { COMMAND_FLAGS, DEMO_FLAGS, SANDBOX_FLAGS } from '../../src/cli/flags/command-flags.ts';
import type { Flags } from '../../src/cli/flags/flag.ts';
import { environmentVariable } from '../../src/cli/flags/flag-values.ts';
import { RUN_FLAGS } from '../../src/cli/flags/run-flags.ts';
import { runProgram } from '../../src/cli/program.ts';
import { waitFor } from '../support/wait-for.ts';
import { memoryIo } from './memory-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'program-'));
afterAll(() => rmSync(folder, { recursive: true }));

function kubeconfig(server: string): string {
  const path = join(folder, `${encodeURIComponent(server)}.yaml`);
  const text = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me' } }],
    clusters: [{ name: 'here', cluster: { server } }],
    users: [{ name: 'me', user: { token: 'sesame' } }],
  };
  writeFileSync(path, JSON.stringify(text));
  return path;
}

async function outcome(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const io = memoryIo(env);
  const code = await runProgram(args, io);
  return { code, out: io.out(), err: io.err() };
}

describe('a wrong command line', () => {
  test.each([
    [[], 'no command given; commands: run, sandbox, demo'],
    [['walk'], '"walk" is not a command; commands: run, sandbox, demo'],
    [['toString'], '"toString" is not a command; commands'],
    [['runn'], '"runn" is not a command; did you mean run?'],
    [['run', 'fast'], 'unexpected argument: fast'],
    [['run', '--no-such-flag'], 'unknown flag: --no-such-flag\n'],
    [['run', '--no-resync'], 'unknown flag: --no-resync'],
    [['status', '--no-namespace'], 'unknown flag: --no-namespace'],
    [['plan', '-f'], '--filename needs a value'],
    [['status', '-Ax'], 'unknown flag: -x'],
    [['explain', 'a/b', '--', 'c/d'], 'unexpected argument: c/d'],
    [['plan', '--', '-A'], 'unexpected argument: -A'],
    [['explain', 'a/b', '-o', 'json'], 'unknown flag: -o; status, plan and history have it\n'],
    [['explain', '--bogus'], 'unknown flag: --bogus\nSee mirror-controller explain --help.\n'],
    [['undo', '--constructor', 'a/b'], 'unknown flag: --constructor\n'],
    [['plan', '-nshow', '-odot'], '--output: "dot" is not one of table, json, yaml\nSee'],
    [['run', '-x'], 'unknown flag: -x'],
    [['status', '--stat', 'foo'], 'unknown flag: --stat; did you mean --state?\n'],
    [['explain'], 'explain: name a source or a companion'],
    [['history'], 'history: name a source, as NAMESPACE/NAME'],
    [['undo'], 'undo: name a source, as NAMESPACE/NAME'],
    [['run', '--wokers=3'], 'unknown flag: --wokers; did you mean --workers?'],
    [['run', '--leader_elect'], 'unknown flag: --leader_elect; did you mean --leader-elect?'],
    [['--context', 'run', 'undo', '-A'], 'unknown flag: -A; status, plan and release have it\nSee'],
    [['history', '-A'], 'release have it\nSee mirror-controller history --help.\n'],
    [['explain', 'a/b', 'c/d'], 'unexpected argument: c/d'],
    [['demo', '--once'], 'unknown flag: --once'],
    [['run', '--resync'], '--resync needs a value'],
    [['run', '--resync', '--once'], '--resync needs a value'],
    [['run', '--config', '/nope'], '--config /nope: the file does not exist'],
    [['run', '--config', '/'], '--config /: it is a directory; name a file'],
    [
      ['plan', '-f', '/nope', '--kubeconfig', kubeconfig('http://x')],
      '--filename /nope: the file does not exist',
    ],
    [['plan', '-f', '/', '--kubeconfig', kubeconfig('http://x')], '--filename /: it is a directory'],
    [['run', '--source-cache-size', '64'], '--source-cache-size: "64" has no unit'],
    [
      ['run', '--once', '--once', '--kubeconfig', '/nonexistent/config'],
      '/nonexistent/config does not exist',
    ],
    [['--context', 'x', 'run', '--kubeconfig', '/nonexistent/config'], '/nonexistent/config does not exist'],
    [['run', '--http-address=8080'], '--http-address: "8080" is not an address; write :8080,'],
    [['run', '--delete-brake', '-1'], '--delete-brake: "-1" is not a whole number from 0 to'],
    [['run', '--dry-run=maybe'], '--dry-run: "maybe" is neither true nor false'],
    [['run', '--kubeconfig', '/nonexistent/config'], '/nonexistent/config does not exist'],
    [
      ['run', '--leader-elect-lease-name=Foo_'],
      '--leader-elect-lease-name: "Foo_" cannot be the name of an object',
    ],
    [
      ['run', '--leader-elect-lease-namespace=team.a'],
      '--leader-elect-lease-namespace: "team.a" cannot be the name of a namespace',
    ],
    [['run'], 'no cluster to work with'],
    [['demo', '--leader-elect'], 'unknown flag: --leader-elect; run has it\n'],
    [['sandbox', '--leader-elect'], 'unknown flag: --leader-elect'],
    [['demo', '--kubeconfig', 'some/config'], 'uses a cluster only with --context'],
    [['sandbox', '--port', '65536'], 'not a whole number from 0 to 65535'],
    [['status', '--state=happy'], '"happy" is not one of in sync, drifted'],
    [['status', '-A', '--watch', '--check'], '--check: it cannot be combined with --watch'],
    [['status', '-A', '--watch', '-o', 'json'], '--watch: it cannot be shown as json'],
    [['plan', 'colors'], 'unexpected argument: colors'],
    [['--versoin'], 'unknown flag: --versoin; did you mean --version?\nSee mirror-controller --help.\n'],
    [['stat', '-Aowide'], '"stat" is not a command'],
    [['status', '-n', 'Team_A'], '--namespace: "Team_A" cannot be the name of a namespace'],
  ])('[O5] %j: exit code 2, what is wrong and how to fix it', async (args, words) => {
    const { code, out, err } = await outcome(args);
    expect(code).toBe(2);
    expect(err).toContain(words);
    expect(err).toMatch(/^mirror-controller: /);
    expect(err).not.toMatch(/\n\s+at /);
    expect(out).toBe('');
  });

  test.each(['status', 'explain', 'history', 'undo', 'release'])(
    '[O5] %s of what cannot be a name',
    async (command) => {
      for (const name of ['shop/Colors', 'a b', '../x', 'shop/']) {
        const { code, err } = await outcome([
          command,
          name,
          '--kubeconfig',
          kubeconfig('http://127.0.0.1:1'),
        ]);
        expect(code).toBe(2);
        expect(err).toContain(`${command}: "${name}" cannot be a name; write NAMESPACE/NAME, or NAME alone`);
      }
    },
  );

  test.each([
    [[], 'the namespace of the Lease is unknown; set --leader-elect-lease-namespace'],
    [['--once'], '--once cannot be combined with --leader-elect'],
    [['--leader-elect-lease-duration=1500ms'], '--leader-elect-lease-duration must be whole seconds'],
    [['--leader-elect-lease-duration=0s'], '--leader-elect-lease-duration must be whole seconds'],
    [['--leader-elect-renew-deadline=15s'], 'must be longer than --leader-elect-renew-deadline'],
    [['--leader-elect-retry-period=0s'], '--leader-elect-retry-period must be above 0'],
    [['--leader-elect-renew-deadline=2400ms'], 'must be longer than 1.2 × --leader-elect-retry-period'],
    [['--leader-elect-renew-deadline=0s'], 'must be longer than 1.2 × --leader-elect-retry-period'],
    [['--dry-run', '--leader-elect-retry-period=0s'], '--leader-elect-retry-period must be above 0'],
  ])('[O5] --leader-elect %j: exit code 2, what is wrong and how to fix it', async (flags, words) => {
    const connection = ['--kubeconfig', kubeconfig('http://127.0.0.1:1')];
    const { code, err } = await outcome(['run', '--leader-elect', ...connection, ...flags]);
    expect(code).toBe(2);
    expect(err).toContain(words);
    const off = await outcome(['run', ...connection, ...flags]);
    expect(off.code).toBe(1);
  });

  test('[O5] a context that does not exist: the message names those that do', async () => {
    const path = kubeconfig('https://127.0.0.1:1');
    const { code, err } = await outcome(['run', '--kubeconfig', path, '--context', 'there']);
    expect(code).toBe(2);
    expect(err).toContain('has no context "there" (it has here)');
  });
});

test('[C2] one signal ends plan -f - while it reads standard input', async () => {
  const io = { ...memoryIo(), stdin: new PassThrough() };
  const code = runProgram(['plan', '-f', '-', '--kubeconfig', kubeconfig('http://x')], io);
  await waitFor(() => io.stdin.listenerCount('readable') > 0);
  io.stop();
  expect(await code).toBe(2);
  expect(io.err()).toBe('mirror-controller: stopped before the manifests were read\n');
});

test('[C9] kubectl mirror names itself in what it tells a user to type', async () => {
  const io = memoryIo();
  expect(await runProgram(['status', '--stat'], io, 'kubectl-mirror')).toBe(2);
  expect(io.err()).toBe(
    'kubectl mirror: unknown flag: --stat; did you mean --state?\nSee kubectl mirror status --help.\n',
  );
});

test('[C9] kubectl mirror names only its own commands as those that have a flag', async () => {
  const io = memoryIo();
  expect(await runProgram(['explain', '--once'], io, 'kubectl-mirror')).toBe(2);
  expect(io.err()).toBe('kubectl mirror: unknown flag: --once\nSee kubectl mirror explain --help.\n');
});

test('[C9] kubectl mirror without arguments: a help that fits a screen of 24 lines', async () => {
  const io = memoryIo();
  expect(await runProgram([], io, 'kubectl-mirror')).toBe(0);
  expect(io.out().split('\n').length).toBeLessThanOrEqual(24);
  expect(io.out()).toMatch(/^kubectl mirror <command>/);
  expect(io.out()).not.toMatch(/sandbox|demo/);
});

describe('a server that does not let us work', () => {
  test.each(['plan', 'status'])(
    '[C2] [C3] for %s, of which 1 is an answer, an error is 2',
    async (command) => {
      const { code, err } = await outcome([command, '--kubeconfig', kubeconfig('http://127.0.0.1:1')]);
      expect(code).toBe(2);
      expect(err).toContain('cannot reach the API server at http://127.0.0.1:1');
    },
  );

  test('[O5] it is down: exit code 1, where it should be, and what to look at', async () => {
    const { code, err } = await outcome([
      'run',
      '--http-address=',
      '--kubeconfig',
      kubeconfig('http://127.0.0.1:1'),
    ]);
    expect(code).toBe(1);
    expect(err).toContain('cannot reach the API server at http://127.0.0.1:1 (context "here")');
    expect(err).toContain('\nCheck that the cluster is up, and that --context is the right one.\n');
    expect(err).not.toMatch(/\n\s+at /);
  });

  const RUN = ['run', '--http-address='];
  test.each([
    [401, 'Unauthorized', 'does not accept our credential (401)', 'renew it', RUN],
    [403, 'Forbidden', 'does not allow this (403)', 'manifests/base/rbac.yaml', RUN],
    [404, 'NotFound', 'answered 404', 'a healthy API server', RUN],
    [503, 'ServiceUnavailable', 'answered 503', 'a healthy API server', [...RUN, '--once']],
    [403, 'Forbidden', 'does not allow this (403)', 'Ask an administrator', ['status', '-n', 'a']],
    [403, 'Forbidden', 'does not allow this (403)', 'each of the --names', ['plan', '--namespaces', 'a']],
  ])('[O5] it answers %i: exit code and the fix', async (status, reason, what, fix, args) => {
    const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message: 'no' };
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const address = `http://127.0.0.1:${port}`;
      const { code, err } = await outcome([...args, '--kubeconfig', kubeconfig(address)]);
      expect(code).toBe(args[0] === 'run' ? 1 : 2);
      expect(err).toContain(what);
      expect(err).toContain(fix);
      expect(err).not.toContain('?; ');
      expect(err).not.toContain('sesame');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

test.each([
  [['--help'], 'mirror-controller'],
  [['run', '--help'], 'mirror-controller'],
  [[], 'kubectl-mirror'],
  [['completion', 'bash'], 'mirror-controller'],
  [['__complete', ''], 'mirror-controller'],
])('[C1] %j ends only when a slow reader has all of its answer (%s)', async (args, calledAs) => {
  let read = '';
  const slow = new Writable({
    write: (chunk, _encoding, done) => {
      setImmediate(() => {
        read += String(chunk);
        done();
      });
    },
  });
  expect(await runProgram(args, { ...memoryIo(), stdout: slow }, calledAs)).toBe(0);
  expect(read).toMatch(/.\n$/);
});

describe('help', () => {
  test.each([
    ['run', RUN_FLAGS],
    ['sandbox', SANDBOX_FLAGS],
    ['demo', DEMO_FLAGS],
  ])('[C1] %s --help names every flag with its value and its default', async (command, flags) => {
    const { code, out } = await outcome([command, '--help']);
    expect((await outcome(['help', command])).out).toBe(out);
    expect(code).toBe(0);
    expect(await outcome([command, '-h'])).toEqual({ code, out, err: '' });
    const words = out.replace(/\s+/g, ' ');
    for (const [name, flag] of Object.entries(flags)) {
      const shown = flag.defaultDescription ?? flag.default;
      const end = shown === undefined ? `[${flag.kind.name}]` : `[${flag.kind.name}, default: ${shown}]`;
      expect(words).toContain(`--${name} ${flag.describe} ${end}`);
    }
  });

  const commands = Object.entries<Flags>(COMMAND_FLAGS);

  test.each([80, 60])('[C1] all help fits a terminal of %i columns', async (columns) => {
    for (const args of [['-h'], ...commands.map(([command]) => [command, '-h'])]) {
      const io = memoryIo();
      const stdout = Object.assign(io.stdout, { columns });
      expect(await runProgram(args, { ...io, stdout })).toBe(0);
      const tooLong = io
        .out()
        .split('\n')
        .filter((line) => line.length > columns);
      expect(tooLong).toEqual([]);
    }
  });

  test.each(commands)(
    '[C1] %s --help says what it does, and its examples are correct',
    async (command, flags) => {
      const { out } = await outcome([command, '--help']);
      const [usage, about, ...examples] = out
        .slice(0, out.search(/\n(Flags|Options):\n/))
        .trim()
        .split('\n\n');
      expect(usage).toMatch(new RegExp(`^mirror-controller ${command}( .*)? \\[flags\\]$`));
      expect(about).toMatch(/^[A-Z].*\.$/s);
      const known = Object.entries(flags).flatMap(([name, { alias }]) => [`--${name}`, `-${alias}`]);
      for (const example of examples) {
        const [purpose, line = ''] = example.split('\n');
        expect(purpose).toMatch(/^# /);
        expect(line).toMatch(new RegExp(`^mirror-controller ${command} `));
        const given = line.split(' ').filter((word) => word.startsWith('-'));
        expect(known.concat('--config', '--no-controller')).toEqual(expect.arrayContaining(given));
      }
      expect(examples.length).toBeGreaterThan(command === 'completion' ? -1 : 0);
    },
  );

  test('[C1] status --help shows the flag that -o wide needs among those of its own', async () => {
    const { out } = await outcome(['status', '--help']);
    const own = out.slice(out.indexOf('Flags:'), out.indexOf('Cluster:'));
    expect(own).toMatch(/--output .*--leader-elect-lease-namespace .*--headers /s);
    expect(out).not.toContain('Leader election:');
  });

  test('[C1] --help explains the variables, --version is the version of the package', async () => {
    expect((await outcome(['--help'])).out).toContain(environmentVariable('log-level'));
    expect((await outcome(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
