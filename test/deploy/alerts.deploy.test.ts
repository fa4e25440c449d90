import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, describe, expect, test } from 'vitest';
import { ALERT_CASES, type AlertCase, HEALTHY } from './alert-cases.ts';
import { inRepository, promtool } from './tools.ts';

interface AlertRule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface PrometheusRule {
  readonly spec: { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] };
}

const component = 'manifests/components/monitoring';
const text = readFileSync(inRepository(`${component}/prometheus-rule.yaml`), 'utf8');
const { spec } = load(text) as PrometheusRule;
const alerts = spec.groups.flatMap(({ rules }) => rules);
const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file for promtool, which reads JSON as YAML; returns its path. */
function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** Asks for Prometheus' own series of firing alerts, so a test need not repeat their texts. */
function promtoolTest({ name, series, only, firing }: AlertCase) {
  const all = only ? series : { ...HEALTHY, ...series };
  return {
    name,
    interval: '30s',
    input_series: Object.entries(all).map(([key, values]) => ({ series: key, values })),
    promql_expr_test: Object.entries(firing).map(([time, names]) => ({
      expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: time,
      exp_samples: names.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
    })),
  };
}

describe('the alerts', () => {
  test('are rules that Prometheus accepts', async () => {
    expect(await promtool('check', 'rules', file('rules.yaml', spec))).toContain('SUCCESS');
  });

  test.concurrent.for(ALERT_CASES)('$name', async (each) => {
    const rules = file(`${each.name}.rules.yaml`, spec);
    const tests = { rule_files: [rules], evaluation_interval: '30s', tests: [promtoolTest(each)] };
    expect(await promtool('test', 'rules', file(`${each.name}.yaml`, tests))).toContain('SUCCESS');
  });

  test('have a case each in which they fire', () => {
    const fired = new Set(ALERT_CASES.flatMap(({ firing }) => Object.values(firing).flat()));
    expect([...fired].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  });

  test('have a summary, a severity and a section in docs/operating.md', () => {
    const headings = readFileSync(inRepository('docs/operating.md'), 'utf8').match(/^### \w+$/gm) ?? [];
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).not.toBe('');
      expect(annotations.runbook_url).toMatch(new RegExp(`/docs/operating\\.md#${alert.toLowerCase()}$`));
      expect(headings).toContain(`### ${alert}`);
    }
  });
});

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

test('the queries of the dashboard are valid', async () => {
  const { panels } = JSON.parse(
    readFileSync(inRepository(`${component}/dashboard.json`), 'utf8'),
  ) as Dashboard;
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThanOrEqual(panels.length);
  // As recording rules, because promtool checks those.
  const rules = queries.map((expr, index) => ({ record: `query_${index}`, expr }));
  const groups = [{ name: 'dashboard', rules }];
  expect(await promtool('check', 'rules', file('dashboard.yaml', { groups }))).toContain('SUCCESS');
});

test('alerts and dashboard use only metrics that docs/operating.md describes', () => {
  const queries = text + readFileSync(inRepository(`${component}/dashboard.json`), 'utf8');
  const named = queries.match(/\b(mirror|workqueue|leader_election|rest_client|process|nodejs)_[a-z0-9_]+/g);
  const page = readFileSync(inRepository('docs/operating.md'), 'utf8').split('## Alerts')[0] ?? '';
  const unknown = (named ?? []).filter((name) => !page.includes(`\`${name.replace(/_bucket$/, '')}\``));
  expect(named?.length).toBeGreaterThan(20);
  expect(unknown).toEqual([]);
});
