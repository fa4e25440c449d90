import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/errors.ts';
import { flagValues, unknownVariables } from '../../src/cli/flags/flag-values.ts';
import { RUN_FLAGS } from '../../src/cli/flags/run-flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'flag-values-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function configFile(text: string): string {
  const path = join(folder, `${files++}.yaml`);
  writeFileSync(path, text);
  return path;
}

const problemOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('no UsageError was thrown');
};

describe('where a value comes from', () => {
  const config = configFile('workers: 3\nresync: 1h\nnamespaces: [a, b]\nonce: true\n');

  test('[C1] the command line wins over the environment, that over the file, that over the default', () => {
    const env = { MIRROR_WORKERS: '2', MIRROR_RESYNC: '30s', MIRROR_CONFIG: config };
    const values = flagValues(RUN_FLAGS, { workers: '1' }, env);
    expect(values.workers).toBe(1);
    expect(values.resync).toBe(30_000);
    expect(values.once).toBe(true);
    expect(values['max-writes-in-flight']).toBe(32);
  });

  test('[C1] a list is commas or repeats, from any of the three places', () => {
    const expected = new Set(['a', 'b']);
    expect(flagValues(RUN_FLAGS, { namespaces: ['a', 'b'] }, {}).namespaces).toEqual(expected);
    expect(flagValues(RUN_FLAGS, { namespaces: ['a,b'] }, {}).namespaces).toEqual(expected);
    expect(flagValues(RUN_FLAGS, {}, { MIRROR_NAMESPACES: 'a,b' }).namespaces).toEqual(expected);
    expect(flagValues(RUN_FLAGS, { config }, {}).namespaces).toEqual(expected);
    expect(flagValues(RUN_FLAGS, {}, {}).namespaces).toBeUndefined();
    const empty = configFile('namespaces: []\n');
    expect(problemOf(() => flagValues(RUN_FLAGS, { config: empty }, {}))).toContain('name at least one');
  });

  test('[C1] an empty variable is no server, but lifts no protection', () => {
    const env = { MIRROR_HTTP_ADDRESS: '', MIRROR_DENY_TARGET_NAMESPACES: '', MIRROR_NAMESPACES: '' };
    const values = flagValues(RUN_FLAGS, {}, env);
    expect(values).toEqual(flagValues(RUN_FLAGS, { 'http-address': '' }, {}));
    expect(values['http-address']).toBeUndefined();
  });

  test('[C1] any other empty variable counts as absent, and a switch without a value is on', () => {
    expect(flagValues(RUN_FLAGS, {}, { MIRROR_WORKERS: '', MIRROR_CONFIG: '' }).workers).toBe(16);
    expect(flagValues(RUN_FLAGS, { once: true }, {}).once).toBe(true);
    expect(flagValues(RUN_FLAGS, { once: false }, { MIRROR_ONCE: 'true' }).once).toBe(false);
  });

  test('[C1] of a flag that is repeated and not a list the last counts', () => {
    expect(flagValues(RUN_FLAGS, { once: [true, true] }, {}).once).toBe(true);
    expect(flagValues(RUN_FLAGS, { once: [true, 'false'], workers: ['1', '2'] }, {})).toMatchObject({
      once: false,
      workers: 2,
    });
    const [first, last] = ['workers: 1\n', 'workers: 2\n'].map(configFile);
    expect(flagValues(RUN_FLAGS, { config: [first, last] }, {}).workers).toBe(2);
  });

  test.each(['1', 'true', ' true '])('[C1] a switch is on with %s', (text) => {
    expect(flagValues(RUN_FLAGS, {}, { MIRROR_DRY_RUN: text })['dry-run']).toBe(true);
  });

  test.each(['0', 'false'])('[C1] a switch is off with %s', (text) => {
    expect(flagValues(RUN_FLAGS, { once: text }, { MIRROR_ONCE: 'true' }).once).toBe(false);
  });

  // What Kubernetes sets in a Pod beside a Service named mirror-controller with one named port.
  const ofService = {
    MIRROR_CONTROLLER_SERVICE_HOST: '10.0.0.1',
    MIRROR_CONTROLLER_SERVICE_PORT: '80',
    MIRROR_CONTROLLER_SERVICE_PORT_HTTP: '80',
    MIRROR_CONTROLLER_PORT: 'tcp://10.0.0.1:80',
    MIRROR_CONTROLLER_PORT_80_TCP: 'tcp://10.0.0.1:80',
    MIRROR_CONTROLLER_PORT_80_TCP_PROTO: 'tcp',
    MIRROR_CONTROLLER_PORT_80_TCP_PORT: '80',
    MIRROR_CONTROLLER_PORT_80_TCP_ADDR: '10.0.0.1',
  };

  test('[R13] variables that Kubernetes sets for a Service of our name change and report nothing', () => {
    expect(flagValues(RUN_FLAGS, {}, ofService)).toEqual(flagValues(RUN_FLAGS, {}, {}));
    expect(unknownVariables(ofService)).toEqual([]);
  });

  test('[R13] an unknown variable is reported with what was probably meant', () => {
    const env = {
      ...ofService,
      MIRROR_DRYRUN: 'true',
      MIRROR_CONTROLLER_WORKERS: '3',
      MIRROR_EMPTY: '',
      MIRROR_FOO: 'x',
      MIRROR_PORT: '80',
      MIRROR_CONFIG: 'x',
      HOME: '/',
    };
    expect(unknownVariables(env)).toEqual([
      'MIRROR_DRYRUN is not a setting of mirror-controller; did you mean MIRROR_DRY_RUN?',
      'MIRROR_CONTROLLER_WORKERS is not a setting of mirror-controller',
      'MIRROR_FOO is not a setting of mirror-controller',
    ]);
  });
});

