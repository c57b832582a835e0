import { App, Chart } from 'cdk8s';
import { expect, test } from 'vitest';
import { DASHBOARD_SECTIONS } from '../../../constructs/monitoring/dashboard-panels.ts';
import { DASHBOARD_VARIABLES } from '../../../constructs/monitoring/dashboard-queries.ts';
import { Dashboard, type DashboardProps } from '../../../constructs/monitoring/dashboard.ts';
import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import { errorsOf } from '../errors-of.ts';
import { expectExposed } from './promql.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

const configMap = (props?: DashboardProps): ApiJson =>
  render((chart) => {
    new Dashboard(chart, 'dashboard', props);
  })[0]!;

const textOf = (object: ApiJson): string => Object.values(object['data'] as Readonly<Record<string, string>>)[0]!;

const panels = (): readonly Panel[] =>
  (JSON.parse(textOf(configMap())) as { readonly panels: readonly Panel[] }).panels;

test("Grafana's sidecar finds the dashboard by its label, as one file", () => {
  const { kind, metadata, data } = configMap();

  expect({ kind, metadata }).toEqual({
    kind: 'ConfigMap',
    metadata: {
      name: 'linkspan-dashboard',
      namespace: 'linkerd-multicluster',
      labels: { grafana_dashboard: '1' },
    },
  });
  expect(Object.keys(data as object)).toEqual(['linkspan-dashboard.json']);
});

test('label, folder, name and namespace are as they are given', () => {
  const props = { name: 'mesh', namespace: 'monitoring', label: 'dashboards', labelValue: 'team', folder: 'Our mesh' };
  const { metadata, data } = configMap(props);

  expect(metadata).toEqual({
    name: 'mesh',
    namespace: 'monitoring',
    labels: { dashboards: 'team' },
    annotations: { grafana_folder: 'Our mesh' },
  });
  expect(Object.keys(data as object)).toEqual(['mesh.json']);
});

test("the dashboard lives in the chart's namespace where the chart has one", () => {
  const chart = new Chart(new App(), 'test', { namespace: 'mesh' });

  expect(new Dashboard(chart, 'dashboard').configMap.metadata.namespace).toBe('mesh');
});

test('the dashboard is the same each time, and has nothing that only an editor or a database would put there', () => {
  const text = textOf(configMap());
  expect(textOf(configMap({ name: 'other' }))).toBe(text);
  const dashboard = JSON.parse(text) as Readonly<Record<string, unknown>>;
  expect(dashboard).toMatchObject({ uid: 'linkspan', title: 'Linkspan' });
  for (const noise of ['id', 'iteration', 'version', '__inputs', '__requires']) {
    expect(dashboard).not.toHaveProperty(noise);
  }
});

test('there is every panel, in its order and in a place of its own', () => {
  const titles = DASHBOARD_SECTIONS.flatMap(({ title, panels }) => [title, ...panels.map((panel) => panel.title)]);
  expect(panels().map(({ title }) => title)).toEqual(titles);
  expect(panels().map(({ id }) => id)).toEqual(titles.map((_, index) => index + 1));

  const taken = new Set<string>();
  for (const { title, gridPos } of panels()) {
    const { x, y, w, h } = gridPos;
    expect(x + w, title).toBeLessThanOrEqual(24);
    for (let column = x; column < x + w; column += 1) {
      for (let row = y; row < y + h; row += 1) {
        expect(taken.has(`${column},${row}`), title).toBe(false);
        taken.add(`${column},${row}`);
      }
    }
  }
});

const queries = panels().flatMap(({ title, targets = [] }) =>
  targets.map(({ refId, expr, legendFormat }) => ({ query: `${title} ${refId}`, expr, legendFormat })),
);

test.each(queries)('$query asks for what the operator exposes', ({ expr }) => {
  expectExposed(expr);
});

test.each(queries)('$query calls its series by labels that they have', ({ expr, legendFormat }) => {
  const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
  const groups = /by \((?:le, )?([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? ['cluster', 'pod', 'instance'];
  expect(groups).toEqual(expect.arrayContaining(labels));
});

/** Aggregations of an expression from the outside in, as in `max` by `link`. */
const aggregationsIn = (expr: string): readonly { readonly by: readonly string[]; readonly operator: string }[] =>
  [...expr.matchAll(/\b(?<operator>sum|min|max|count|avg)(?: by \((?<by>[^)]*)\) )?\(/g)].map(({ groups = {} }) => ({
    operator: groups['operator'] ?? '',
    by: (groups['by'] ?? '').split(', '),
  }));

const shown = DASHBOARD_SECTIONS.flatMap(({ panels: all }) =>
  all.flatMap(({ title, kind, unit, queries: each }) =>
    each.map(({ expr, legend }) => ({ panel: `${title}: ${legend}`, kind, unit, expr })),
  ),
);

test.each(shown)('a source cluster in which all is well hides no other: $panel', ({ kind, unit, expr }) => {
  const moreIsBetter = kind === 'good-states' || unit === 'percentunit';
  const [outer, ...inner] = aggregationsIn(expr);
  for (const { operator, by } of [outer, ...inner].filter((each) => each !== undefined)) {
    if (by.includes('cluster')) continue;
    if (kind === 'number')
      expect({ operator, of: inner[0]?.by }).toMatchObject({ of: ['cluster', 'namespace', 'link'] });
    else expect(operator, expr).toBe(moreIsBetter ? 'min' : 'max');
  }
});

test.each(shown)('one source cluster can be chosen: $panel', ({ expr }) => {
  const selectors = [...expr.matchAll(/[a-z]\w*\{[^}]*\}/g)];
  expect(selectors).not.toEqual([]);
  for (const [selector] of selectors) expect(selector).toContain('cluster=~"$cluster"');
});

test('all source clusters are shown at first, also a single one without a name', () => {
  const { templating } = JSON.parse(textOf(configMap())) as {
    readonly templating: { readonly list: readonly { readonly name: string; readonly allValue?: string }[] };
  };
  expect(templating.list.map(({ name }) => name)).toEqual(['datasource', ...Object.keys(DASHBOARD_VARIABLES)]);
  expect(templating.list.find(({ name }) => name === 'cluster')).toMatchObject({
    multi: true,
    allValue: '.*',
    current: { value: '$__all' },
  });
});

test.each(['linkspan_failover_', 'linkspan_federated_members', 'linkspan_service_imports'])(
  'there is a panel of %s',
  (name) => {
    expect(shown.some(({ expr }) => expr.includes(name))).toBe(true);
  },
);

test('each panel of Links, mirrors and clusters says what it shows', () => {
  const undescribed = DASHBOARD_SECTIONS.filter(({ title }) => !['Work', 'Operator'].includes(title)).flatMap(
    ({ panels: all }) => all.filter(({ description }) => description === undefined).map(({ title }) => title),
  );
  expect(undescribed).toEqual([]);
});

test('the variables have the values of labels that there are', () => {
  for (const query of Object.values(DASHBOARD_VARIABLES)) {
    expectExposed(query.replace(/^label_values\((.*), (\w+)\)$/, 'max by ($2) ($1)'));
  }
});

test('a dashboard with invalid props is refused with every reason at once', () => {
  expect(
    errorsOf(() => configMap({ name: 'A', namespace: 'a.b', label: '-', labelValue: 'not ok', folder: 'any at all' })),
  ).toEqual([
    'name: "A" must be a valid DNS subdomain',
    'namespace: "a.b" must be a valid DNS label',
    'label: "-" must be a valid label key',
    'label: "not ok" must be a valid label value',
  ]);
});
