import { expect, test } from 'vitest';
import { PrometheusMetrics } from '../../src/telemetry/prometheus.ts';
import { DelayingQueue } from '../../src/workqueue/delaying-queue.ts';
import { QueueMetrics } from '../../src/workqueue/queue-metrics.ts';
import { seriesValue } from '../support/exposition.ts';
import { ManualClock } from '../support/manual-clock.ts';

test("[O1] a workqueue has client-go's metrics, with client-go's meanings", async () => {
  const clock = new ManualClock();
  const registry = new PrometheusMetrics();
  const queue = new DelayingQueue({ clock, metrics: new QueueMetrics('sources', registry, clock) });
  const values = async (...names: readonly string[]) => {
    const text = await registry.scrape();
    return names.map((name) => seriesValue(text, `workqueue_${name}{name="sources"}`));
  };
  for (const key of ['a', 'a', 'b']) queue.add(key);
  expect(await values('depth', 'adds_total', 'retries_total')).toEqual([2, 2, 0]);

  await clock.advance(2_000);
  await queue.get();
  await clock.advance(1_000);
  await queue.get();
  queue.add('a');
  await clock.advance(4_000);
  expect(await values('depth', 'adds_total')).toEqual([1, 3]);
  expect(await values('queue_duration_seconds_sum', 'queue_duration_seconds_count')).toEqual([5, 2]);
  expect(await values('unfinished_work_seconds', 'longest_running_processor_seconds')).toEqual([9, 5]);

  queue.done('a');
  queue.done('b');
  queue.addAfter('b', 1_000);
  expect(await values('work_duration_seconds_sum', 'work_duration_seconds_count')).toEqual([9, 2]);
  expect(await values('unfinished_work_seconds', 'longest_running_processor_seconds')).toEqual([0, 0]);
  expect(await values('depth', 'retries_total')).toEqual([1, 1]);
  await clock.advance(1_000);
  expect(await values('depth', 'adds_total')).toEqual([2, 4]);
});
