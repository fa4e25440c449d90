/**
 * A strict reader of Prometheus' text format, written from its specification and not from
 * prom-client: https://prometheus.io/docs/instrumenting/exposition_formats/. npm's
 * `parse-prometheus-text-format` takes series that occur twice, or without a type, without a word;
 * promtool is built for `npm run test:deploy` only.
 */
export interface MetricFamily {
  type: string;
  /** Values by series, as written: `name{a="b"}`. */
  readonly series: Map<string, number>;
}

const HEAD = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const SAMPLE =
  /^(([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)+)\})?) ([+-]?Inf|[Nn]a[Nn]|[-+]?[\d.]+(?:e[-+]?\d+)?)$/;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];

/** The metrics in `text`, by name. Throws at the first breach of the format. */
export function parseExposition(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end in a line feed');
  const families = new Map<string, MetricFamily>();
  let current = '';
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = HEAD.exec(line) ?? [];
    if (keyword === 'HELP') {
      require(!families.has(name), `${name} has a second HELP`);
      families.set(name, { type: '', series: new Map() });
      current = name;
    } else if (keyword === 'TYPE') {
      require(current === name && TYPES.includes(rest), `a TYPE without HELP, or unknown: ${line}`);
      families.set(name, { type: rest, series: new Map() });
    } else if (line !== '') {
      addSample(line, current, families.get(current));
    }
  }
  for (const [name, family] of families) requireConsistent(name, family);
  return families;
}

/** The value of a series, as it is written in `text`. */
export function seriesValue(text: string, series: string): number {
  for (const family of parseExposition(text).values()) {
    const value = family.series.get(series);
    if (value !== undefined) return value;
  }
  throw new Error(`there is no series ${series}`);
}

function addSample(line: string, current: string, family: MetricFamily | undefined): void {
  const [, series = '', name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  require(series !== '', `not a sample: ${line}`);
  require(family !== undefined && family.type !== '', `a sample before its TYPE: ${line}`);
  const isOwn =
    family?.type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') === current : name === current;
  require(isOwn, `a sample apart from its metric: ${line}`);
  const names = [...labels.matchAll(/(?:^|,)(\w+)=/g)].map(([, label]) => label);
  require(new Set(names).size === names.length, `a label twice: ${line}`);
  require(family?.series.has(series) === false, `a series twice: ${line}`);
  family?.series.set(series, numberOf(value));
}

function numberOf(value: string): number {
  return value.endsWith('Inf') ? Number(`${value}inity`) : Number(value);
}

function requireConsistent(name: string, { type, series }: MetricFamily): void {
  require(type !== '', `${name} has no TYPE`);
  require((type === 'counter') === name.endsWith('_total'), `${name}: only counters end in _total`);
  for (const [key, value] of series) require(type !== 'counter' || value >= 0, `${key} is below 0`);
  if (type === 'histogram') requireBuckets(name, series);
}

/** Cumulative buckets in ascending order, the last one `+Inf` and equal to the count. */
function requireBuckets(name: string, series: MetricFamily['series']): void {
  let before = { bound: Number.NEGATIVE_INFINITY, count: 0 };
  for (const [key, count] of series) {
    const [, bound] = /le="([^"]+)"/.exec(key) ?? [];
    if (bound !== undefined) {
      const isInOrder = numberOf(bound) > before.bound && count >= before.count;
      require(isInOrder, `${key} is out of order`);
      before = { bound: numberOf(bound), count };
    } else if (key.startsWith(`${name}_count`)) {
      require(before.bound === Number.POSITIVE_INFINITY &&
        before.count === count, `${key} is not that of +Inf`);
      before = { bound: Number.NEGATIVE_INFINITY, count: 0 };
    }
  }
  require(before.count === 0, `${name} has a histogram without a count`);
}

function require(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}
