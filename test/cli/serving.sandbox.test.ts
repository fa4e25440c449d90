import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { folderWith } from '../notify/receiver.ts';
import { parseExposition, seriesValue } from '../support/exposition.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { memoryIo } from './memory-io.ts';
import { startRun } from './serving-run.ts';

/** The words of a row, its labels in the order of the alphabet. */
const sorted = (row: string) => row.split(' ').sort().join(' ');

test('[O1] each state, write, heal and propagation moves its metric, and the standard ones are there', async () => {
  const { person, scrape, shows, createSource } = await startRun();
  await person.createNamespace('team-a', {});
  await createSource('colors');
  await shows('mirror_companions{state="in_sync"}', 1);
  await shows('mirror_propagation_seconds_count{cause="edit"}', 1);
  await person.patch('default/colors-synced', { data: { sky: 'red' } });
  await shows('mirror_heals_total', 1);
  await shows('mirror_propagation_seconds_count{cause="heal"}', 1);

  await createSource('wide', { 'workshop.io/target-namespaces': 'team-*' });
  await shows('mirror_companions{state="in_sync"}', 2);
  await person.createNamespace('team-b', {});
  await shows('mirror_propagation_seconds_count{cause="namespace"}', 1);
  await person.create({ metadata: { name: 'taken-synced', namespace: 'default' }, data: {} });
  await createSource('taken');
  await shows('mirror_companions{state="conflict"}', 1);
  await shows('mirror_sources{state="conflict"}', 1);
  await createSource('bad', { 'workshop.io/deletion-policy': 'x' });
  await shows('mirror_sources{state="invalid"}', 1);
  await shows('mirror_reconciles_total{result="invalid"}', 1);

  const text = await scrape();
  const value = (series: string) => seriesValue(text, series);
  expect(value('mirror_sources{state="in_sync"}')).toBe(2);
  expect(value('mirror_companions{state="in_sync"}')).toBe(3);
  expect(value('mirror_oldest_unsynced_seconds')).toBe(0);
  expect(value('mirror_writes_total{verb="create",result="ok"}')).toBe(3);
  expect(value('mirror_writes_total{verb="update",result="ok"}')).toBe(1);
  expect(value('mirror_writes_total{verb="create",result="failed"}')).toBe(1);
  expect(value('mirror_fights_total')).toBe(0);
  expect(value('mirror_cache_bytes')).toBeGreaterThan(0);
  expect(value('mirror_reconciles_total{result="ok"}')).toBeGreaterThanOrEqual(4);
  expect(value('mirror_reconcile_duration_seconds_count')).toBeGreaterThanOrEqual(5);
  expect(value('workqueue_adds_total{name="sources"}')).toBeGreaterThanOrEqual(5);
  expect(value('workqueue_work_duration_seconds_count{name="sources"}')).toBeGreaterThanOrEqual(5);
  // Events are among them.
  expect(value('rest_client_requests_total{code="201",method="POST"}')).toBeGreaterThanOrEqual(3);
  expect(value('rest_client_requests_total{code="409",method="POST"}')).toBeGreaterThanOrEqual(1);
  expect(value('mirror_events_dropped_total')).toBe(0);
  const now = Date.now() / 1000;
  for (const kind of ['configmaps', 'namespaces']) {
    const at = value(`mirror_watch_last_activity_timestamp_seconds{kind="${kind}"}`);
    expect(Math.abs(now - at)).toBeLessThan(90);
  }
  expect([...(parseExposition(text).get('mirror_build_info')?.series.values() ?? [])]).toEqual([1]);
});

test('[O1] a standby exports the state, too, and is ready; only the leader says that it leads', async () => {
  const election = ['--leader-elect', '--leader-elect-lease-namespace=default'];
  const leader = await startRun(...election);
  await leader.shows('leader_election_master_status{name="mirror-controller"}', 1);
  await leader.createSource('colors');
  const standby = await leader.startAnother(...election);
  await standby.shows('mirror_companions{state="in_sync"}', 1);
  await standby.shows('leader_election_master_status{name="mirror-controller"}', 0);
  expect((await standby.get('/readyz')).status).toBe(200);
  expect(seriesValue(await standby.scrape(), 'mirror_reconciles_total{result="ok"}')).toBe(0);
  // The election has a transport of its own, whose requests count, too.
  const renewals = async () =>
    seriesValue(await leader.scrape(), 'rest_client_requests_total{code="200",method="PUT"}');
  await waitFor(async () => (await renewals()) > 0);
});

