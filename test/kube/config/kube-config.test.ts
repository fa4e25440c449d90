import { chmodSync, mkdirSync } from 'node:fs';
import { delimiter } from 'node:path';
import process from 'node:process';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { type KubeConfigOptions, loadCluster } from '../../../src/kube/config/kube-config.ts';
import { KubeConfigError } from '../../../src/kube/errors.ts';
import { createAuthority } from '../../support/tls.ts';
import { temporaryFolder } from '../temporary-files.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const AUTHORITY = String(rootCertificates[0]);

/** A kubeconfig as JSON, which is YAML. */
function kubeConfig(parts: {
  readonly cluster?: object | null;
  readonly user?: object;
  readonly context?: object;
  readonly current?: string | null;
  readonly name?: string;
}): string {
  const name = parts.name ?? 'dev';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    ...(parts.current !== null && { 'current-context': parts.current ?? name }),
    contexts: [{ name, context: { cluster: name, user: name, ...parts.context } }],
    clusters:
      parts.cluster === null
        ? []
        : [{ name, cluster: { server: 'https://10.0.0.1:6443', ...parts.cluster } }],
    users: [{ name, user: parts.user ?? {} }],
  });
}

const load = (text: string, options: Partial<KubeConfigOptions> = {}) =>
  loadCluster({ kubeconfig: temporaryFolder().write('config', text), env: {}, ...options });

/** The error's sentence, with FILE for the kubeconfig's path, which differs each time. */
function sentence(path: string, options: Partial<KubeConfigOptions> = {}): string {
  try {
    loadCluster({ kubeconfig: path, env: {}, ...options });
  } catch (error) {
    expect(error).toBeInstanceOf(KubeConfigError);
    return (error as Error).message.replaceAll(path, 'FILE');
  }
  throw new Error('it was expected to fail');
}

test('a kubeconfig says which server, whom to trust, and who we are', async () => {
  const authority = await createAuthority();
  const { cert, key } = await authority.client('alice');
  const cluster = load(
    kubeConfig({
      cluster: {
        server: 'https://10.0.0.1:6443/k8s/',
        'certificate-authority-data': base64(authority.cert),
        'tls-server-name': 'api.example',
        'insecure-skip-tls-verify': false,
        'proxy-url': 'http://proxy.example:3128',
      },
      user: {
        'client-certificate-data': base64(cert),
        'client-key-data': base64(key),
        as: 'bob',
        'as-uid': '7',
        'as-groups': ['g'],
        'as-user-extra': { team: ['x'] },
      },
      context: { namespace: 'team-a' },
    }),
  );
  expect(cluster).toEqual({
    server: 'https://10.0.0.1:6443/k8s',
    context: 'dev',
    namespace: 'team-a',
    proxyUrl: 'http://proxy.example:3128',
    tls: { ca: { kind: 'inline', text: authority.cert }, serverName: 'api.example' },
    user: {
      name: 'dev',
      clientCertificate: { cert: { kind: 'inline', text: cert }, key: { kind: 'inline', text: key } },
      impersonate: { user: 'bob', uid: '7', groups: ['g'], extra: { team: ['x'] } },
    },
  });
});

test('[O5] groups, a uid or extras to impersonate need a user to impersonate', () => {
  for (const half of [{ 'as-groups': ['g'] }, { 'as-uid': '7' }, { 'as-user-extra': { team: ['x'] } }]) {
    expect(() => load(kubeConfig({ user: { token: 'abc', ...half } }))).toThrow(
      'user "dev" impersonates groups, a uid or extras, but no user: add "as", or remove them',
    );
  }
});

test('a plain http server without a user is accepted', () => {
  const text = kubeConfig({ cluster: { server: 'http://127.0.0.1:8080' }, context: { user: '' } });
  expect(load(text)).toEqual({ server: 'http://127.0.0.1:8080', context: 'dev', tls: {} });
});

test('relative paths are relative to the folder of the kubeconfig', async () => {
  const folder = temporaryFolder();
  const authority = await createAuthority();
  folder.write('ca.crt', authority.cert);
  folder.write('token', 'abc');
  const kubeconfig = folder.write(
    'config',
    kubeConfig({
      cluster: { 'certificate-authority': 'ca.crt' },
      user: { tokenFile: 'token', token: 'older' },
    }),
  );
  const { tls, user } = loadCluster({ kubeconfig, env: {} });
  expect(tls?.ca).toEqual({ kind: 'file', path: `${folder.path}/ca.crt` });
  expect(user?.token).toEqual({ kind: 'file', path: `${folder.path}/token` });
});

