/**
 * What the rest of the program knows of metrics; `prometheus.ts` implements it. client-go hides
 * Prometheus from its workqueue in the same way. Times are in seconds, as everywhere in Prometheus.
 */
export interface Metrics {
  /** A counter for each combination of label values, at 0 from the start. */
  counter(options: FamilyOptions): Family<Counter>;
  /** Likewise a histogram. `buckets`: upper bounds, ascending. */
  histogram(options: FamilyOptions & { readonly buckets: readonly number[] }): Family<Histogram>;
  /** A counter that somebody else counts; `read` is called at each scrape. */
  total(options: MetricOptions & { readonly read: () => number }): void;
  /** A gauge that is read at each scrape. */
  gauge(options: GaugeOptions): void;
}

export interface MetricOptions {
  /** Ends in its unit: https://prometheus.io/docs/practices/naming/ */
  readonly name: string;
  readonly help: string;
}

export interface FamilyOptions extends MetricOptions {
  /**
   * Names of labels, each with its values. Never names of objects: the number of series must not
   * grow with the cluster.
   */
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

export interface GaugeOptions extends MetricOptions {
  /** Absent: `read` gives one number. Else it gives one for each value of this label. */
  readonly label?: string;
  readonly read: () => GaugeReading | Promise<GaugeReading>;
}

export type GaugeReading = number | ReadonlyMap<string, number>;

/** One metric for each combination of label values. */
export interface Family<M> {
  /**
   * The metric for these values, in the order of the labels. A value that the labels do not list is
   * added.
   */
  with(...values: string[]): M;
}

export interface Counter {
  inc(): void;
}

export interface Histogram {
  observe(value: number): void;
}

const IGNORED = { inc: () => undefined, observe: () => undefined };

/** Counts nothing: for commands that export no metrics. */
export const NO_METRICS: Metrics = {
  counter: () => ({ with: () => IGNORED }),
  histogram: () => ({ with: () => IGNORED }),
  total: () => undefined,
  gauge: () => undefined,
};