describe('a wrong value is reported with its fix', () => {
  const bad: readonly [what: string, flag: keyof typeof RUN_FLAGS, value: string, words: string][] = [
    ['a unit that does not exist', 'resync', '5x', '"5x" is not a duration; write for example 500ms'],
    ['a negative duration', 'resync', '-5s', 'is not a duration'],
    ['a canary in a loop', 'freshness-canary', '9s', '"9s" is too often; write at least 10s, or 0'],
    ['no worker', 'workers', '0', 'not a whole number from 1 to 1024'],
    ['half a worker', 'workers', '1.5', 'not a whole number'],
    ['a size without sense', 'source-cache-size', '64 apples', 'is not a size; write for example 64Mi'],
    ['a size without a unit', 'source-cache-size', '64', '"64" has no unit; write 64Mi'],
    ['a duration with a space', 'resync', '1h 30m', 'is not a duration'],
    ['a level that does not exist', 'log-level', 'trace', 'is not one of error, warn, info, debug'],
    ['a domain in upper case', 'domain', 'Workshop.io', 'cannot be the prefix of a label'],
    ['no watched namespace, as from an unset variable', 'namespaces', '', 'name at least one, or leave'],
    ['watched namespaces without a name', 'namespaces', ',', 'it names no namespace; name at least one'],
    ['no denied namespace, which would open kube-*', 'deny-target-namespaces', '', 'name at least one'],
    ['no allowed namespace', 'allow-target-namespaces', '', 'name at least one'],
    ['a pattern among the watched namespaces', 'namespaces', 'team-*', 'write exact names'],
    ['a regular expression as a pattern', 'deny-target-namespaces', '^kube-.*', 'regular expressions'],
    ['an exclusion in a bound', 'allow-target-namespaces', '!a', 'exclusions ("!") are not allowed here'],
    ['neither true nor false', 'dry-run', 'maybe', 'neither true nor false'],
    ['an empty context', 'context', '', 'it is empty'],
  ];
  test.each(bad)('[O5] %s', (_what, flag, value, words) => {
    const message = problemOf(() => flagValues(RUN_FLAGS, { [flag]: value }, {}));
    expect(message).toContain(`--${flag}: `);
    expect(message).toContain(words);
  });

  test('[O5] all problems are reported at once, each with its place', () => {
    const config = configFile('resync: soon\n');
    const message = problemOf(() => flagValues(RUN_FLAGS, { workers: 'x', config }, { MIRROR_DOMAIN: '_' }));
    expect(message.split('\n')).toHaveLength(3);
    expect(message).toContain('--workers: ');
    expect(message).toContain('MIRROR_DOMAIN: ');
    expect(message).toContain(`resync in ${config}: `);
  });

  test.each([
    ['is missing', undefined, 'the file does not exist'],
    ['is not YAML', 'a: [', 'cannot be read as YAML'],
    ['has two documents', 'once: true\n---\nworkers: 3\n', 'it has 2 YAML documents; write one'],
    ['is a list', '- a', 'write one "flag: value" a line'],
    ['has an unknown key', 'wokers: 1', 'there is no flag "wokers"; did you mean workers?'],
    ['has the name of an inherited property', 'constructor: 1', 'there is no flag "constructor"'],
    ['nests', 'workers: {a: 1}', 'workers must be a value or a list of values'],
  ])('[O5] a --config file that %s', (_what, text, words) => {
    const config = text === undefined ? join(folder, 'missing.yaml') : configFile(text);
    const problem = problemOf(() => flagValues(RUN_FLAGS, { config }, {}));
    expect(problem).toContain(words);
    expect(problem).toContain(`--config ${config}`);
    const env = { MIRROR_CONFIG: config };
    expect(problemOf(() => flagValues(RUN_FLAGS, {}, env))).toContain(`MIRROR_CONFIG ${config}`);
  });

  test('[O5] a --config that is empty or a folder', () => {
    expect(problemOf(() => flagValues(RUN_FLAGS, { config: '' }, {}))).toContain('does not exist');
    expect(problemOf(() => flagValues(RUN_FLAGS, { config: folder }, {}))).toContain('it is a directory');
  });

  test('[C1] an empty --config file sets nothing', () => {
    expect(flagValues(RUN_FLAGS, { config: configFile('') }, {}).workers).toBe(16);
    expect(flagValues(RUN_FLAGS, { config: configFile('---\nworkers: 3\n---\n') }, {}).workers).toBe(3);
  });
});

