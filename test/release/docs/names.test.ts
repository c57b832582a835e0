/** What pages that are written by hand call by name is there: alerts, metrics, flags, and what `Monitoring` renders. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import * as constructs from '../../../constructs/index.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { ALERT_RULES, alertName } from '../../../constructs/monitoring/alert-rules.ts';
import { createMetrics } from '../../../operator/metrics/index.ts';
import { flagOf } from '../../../crds/operator-setting-names.ts';
import { operatorSettings } from '../../../crds/operator-settings.ts';
import { program } from '../../../synth/program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const guides = (await readdir(join(ROOT, 'docs'), { recursive: true }))
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`);
const PAGES = await Promise.all(
  ['README.md', ...guides].map(async (page) => [page, await readFile(join(ROOT, page), 'utf8')] as const),
);

const ALERTS = Object.keys(ALERT_RULES).map(alertName);
const METRICS = createMetrics()
  .registry.getMetricsAsArray()
  .map(({ name }) => name);

const flagsOf = (command: Command): readonly string[] => [
  ...command.options.flatMap(({ long }) => long ?? []),
  ...command.commands.flatMap(flagsOf),
];
const FLAGS = new Set([
  ...operatorSettings.flatMap(([name]) => [flagOf(name), flagOf(name).replace('--', '--no-')]),
  ...flagsOf(program),
  '--help',
]);
/** Pages that name flags of other programs, too: of Linkerd's commands, of API servers, of this repository's scripts. */
const OTHER_PROGRAMS =
  /^(docs\/(adr\/|migrate|linkerd-cli|performance|reliability|architecture|bad-input|commands-and-owners|checks|dependencies|releasing))/;

/** Flags that stand alone between backticks, such as `--max-mirrors` or `--timeout=5m`. */
const flagsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`(--[a-z][a-z-]*)(?:[ =][^`]*)?`/g)].map(([, flag = '']) => flag);

/** Names of alerts, wherever they stand; `LinkspanX` is nothing else. */
const alertsIn = (text: string): readonly string[] => [...text.matchAll(/\bLinkspan[A-Z]\w+/g)].map(([name]) => name);

/** Names of metrics: those of Linkspan's own prefixes. */
const metricsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(linkspan|gateway|service_mirror|controller_runtime|workqueue|leader_election)_[a-z_]+\b/g)].map(
    ([name]) => (METRICS.includes(name) ? name : name.replace(/_(bucket|sum|count)$/, '')),
  );

describe.each(PAGES)('%s', (page, text) => {
  test('names alerts that there are', () => {
    expect(alertsIn(text).filter((name) => !ALERTS.includes(name))).toEqual([]);
  });

  test('names flags that there are', () => {
    const unknown = flagsIn(text).filter((flag) => !FLAGS.has(flag));
    expect(OTHER_PROGRAMS.test(page) ? [] : unknown).toEqual([]);
  });

  test('names metrics that there are', () => {
    expect(metricsIn(text).filter((name) => !METRICS.includes(name))).toEqual([]);
  });
});

test('names are found in the pages', () => {
  const all = PAGES.map(([, text]) => text).join('\n');
  expect(new Set(alertsIn(all))).toEqual(new Set(ALERTS));
  expect(metricsIn(all).length).toBeGreaterThan(50);
  expect(new Set(flagsIn(all)).size).toBeGreaterThan(30);
});

test('docs/operations.md calls alerts, and the kinds that Monitoring renders, by their names', () => {
  const [, section = ''] = /^## Alerts\n(.*?)^## /ms.exec(PAGES.find(([page]) => page === 'docs/operations.md')![1])!;
  const kinds = render((chart) => {
    const operator = new constructs.MirrorOperator(chart, 'operator', { image: 'a/b:1' });
    new constructs.Monitoring(chart, 'monitoring', { operator });
  }).map(({ kind }) => kind);
  const known = [...ALERTS, ...kinds, ...Object.keys(constructs)];
  const named = [...section.matchAll(/\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|`([A-Z]\w+)`/g)].map(
    ([all, code]) => code ?? all,
  );
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});
