import { expect, test } from 'vitest';
import { startRun } from '../cli/serving-run.ts';
import { folderWith } from '../notify/receiver.ts';
import { checkMetrics } from './tools.ts';

/** prom-client's names for what Node and the process do; promtool finds fault with some. */
const NODES_OWN = /^(?:nodejs|process)_/;

test("[O1] Prometheus' own parser reads the metrics, and finds no fault with our names and types", async () => {
  const sinks = folderWith({
    'sinks.yaml': 'sinks: [{name: ops, type: webhook, url: "https://ops.example"}]',
  });
  const { scrape, shows, createSource } = await startRun(
    ...['--leader-elect', '--leader-elect-lease-namespace=default', '--freshness-canary=1m'],
    `--notify-config=${sinks}/sinks.yaml`,
  );
  await shows('leader_election_master_status{name="mirror-controller"}', 1);
  await createSource('colors');
  await shows('mirror_propagation_seconds_count{cause="edit"}', 1);
  const text = await scrape();
  expect((await checkMetrics(text)).filter((line) => !NODES_OWN.test(line))).toEqual([]);
  // It does find fault: with the format, with a name, with a type.
  expect(await checkMetrics(text.trimEnd())).not.toEqual([]);
  expect(await checkMetrics(text.replaceAll('mirror_heals_total', 'mirror_heals'))).toContainEqual(
    expect.stringContaining('mirror_heals'),
  );
});