test('[C1] durations: units, and a bare number of seconds', () => {
  const resync = (text: string) => flagValues(RUN_FLAGS, { resync: text }, {}).resync;
  expect(['500ms', '30s', '10m', '1h', '7', '0', '1.5s', '1h30m', '1d', '1m500ms'].map(resync)).toEqual([
    500, 30_000, 600_000, 3_600_000, 7_000, 0, 1_500, 5_400_000, 86_400_000, 60_500,
  ]);
});

test('[C1] sizes: powers of two and of ten, and bytes', () => {
  const size = (text: string) =>
    flagValues(RUN_FLAGS, { 'source-cache-size': text }, {})['source-cache-size'];
  expect(['64Mi', '1Gi', '2Ki', '500K', '123B', '0'].map(size)).toEqual([
    67_108_864, 1_073_741_824, 2048, 500_000, 123, 0,
  ]);
});

test('[O5] addresses: a port, with a host or on all of them; IPv6 in brackets; empty is none', () => {
  const address = (text: string) => flagValues(RUN_FLAGS, { 'http-address': text }, {})['http-address'];
  expect(address(':8080')).toEqual({ host: undefined, port: 8080 });
  expect(address('127.0.0.1:0')).toEqual({ host: '127.0.0.1', port: 0 });
  expect(address('my-host.local:80')).toEqual({ host: 'my-host.local', port: 80 });
  expect(address('[::1]:65535')).toEqual({ host: '::1', port: 65_535 });
  expect(address('')).toBeUndefined();
  for (const wrong of ['8080', ':', ':x', ':65536', '::1:8080', '[::1]', 'a b:1', 'http://x:1']) {
    expect(problemOf(() => address(wrong))).toMatch(/^--http-address: ".*" is not an address; write :8080/);
  }
});