test('users may have a token, a password, or a plugin, which gets the cluster if it asks for it', () => {
  expect(load(kubeConfig({ user: { token: 'abc' } })).user?.token).toEqual({ kind: 'inline', text: 'abc' });
  expect(load(kubeConfig({ user: { username: 'u', password: 'p' } })).user?.basic).toEqual({
    username: 'u',
    password: 'p',
  });
  expect(load(kubeConfig({ user: { 'auth-provider': { name: 'oidc', config: {} } } })).user?.plugin).toEqual({
    name: 'dev',
    authProvider: { name: 'oidc', config: {} },
  });
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './bin/login',
    args: ['a'],
    env: [{ name: 'A', value: 'B' }],
    provideClusterInfo: true,
  };
  const folder = temporaryFolder();
  const kubeconfig = folder.write('config', kubeConfig({ user: { exec } }));
  const plugin = loadCluster({ kubeconfig, env: {} }).user?.plugin;
  expect(plugin?.exec.command).toBe(`${folder.path}/bin/login`);
  expect(plugin?.exec.env[0]).toEqual({ name: 'A', value: 'B' });
  expect(plugin?.exec.env[1].name).toBe('KUBERNETES_EXEC_INFO');
  expect(JSON.parse(plugin?.exec.env[1].value)).toMatchObject({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: 'https://10.0.0.1:6443' } },
  });
});

test.each([
  ['a file', { 'certificate-authority': 'ca.crt' }],
  ['the kubeconfig', { 'certificate-authority-data': base64(AUTHORITY) }],
])('a plugin that asks for the cluster gets a certificate authority from %s', (_, cluster) => {
  const folder = temporaryFolder();
  folder.write('ca.crt', AUTHORITY);
  const exec = { command: 'login', provideClusterInfo: true };
  const kubeconfig = folder.write('config', kubeConfig({ cluster, user: { exec } }));
  const info = loadCluster({ kubeconfig, env: {} }).user?.plugin?.exec.env[0].value;
  expect(JSON.parse(info).spec.cluster).toMatchObject({ 'certificate-authority-data': base64(AUTHORITY) });
});

test('--context chooses another context', () => {
  const other = JSON.parse(kubeConfig({ name: 'prod', cluster: { server: 'https://prod:443' } }));
  const file = JSON.parse(kubeConfig({}));
  for (const list of ['contexts', 'clusters', 'users']) file[list].push(...other[list]);
  expect(load(JSON.stringify(file), { context: 'prod' }).server).toBe('https://prod:443');
  expect(load(JSON.stringify(file)).server).toBe('https://10.0.0.1:6443');
});

test('KUBECONFIG may be a list: the first entry of a name is used, and missing or empty files are skipped', () => {
  const folder = temporaryFolder();
  const write = (file: string, name: string, host: string, current: string | null) =>
    folder.write(file, kubeConfig({ name, current, cluster: { server: `https://${host}` } }));
  const files = [
    `${folder.path}/missing`,
    folder.write('empty', ''),
    write('1', 'dev', 'first', null),
    write('2', 'dev', 'second', 'prod'),
    write('3', 'prod', 'third', 'dev'),
  ];
  const env = { KUBECONFIG: files.join(delimiter) };
  expect(loadCluster({ env }).server).toBe('https://third');
  expect(loadCluster({ env, context: 'dev' }).server).toBe('https://first');
});

