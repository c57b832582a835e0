/**
 * Holds PromQL to the metrics that there are: what an expression selects and groups by, against what the operator
 * registers. It reads expressions as far as ours go; that they are PromQL at all, Prometheus' parser has said.
 */
import { expect } from 'vitest';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { verdict } from '../../../operator/kube/conditions.ts';
import { linkStatus, type LinkFindings, NO_FINDINGS } from '../../../operator/link/status/status.ts';

const SELECTOR = /(?<metric>[a-z]\w*)(?:\{(?<matchers>(?:[^"}]|"[^"]*")*)\}|(?=\[))/g;
const MATCHER = /(?<label>\w+)(?:=~|!~|!=|=)"(?<value>[^"]*)"/g;
const GROUPING = /\bby \((?<labels>[^)]*)\)/g;

/** Labels that Prometheus itself puts on what it scrapes, or on all that it has. */
const OF_PROMETHEUS = ['cluster', 'instance', 'job', 'namespace', 'pod'];

/** Labels of every series that the operator can have, by its name. */
const exposed = (): ReadonlyMap<string, readonly string[]> => {
  const metrics = createMetrics().registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly labelNames: readonly string[];
  }[];
  return new Map(
    metrics.flatMap(({ name, labelNames }) => [
      [name, labelNames],
      // Only histograms are asked by these.
      [`${name}_bucket`, [...labelNames, 'le']],
    ]),
  );
};

/** Types of a Link's conditions. */
const conditionTypes = (): readonly string[] => {
  const findings: LinkFindings = {
    ...NO_FINDINGS,
    namespace: 'linkerd-multicluster',
    name: 'west',
    generation: 1,
    accepted: verdict('True', 'Accepted', ''),
    isServed: false,
  };
  return linkStatus(findings, {}, new Date(0)).conditions.map(({ type }) => type);
};

/** Every metric that the expression selects exists, with every label that it is selected or grouped by. */
export const expectExposed = (expr: string): void => {
  const series = exposed();
  const selectors = [...expr.matchAll(SELECTOR)].map(({ groups }) => groups!);
  expect(selectors, expr).not.toEqual([]);
  for (const { metric = '', matchers = '' } of selectors) {
    expect([...series.keys()], expr).toContain(metric);
    const known = [...series.get(metric)!, ...OF_PROMETHEUS];
    for (const { groups: { label = '', value = '' } = {} } of matchers.matchAll(MATCHER)) {
      expect(known, `${metric} in ${expr}`).toContain(label);
      if (label === 'type') expect(conditionTypes(), expr).toEqual(expect.arrayContaining(value.split('|')));
    }
    for (const { groups: { labels = '' } = {} } of expr.matchAll(GROUPING)) {
      expect(known, `${metric} in ${expr}`).toEqual(expect.arrayContaining(labels.split(', ')));
    }
  }
};