test('[O1] the number of series is the same with 10 and with 1,000 sources', async () => {
  const { scrape, shows, createSource } = await startRun();
  const seriesCount = async () =>
    [...parseExposition(await scrape()).values()].reduce((sum, { series }) => sum + series.size, 0);
  const before = await seriesCount();
  const create = async (from: number, to: number) => {
    for (let next = from; next < to; next += 50) {
      const numbers = Array.from({ length: Math.min(50, to - next) }, (_, index) => next + index);
      await Promise.all(numbers.map((number) => createSource(`source-${number}`)));
    }
  };
  await create(0, 10);
  await shows('mirror_companions{state="in_sync"}', 10);
  expect(await seriesCount()).toBe(before);
  await create(10, 1_000);
  await shows('mirror_companions{state="in_sync"}', 1_000);
  expect(await seriesCount()).toBe(before);
  expect(await scrape()).not.toMatch(/source-\d/);
});

test('[O1] [O2] docs/operating.md lists exactly our metrics, states and checks', async () => {
  const election = ['--leader-elect', '--leader-elect-lease-namespace=default'];
  const sinks = folderWith({
    'sinks.yaml': 'sinks: [{name: ops, type: webhook, url: "https://ops.example"}]',
  });
  const notifying = `--notify-config=${sinks}/sinks.yaml`;
  const { scrape, get } = await startRun(...election, '--freshness-canary=1m', notifying);
  const manual = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  /** The rows of the table whose first head is `head`, as cells. */
  const table = (head: string) => {
    const [, rows = ''] = manual.split(new RegExp(`^\\| ${head} \\|.*\\n.*\\n`, 'm'));
    return rows
      .slice(0, rows.search(/^(?!\|)/m))
      .trimEnd()
      .split('\n')
      .map((row) =>
        row
          .split('|')
          .map((cell) => cell.trim())
          .slice(1),
      );
  };
  const names = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const documented = table('metric').map(([name, type, labels]) =>
    [...names(name), type, ...names(labels)].join(' '),
  );
  const text = await scrape();
  const labelsOf = (series: readonly string[]) =>
    [...new Set(series.flatMap((key) => [...key.matchAll(/(\w+)="/g)].map(([, label]) => label)))].filter(
      (label) => label !== 'le',
    );
  const exported = [...parseExposition(text)]
    .filter(([name]) => !/^(process|nodejs)_/.test(name))
    .map(([name, { type, series }]) => [name, type, ...labelsOf([...series.keys()])].join(' '));
  expect(documented.map(sorted).sort()).toEqual(exported.map(sorted).sort());

  const states = [...text.matchAll(/^mirror_companions\{state="(\w+)"/gm)].map(([, state]) => state);
  expect(
    table('state of a companion')
      .flatMap(([cell]) => names(cell))
      .sort(),
  ).toEqual(states.sort());

  const checks = [...(await get('/healthz?verbose')).body.matchAll(/^\[.\](\S+)/gm)].map(([, name]) => name);
  expect(table('endpoint').flatMap(([, cell]) => names(cell))).toEqual(checks);
});

test('[O6] the canary goes the whole way of an edit, and has no Events', async () => {
  const { scrape, person, createSource, get, withEvents } = await startRun(
    '--freshness-canary=10s',
    '--leader-elect-lease-namespace=default',
  );
  const lastSuccess = async () => seriesValue(await scrape(), 'mirror_canary_last_success_timestamp_seconds');
  await waitFor(lastSuccess, { deadlineMs: 20_000 });
  expect(seriesValue(await scrape(), 'mirror_canary_seconds')).toBeGreaterThan(0);
  expect((await person.configMap('default/mirror-controller-canary-synced'))?.data).toHaveProperty('changed');
  expect((await get('/livez')).status).toBe(200);
  await createSource('colors');
  await waitFor(async () => (await withEvents()).includes('colors'), { deadlineMs: 20_000 });
  expect(await withEvents()).not.toContain('mirror-controller-canary');
});

test.each([
  ['with its flag', ['--freshness-canary=1h']],
  ['after that was removed', []],
])('[O6] the state of notifications does not know the canary %s', async (_, flags) => {
  const here = '--leader-elect-lease-namespace=default';
  const first = await startRun(here, '--freshness-canary=10s');
  const { person, createSource } = first;
  await waitFor(() => person.configMap('default/mirror-controller-canary-synced'), { deadlineMs: 20_000 });
  await first.stop();
  const sinks = folderWith({
    'sinks.yaml': 'sinks: [{name: ops, type: webhook, url: "https://ops.example", default: true}]',
  });
  const second = await first.startAnother(here, `--notify-config=${sinks}/sinks.yaml`, ...flags);
  const known = async () => {
    const state = await person.configMaps('default', 'app.kubernetes.io/component=notifications');
    return state.flatMap(({ data = {} }) => Object.values(data).map((text) => JSON.parse(text).ref));
  };
  await waitFor(() => second.io.err().includes('"notifying"'), { deadlineMs: 20_000 });
  await createSource('colors');
  await waitFor(async () => (await known()).includes('default/colors'), { deadlineMs: 20_000 });
  expect(await known()).toEqual(['default/colors']);
  expect(await second.withEvents()).not.toContain('mirror-controller-canary');
});

test('[O3] [L3] a leader that stops writes its last Events', async () => {
  const { stop, createSource, person, withEvents, io } = await startRun(
    '--leader-elect',
    '--leader-elect-lease-namespace=default',
  );
  await waitFor(() => io.err().includes('became leader') && io.err().includes('caches synced'));
  await createSource('colors');
  // Its Event waits a second for others.
  await waitFor(async () => (await person.configMap('default/colors-synced')) !== undefined);
  expect(await stop()).toBe(0);
  expect(await withEvents()).toEqual(['colors']);
});

test('[O2] livez, readyz and healthz list every check, those not in use included', async () => {
  const { get } = await startRun();
  const names = (body: string) => [...body.matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name]) => name);
  const live = ['watch-configmaps', 'watch-namespaces', 'event-loop', 'lease', 'workers', 'freshness-canary'];
  const ready = ['synced', 'shutdown'];
  await waitFor(async () => (await get('/readyz')).status === 200);
  expect(await get('/livez')).toMatchObject({ status: 200, body: 'ok' });
  expect(names((await get('/livez?verbose')).body)).toEqual(live);
  expect(names((await get('/readyz?verbose')).body)).toEqual(ready);
  expect(names((await get('/healthz?verbose')).body)).toEqual([...live, ...ready]);
});

test('[O2] a process that was asked to stop is live and no longer ready, and then closes its port', async () => {
  const { get, stop, person, createSource, io } = await startRun();
  await waitFor(async () => (await get('/readyz')).status === 200);
  await createSource('colors');
  await waitFor(async () => (await person.configMap('default/colors-synced')) !== undefined);
  const ended = stop();
  const answer = await get('/readyz').catch(() => undefined);
  if (answer !== undefined)
    expect(answer).toMatchObject({ status: 500, body: expect.stringContaining('stopping') });
  expect(await ended).toBe(0);
  await expect(get('/livez')).rejects.toThrow();
  expect(io.err()).not.toContain('"level":"error"');
});

test('[O5] --http-address in use: exit code 1, and one sentence that says how to fix it', async () => {
  await using place = await sandboxServer.open();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    other.close();
  });
  const { port } = other.address() as AddressInfo;
  const io = memoryIo();
  const address = `--http-address=127.0.0.1:${port}`;
  expect(await runProgram(['run', '--kubeconfig', place.kubeconfigPath, address], io)).toBe(1);
  expect(io.err()).toBe(
    `mirror-controller: --http-address 127.0.0.1:${port} is in use by another process\n` +
      'Choose another --http-address, or serve no metrics and no health with an empty one.\n',
  );
});