test('in a Pod the service account is used, unless KUBECONFIG or a context says otherwise', async () => {
  const folder = temporaryFolder();
  const authority = await createAuthority();
  folder.write('token', 'abc');
  folder.write('namespace', 'mirror-system\n');
  folder.write('ca.crt', authority.cert);
  mkdirSync(`${folder.path}/.kube`);
  const standard = folder.write('.kube/config', kubeConfig({ cluster: { server: 'https://standard' } }));
  const env = { HOME: folder.path, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const pod = { env, serviceAccountDir: folder.path };
  expect(loadCluster(pod)).toEqual({
    server: 'https://[fd00::1]:443',
    namespace: 'mirror-system',
    tls: { ca: { kind: 'file', path: `${folder.path}/ca.crt` } },
    user: { name: 'the Pod', token: { kind: 'file', path: `${folder.path}/token` } },
  });
  expect(loadCluster({ ...pod, context: 'dev' }).server).toBe('https://standard');
  expect(loadCluster({ ...pod, env: { ...env, KUBECONFIG: standard } }).server).toBe('https://standard');
  expect(loadCluster({ ...pod, serviceAccountDir: `${folder.path}/none` }).server).toBe('https://standard');
});

test.each([
  ['that is empty', '', 'kubeconfig FILE is not valid YAML: expected a document, but the input is empty'],
  ['that is a list', '- a', 'FILE is not a kubeconfig: it holds no contexts, clusters and users'],
  [
    'that is not YAML',
    'users:\n- name: a\n  token: secret\n bad: [',
    'kubeconfig FILE is not valid YAML (line 4): bad indentation of a sequence entry',
  ],
  [
    'without a current context',
    kubeConfig({ current: null }),
    'kubeconfig FILE has no current context: choose one with --context (it has dev)',
  ],
  [
    'with a current context that does not exist',
    kubeConfig({ current: 'old' }),
    'kubeconfig FILE has no context "old" (it has dev): check --context',
  ],
  [
    'without contexts',
    '{"current-context":"a"}',
    'kubeconfig FILE has no context "a" (it has no contexts): check --context',
  ],
  [
    'without the cluster of the context',
    kubeConfig({ cluster: null }),
    'context "dev" uses the cluster "dev", but FILE has no server for it',
  ],
  [
    'without a server',
    kubeConfig({ cluster: { server: '' } }),
    'context "dev" uses the cluster "dev", but FILE has no server for it',
  ],
  [
    'without the user of the context',
    kubeConfig({ context: { user: 'eve' } }),
    'context "dev" uses the user "eve", but FILE has no such user',
  ],
  [
    'with a server that is not a URL',
    kubeConfig({ cluster: { server: '10.0.0.1:6443' } }),
    "the server of the kubeconfig's cluster is not a valid URL: write https://host:port",
  ],
  [
    'with a server of another protocol',
    kubeConfig({ cluster: { server: 'ftp://host' } }),
    "the server of the kubeconfig's cluster begins with ftp://: use http:// or https://",
  ],
  [
    'with a SOCKS proxy',
    kubeConfig({ cluster: { 'proxy-url': 'socks5://me:secret@host:1080' } }),
    "the proxy-url of the kubeconfig's cluster begins with socks5://: use http:// or https://",
  ],
  [
    'with a proxy password with a bare %',
    kubeConfig({ cluster: { 'proxy-url': 'http://me:50%off@host:1080' } }),
    "the proxy-url of the kubeconfig's cluster has a user or password with a bare %: write it as %25",
  ],
  [
    'with a token of several lines',
    kubeConfig({ user: { token: 'a\nb' } }),
    'the token of user "dev" holds a space, a line break or another character that no token has: check token and tokenFile',
  ],
  [
    'with a missing certificate authority file',
    kubeConfig({ cluster: { 'certificate-authority': '/nowhere/ca.crt' } }),
    '/nowhere/ca.crt does not exist: it should hold the certificate authority of the cluster',
  ],
  [
    'with a missing certificate authority file for a plugin',
    kubeConfig({
      cluster: { 'certificate-authority': '/nowhere/ca.crt' },
      user: { exec: { command: 'login', provideClusterInfo: true } },
    }),
    '/nowhere/ca.crt does not exist: it should hold the certificate authority of the cluster',
  ],
  [
    'with an invalid certificate authority',
    kubeConfig({ cluster: { 'certificate-authority-data': base64('x') } }),
    'the certificate authority of the cluster is not a PEM certificate: check certificate-authority or certificate-authority-data',
  ],
  [
    'with a missing token file',
    kubeConfig({ user: { tokenFile: '/nowhere/token' } }),
    '/nowhere/token does not exist: it should hold the token of user "dev"',
  ],
  [
    'with half a client certificate',
    kubeConfig({ user: { 'client-key-data': base64('x') } }),
    'user "dev" has only half of a client certificate: add its client-certificate',
  ],
  [
    'with an invalid client certificate',
    kubeConfig({ user: { 'client-key-data': base64('x'), 'client-certificate-data': base64('x') } }),
    'the client certificate and the client key of user "dev" are not valid PEM: check client-certificate and client-key',
  ],
])('[O5] a kubeconfig %s gets one sentence with how to fix it', (_, text, expected) => {
  expect(sentence(temporaryFolder().write('config', text))).toBe(expected);
});

test('[O5] a client certificate with the key of another one is reported', async () => {
  const authority = await createAuthority();
  const [alice, bob] = [await authority.client('alice'), await authority.client('bob')];
  const user = { 'client-certificate-data': base64(alice.cert), 'client-key-data': base64(bob.key) };
  expect(sentence(temporaryFolder().write('config', kubeConfig({ user })))).toBe(
    'the client certificate and the client key of user "dev" do not belong together: check client-certificate and client-key',
  );
});

test('[O5] the error about an unknown context lists the known ones', () => {
  const path = temporaryFolder().write('config', kubeConfig({}));
  expect(sentence(path, { context: 'prod' })).toBe(
    'kubeconfig FILE has no context "prod" (it has dev): check --context',
  );
});

test('[O5] a kubeconfig that cannot be read is named with the reason', () => {
  const folder = temporaryFolder();
  const check = 'check --kubeconfig or KUBECONFIG';
  expect(sentence(`${folder.path}/missing`)).toBe(`kubeconfig FILE does not exist: ${check}`);
  expect(sentence(folder.path)).toBe(`kubeconfig FILE is a folder: ${check}`);
  const locked = folder.write('locked', '{}');
  chmodSync(locked, 0);
  // Root may read every file.
  const isRoot = process.getuid?.() === 0;
  expect(sentence(locked)).toBe(
    isRoot
      ? 'kubeconfig FILE has no current context: choose one with --context (it has no contexts)'
      : `kubeconfig FILE cannot be read by this user: ${check}`,
  );
});

test('[O5] without any cluster, the error lists the places where it looked', () => {
  const { path } = temporaryFolder();
  expect(() => loadCluster({ env: { HOME: path }, serviceAccountDir: path })).toThrow(
    `no cluster to work with: KUBECONFIG is not set, this is not a Pod, and ${path}/.kube/config does not exist: use --kubeconfig FILE`,
  );
  const env = { HOME: path, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  expect(() => loadCluster({ env, serviceAccountDir: path })).toThrow(
    'this Pod has no service account token (check automountServiceAccountToken)',
  );
  const KUBECONFIG = [`${path}/a`, `${path}/b`].join(delimiter);
  expect(() => loadCluster({ env: { KUBECONFIG } })).toThrow(
    `the files in KUBECONFIG are missing or empty: ${path}/a, ${path}/b`,
  );
});

test.each([
  [{ user: { 'as-groups': 'admins', as: 'bob' } }, 'as-groups should be a list of strings (user "dev")'],
  [
    { user: { 'as-user-extra': { team: 'x' }, as: 'bob' } },
    'as-user-extra should be a map of lists of strings (user "dev")',
  ],
  [{ user: { password: 123 } }, 'password should be a string: put it in quotes (user "dev")'],
  [{ user: { tokenFile: 1 } }, 'tokenFile should be a string: put it in quotes (user "dev")'],
  [
    { cluster: { 'certificate-authority': 1 } },
    'certificate-authority should be a string: put it in quotes (cluster "dev")',
  ],
  [
    { cluster: { 'insecure-skip-tls-verify': 'true' } },
    'insecure-skip-tls-verify should be true or false (cluster "dev")',
  ],
  [{ context: { namespace: 12 } }, 'namespace should be a string: put it in quotes (context "dev")'],
  [{ user: { exec: 'aws' } }, 'exec should be a map (user "dev")'],
  [{ user: { exec: { command: 'aws', args: 'eks' } } }, 'exec.args should be a list of strings (user "dev")'],
  [
    { user: { exec: { command: 'aws', env: { A: 'B' } } } },
    'exec.env should be a list of maps with name and value (user "dev")',
  ],
])('[O5] a field of the wrong type is named: %j', (parts, message) => {
  const path = temporaryFolder().write('config', kubeConfig(parts));
  expect(sentence(path)).toBe(`kubeconfig FILE is malformed: ${message}`);
});

test('fields of a kubeconfig that are null count as absent', () => {
  const exec = { command: 'login', args: null, env: null };
  const file = kubeConfig({ user: { exec, 'as-groups': null }, context: { namespace: null } });
  expect(load(file).user?.plugin?.exec).toMatchObject({ command: 'login' });
});
