import { expect, test } from 'vitest';
import { happeningMetrics } from '../../../src/controller/metrics/happening-metrics.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { PrometheusMetrics } from '../../../src/telemetry/prometheus.ts';
import { seriesValue } from '../../support/exposition.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('[O1] a change that another replica has mirrored is not measured when this one leads again', async () => {
  const clock = new ManualClock();
  const metrics = new PrometheusMetrics();
  let leads = true;
  const hear = happeningMetrics(metrics, clock, () => leads);
  const source = 'home/colors' as ObjectKey;
  const companion = 'home/colors-synced' as ObjectKey;
  const common = { source, object: undefined, result: 'ok', durationMs: 0 } as const;
  const mirror = () => {
    hear({ type: 'written', ...common, companion, action: 'update', reason: '', heal: undefined });
    hear({ type: 'reconciled', ...common, companions: {}, inSync: true });
  };
  hear({ type: 'noticed', source, cause: 'edit' });
  leads = false;
  // The other replica's write of the companion.
  hear({ type: 'noticed', source, cause: 'heal' });
  await clock.advance(3_600_000);
  leads = true;
  hear({ type: 'noticed', source, cause: 'edit' });
  mirror();
  const text = await metrics.scrape();
  expect(seriesValue(text, 'mirror_propagation_seconds_count{cause="edit"}')).toBe(1);
  expect(seriesValue(text, 'mirror_propagation_seconds_sum{cause="edit"}')).toBe(0);
});
