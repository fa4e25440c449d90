import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { Person } from '../controller/person.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { memoryIo } from './memory-io.ts';

const STATE_LABELS = {
  'app.kubernetes.io/managed-by': 'mirror-controller',
  'app.kubernetes.io/component': 'notifications',
};

/** A source, and a way to write state that says what a sink was sent of it. */
async function scene() {
  const place = await sandboxServer.openOwn();
  const person = new Person(place.cluster);
  onTestFinished(async () => {
    await person[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });
  const metadata = { name: 'colors', namespace: 'default', labels: { 'workshop.io/managed': 'true' } };
  await person.create({ metadata, data: { sky: 'blue' } });
  const uid = (await person.configMap('default/colors'))?.metadata.uid ?? '';
  for (const namespace of ['ops', 'tenant']) await person.createNamespace(namespace, {});
  const at = '2026-01-01T00:00:00Z';
  return {
    putState: async (namespace: string, name: string, sink: string) => {
      const version = createHash('sha256').update('any').digest('hex');
      const sinks = { [sink]: { version: version.slice(0, 8), at } };
      const record = { ref: 'default/colors', seq: 1, version, resourceVersion: '1', at, sinks };
      const state = { [uid]: JSON.stringify(record) };
      await person.create({ metadata: { name, namespace, labels: STATE_LABELS }, data: state });
    },
    status: async (...flags: readonly string[]) => {
      const io = memoryIo();
      await runProgram(['status', '-A', '-o', 'wide', '--kubeconfig', place.kubeconfigPath, ...flags], io);
      return { out: io.out(), err: io.err() };
    },
  };
}

test('[N4] status believes only ConfigMaps that are named as the state of notifications is', async () => {
  const { putState, status } = await scene();
  await putState('tenant', 'mine', 'forged');
  expect((await status()).out).not.toContain('NOTIFIED');
  await putState('ops', 'any-name-notify-15', 'app');
  expect((await status()).out).toContain('app ');
  expect((await status()).out).not.toContain('forged');
});

test('[N4] status believes no record of a source that several namespaces have, and says so', async () => {
  const { putState, status } = await scene();
  await putState('ops', 'mirror-controller-notify-3', 'app');
  await putState('tenant', 'mirror-controller-notify-3', 'forged');
  const mixed = await status();
  expect(mixed.out).not.toMatch(/app |forged/);
  expect(mixed.err).toBe(
    'NOTIFIED is left out of sources with records in several namespaces: ops, tenant\n' +
      "Name the controller's namespace with --leader-elect-lease-namespace.\n",
  );
  const chosen = await status('--leader-elect-lease-namespace=ops');
  expect(chosen.out).toContain('app ');
  expect([chosen.out.includes('forged'), chosen.err]).toEqual([false, '']);
});
