import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Family, FamilyOptions, GaugeOptions, MetricOptions, Metrics } from './metrics.ts';

/**
 * prom-client's lists of what is open: a series for each type that was ever seen. The number of our
 * series does not depend on what happens.
 */
const LEFT_OUT = ['handles', 'requests', 'resources'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);
const GC_KINDS = ['major', 'minor', 'incremental', 'weakcb'];

/**
 * A registry of its own, with the metrics of Node's process and event loop. Their observers last as
 * long as the process, so make one registry.
 */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of LEFT_OUT) this.#registry.removeSingleMetric(name);
    const gc = this.#registry.getSingleMetric('nodejs_gc_duration_seconds');
    if (gc instanceof Histogram) for (const kind of GC_KINDS) gc.zero({ kind });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in Prometheus' text format, version 0.0.4. */
  scrape(): Promise<string> {
    return this.#registry.metrics();
  }

  counter({ labels, ...options }: FamilyOptions): Family<Counter.Internal> {
    const counter = new Counter({ ...options, ...this.#with(Object.keys(labels)) });
    for (const values of combinations(labels)) counter.inc(values, 0);
    return { with: (...values) => counter.labels(...values) };
  }

  histogram({ labels, buckets, ...options }: FamilyOptions & { readonly buckets: readonly number[] }) {
    const common = this.#with(Object.keys(labels));
    const histogram = new Histogram({ ...options, ...common, buckets: [...buckets] });
    for (const values of combinations(labels)) histogram.zero(values);
    return { with: (...values: string[]) => histogram.labels(...values) };
  }

  total({ read, ...options }: MetricOptions & { readonly read: () => number }): void {
    const counter = new Counter({
      ...options,
      ...this.#with([]),
      collect: () => {
        counter.reset();
        counter.inc(read());
      },
    });
  }

  gauge({ label, read, ...options }: GaugeOptions): void {
    const gauge = new Gauge({
      ...options,
      ...this.#with(label === undefined ? [] : [label]),
      collect: async () => {
        const reading = await read();
        gauge.reset();
        if (typeof reading === 'number') gauge.set(reading);
        else for (const [value, number] of reading) gauge.set({ [label ?? '']: value }, number);
      },
    });
  }

  #with(labelNames: readonly string[]) {
    return { labelNames, registers: [this.#registry] };
  }
}

/** Of one value for each label. */
function combinations(labels: FamilyOptions['labels']): readonly Record<string, string>[] {
  let found: readonly Record<string, string>[] = [{}];
  for (const [name, values] of Object.entries(labels)) {
    found = found.flatMap((others) => values.map((value) => ({ ...others, [name]: value })));
  }
  return found;
}
