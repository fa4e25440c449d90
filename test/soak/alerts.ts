import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { Metrics } from './pair.ts';

const RULES = new URL('../../manifests/components/monitoring/prometheus-rule.yaml', import.meta.url);
/** Time (s) between two scrapes. */
export const INTERVAL_S = 5;
/** They say that a soak is going on: replicas are killed, and companions edited again and again. */
const EXPECTED = ['MirrorLeaderFlapping', 'MirrorFight'];

/** What Prometheus would have scraped, for promtool to judge afterwards. */
export class ScrapeLog {
  readonly #rules = (load(readFileSync(RULES, 'utf8')) as { readonly spec: object }).spec;
  readonly #used = new Set(JSON.stringify(this.#rules).match(/\b(?:mirror|workqueue|leader_election)_\w+/g));
  /** Wall time (s) of promtool's 0. */
  readonly #origin: number;
  readonly #series = new Map<string, string[]>();
  readonly #calm: number[] = [];
  #length = 0;

  constructor(now: Date) {
    this.#origin = now.getTime() / 1_000;
  }

  /** The next scrape of all replicas that answer. */
  add(scrapes: readonly { readonly pod: string; readonly metrics: Metrics }[]): void {
    for (const { pod, metrics } of scrapes) {
      for (const [name, { series }] of metrics) {
        if (!this.#used.has(name)) continue;
        for (const [key, value] of series) this.#put(name, key, pod, value);
      }
    }
    this.#length += 1;
    // Prometheus marks a series that is gone.
    for (const values of this.#series.values()) if (values.length < this.#length) values.push('stale');
  }

  /** From the last scrape on all should be well. */
  noteCalm(): void {
    if (this.#length > 0) this.#calm.push((this.#length - 1) * INTERVAL_S);
  }

  /** Asks promtool, and rejects with its answer if an alert fired in a moment of calm. */
  async check(promtool: (...args: readonly string[]) => Promise<string>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'soak-'));
    const write = (name: string, content: object) => {
      writeFileSync(join(folder, name), JSON.stringify(content));
      return join(folder, name);
    };
    const test = {
      interval: `${INTERVAL_S}s`,
      input_series: [...this.#series].map(([series, values]) => ({ series, values: values.join(' ') })),
      promql_expr_test: [...new Set(this.#calm)].map((time) => ({
        expr: `group by (alertname) (ALERTS{alertstate="firing",alertname!~"${EXPECTED.join('|')}"})`,
        eval_time: `${time}s`,
        exp_samples: [],
      })),
    };
    const rules = write('rules.json', this.#rules);
    const tests = { rule_files: [rules], evaluation_interval: `${INTERVAL_S}s`, tests: [test] };
    try {
      await promtool('test', 'rules', write('test.json', tests));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  #put(name: string, key: string, pod: string, value: number): void {
    const labels = /\{(.*?),?\}$/.exec(key)?.[1];
    const target = `namespace="mirror-controller",pod="${pod}",job="mirror-controller"`;
    const series = `${name}{${target}${labels === undefined ? '' : `,${labels}`}}`;
    const values = this.#series.get(series) ?? Array.from({ length: this.#length }, () => '_');
    const isTime = name.endsWith('_timestamp_seconds') && value > 0;
    values.push(String(isTime ? Math.max(0, value - this.#origin) : value));
    this.#series.set(series, values);
  }
}
