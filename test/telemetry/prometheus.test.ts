import { expect, test } from 'vitest';
import { PrometheusMetrics } from '../../src/telemetry/prometheus.ts';
import { parseExposition } from '../support/exposition.ts';

const seriesOf = async (metrics: PrometheusMetrics, name: string) =>
  Object.fromEntries(parseExposition(await metrics.scrape()).get(name)?.series ?? []);

test('[O1] every combination of labels is exported at 0 before anything happens', async () => {
  const metrics = new PrometheusMetrics();
  const labels = { verb: ['create', 'delete'], result: ['ok', 'error'] };
  metrics.counter({ name: 'writes_total', help: 'Writes.', labels });
  metrics.histogram({ name: 'age_seconds', help: 'Age.', labels: { of: ['cats'] }, buckets: [1, 5] });
  expect(await seriesOf(metrics, 'writes_total')).toEqual({
    'writes_total{verb="create",result="ok"}': 0,
    'writes_total{verb="create",result="error"}': 0,
    'writes_total{verb="delete",result="ok"}': 0,
    'writes_total{verb="delete",result="error"}': 0,
  });
  expect(await seriesOf(metrics, 'age_seconds')).toMatchObject({
    'age_seconds_bucket{le="+Inf",of="cats"}': 0,
    'age_seconds_count{of="cats"}': 0,
  });
});

test('[O1] counters and histograms count, also without labels and for a value nobody listed', async () => {
  const metrics = new PrometheusMetrics();
  const codes = metrics.counter({ name: 'codes_total', help: 'Codes.', labels: { code: ['200'] } });
  const age = metrics.histogram({ name: 'age_seconds', help: 'Age.', labels: {}, buckets: [1, 5] });
  codes.with('200').inc();
  codes.with('418').inc();
  codes.with('418').inc();
  for (const seconds of [0.5, 2, 7]) age.with().observe(seconds);
  expect(await seriesOf(metrics, 'codes_total')).toEqual({
    'codes_total{code="200"}': 1,
    'codes_total{code="418"}': 2,
  });
  expect(await seriesOf(metrics, 'age_seconds')).toEqual({
    'age_seconds_bucket{le="1"}': 1,
    'age_seconds_bucket{le="5"}': 2,
    'age_seconds_bucket{le="+Inf"}': 3,
    age_seconds_sum: 9.5,
    age_seconds_count: 3,
  });
});

test('[O1] a gauge is read at each scrape, and exports what it gives then', async () => {
  const metrics = new PrometheusMetrics();
  let readings = 0;
  metrics.gauge({ name: 'readings', help: 'Readings.', read: () => ++readings });
  metrics.total({ name: 'asked_total', help: 'Asked.', read: () => readings });
  const pets = new Map([['cat', 1]]);
  metrics.gauge({ name: 'pets', help: 'Pets.', label: 'kind', read: async () => pets });
  expect(await seriesOf(metrics, 'readings')).toEqual({ readings: 1 });
  pets.delete('cat');
  pets.set('a "dog"\\\n', 2);
  expect(await seriesOf(metrics, 'pets')).toEqual({ 'pets{kind="a \\"dog\\"\\\\\\n"}': 2 });
  expect(await seriesOf(metrics, 'asked_total')).toEqual({ asked_total: 3 });
});

test("[O1] Node's process and event loop are measured, with a number of series that does not grow", async () => {
  const metrics = new PrometheusMetrics();
  const families = parseExposition(await metrics.scrape());
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_p99_seconds',
  ])
    expect([...(families.get(name)?.series.keys() ?? [])]).toEqual([name]);
  const types = [...families.values()]
    .flatMap(({ series }) => [...series.keys()])
    .filter((key) => key.includes('type='));
  expect(types).toEqual([]);
});
