import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { type ApiClient, openApiClient } from '../support/api-client.ts';
import type { Place, TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';

const OWN = ['mirror-demo', 'demo-team-a', 'demo-team-b', 'demo-team-c', 'demo-guest'];
/** Somebody's, and matched by the pattern that the demo uses. */
const BYSTANDER = 'demo-team-bystander';

/**
 * SPEC's C5 in a cluster that is not the demo's own, whichever kind of server it has. No two of
 * these tests may run at the same time on one server: the demo's namespaces have fixed names.
 */
export function clusterSuite(server: TestServer): void {
  let place: Place;
  let api: ApiClient;
  beforeAll(async () => {
    place = await server.open();
    api = openApiClient(place.access);
    await createNamespace(api, BYSTANDER);
  });
  afterAll(async () => {
    await api.request('DELETE', `/api/v1/namespaces/${BYSTANDER}`);
    await api.close();
    await place[Symbol.asyncDispose]();
  });
  const present = async () => {
    const { body } = await api.request('GET', '/api/v1/namespaces');
    return body.items.map(({ metadata }) => metadata.name).filter((name) => OWN.includes(name));
  };
  const play = (io: ReturnType<typeof memoryIo>) =>
    runProgram(['demo', '--kubeconfig', place.kubeconfigPath, '--context', place.cluster.context ?? ''], io);

  test('[C5] the demo changes nothing that exists, reports what it skips, and deletes what it created', async () => {
    const bystander = await api.watch(`/api/v1/namespaces/${BYSTANDER}/configmaps?watch=true`);
    const io = memoryIo();
    const code = await play(io);
    expect(io.err()).toBe('');
    expect(code).toBe(0);
    expect(io.out().match(/^ {4}✓ .*$/gm)).toHaveLength(20);
    expect(io.out()).toMatch(/ 6 {2}Let the API server fail for a while\n {4}- SKIPPED: /);
    expect(io.out()).toContain('20 steps, all as expected, 1 SKIPPED as said above, in ');
    expect(
      io
        .out()
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
    expect(await present()).toEqual([]);
    // Its watch shows what comes after the demo too: then what it does not show has not been.
    const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'last' } };
    await api.request('POST', `/api/v1/namespaces/${BYSTANDER}/configmaps`, { body: last });
    const shown = () => bystander.lines.map(({ object }) => object.metadata.name);
    await waitFor(() => shown().includes('last'));
    expect(shown().filter((name) => name !== 'kube-root-ca.crt')).toEqual(['last']);
    bystander.close();
  });

  test('[C5] the demo refuses to use a namespace that exists, and leaves it alone', async () => {
    const { uid } = await createNamespace(api, 'demo-team-b');
    const io = memoryIo();
    expect(await play(io)).toBe(1);
    expect(io.err()).toMatch(
      /^mirror-controller: the demo works only in namespaces .* demo-team-b\n.*"kubectl --context \S+ delete namespace demo-team-b".*\n$/,
    );
    const { body } = await api.request('GET', '/api/v1/namespaces/demo-team-b');
    expect(body.metadata).toMatchObject({ uid });
    expect(body.metadata.deletionTimestamp).toBeUndefined();
    expect(await present()).toEqual(['demo-team-b']);
    await api.request('DELETE', '/api/v1/namespaces/demo-team-b');
    await waitFor(async () => (await present()).length === 0, { deadlineMs: 30_000 });
  });

  test('[C5] the demo deletes its namespaces after Ctrl-C', async () => {
    const io = memoryIo();
    const stdout = outputThat('Narrow the list', (done) => {
      io.stop();
      done();
    });
    expect(await play({ ...io, stdout })).toBe(1);
    expect(io.err()).toBe('mirror-controller: interrupted in step 11\n');
    await waitFor(async () => (await present()).length === 0, { deadlineMs: 30_000 });
  });

  test('[C5] the demo deletes its namespaces when the reader of its output ends, as in "demo | head"', async () => {
    const io = memoryIo();
    const stdout = outputThat('Narrow the list', (done) => done(new Error('write EPIPE')));
    expect(await play({ ...io, stdout })).toBe(1);
    expect(io.err()).toBe('mirror-controller: interrupted in step 11\n');
    await waitFor(async () => (await present()).length === 0, { deadlineMs: 30_000 });
  });
}

/** Output that does something else, once, with a line that contains `text`. */
function outputThat(text: string, act: (done: (error?: Error) => void) => void): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => (String(chunk).includes(text) ? act(done) : done()),
  });
}

async function createNamespace(api: ApiClient, name: string) {
  const { code, body } = await api.request('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  });
  expect(code).toBe(201);
  return body.metadata;
}
