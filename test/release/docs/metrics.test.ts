/** docs/metrics.md has every metric that alerts, the dashboard and the page's own queries ask for. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ALERT_RULES, type AlertRule } from '../../../constructs/monitoring/alert-rules.ts';
import { DASHBOARD_SECTIONS } from '../../../constructs/monitoring/dashboard-panels.ts';
import { DASHBOARD_VARIABLES } from '../../../constructs/monitoring/dashboard-queries.ts';
import { QUERIES, shownMetrics } from './metrics.ts';

/** Metrics that an expression names; those of Linkspan have one of these prefixes. */
const metricsIn = (expr: string): readonly string[] =>
  [
    ...expr
      .replaceAll(/"[^"]*"/g, '')
      .matchAll(
        /\b(linkspan|gateway|service_mirror|controller_runtime|workqueue|rest_client|leader_election|process|nodejs)_\w+/g,
      ),
  ].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));

const panels = DASHBOARD_SECTIONS.flatMap((section) => section.panels);

test.each<readonly [string, readonly string[]]>([
  ['the alerts', Object.values<AlertRule>(ALERT_RULES).map(({ expr }) => expr)],
  [
    'the dashboard',
    [...Object.values(DASHBOARD_VARIABLES), ...panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))],
  ],
  ['its own queries', QUERIES.map(([, expr]) => expr)],
])('the reference of metrics has those of %s', async (_, expressions) => {
  const page = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const known = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  for (const expr of expressions) {
    expect(metricsIn(expr), expr).not.toEqual([]);
    expect(known, expr).toEqual(expect.arrayContaining([...metricsIn(expr)]));
  }
});

test('the reference of metrics gives each a meaning, and none a label for each Service', () => {
  for (const { name, meaning, labels } of shownMetrics()) {
    expect(meaning, name).toMatch(/^[A-Z].{10}/);
    expect(labels, name).not.toContain('service');
  }
});
