/** The page of the constructs leaves none out, and its table of Linkerd's chart values is correct. */
import { readdir, readFile } from 'node:fs/promises';
import { Construct } from 'constructs';
import { describe, expect, test } from 'vitest';
import * as linkspan from '../../../constructs/index.ts';
import { Multicluster, type MulticlusterProps } from '../../../constructs/cluster-set/multicluster.ts';
import { render } from '../../../constructs/rendered/render.ts';
import { CHART_KEYS } from '../../../synth/commands/install/chart-keys.ts';
import { CHART_VALUES, isAbout } from '../../../synth/commands/install/chart-values.ts';
import { constructExamples } from './constructs.ts';
import { CONSTRUCT_GROUPS } from './construct-groups.ts';
import { pageOf } from './construct-pages.ts';
import { propPath } from './prop-path.ts';

/** Constructs, and what is done `of` a construct. */
const constructs = Object.entries(linkspan)
  .filter(([, value]) => typeof value === 'function' && (value.prototype instanceof Construct || 'of' in value))
  .map(([name]) => name);

test('every construct has an example, which renders something', async () => {
  const examples = await constructExamples();
  expect(examples.map(({ construct }) => construct).sort()).toEqual(constructs.sort());
  for (const { construct, objects } of examples) expect(objects, construct).not.toEqual([]);
});

test('every construct has a page in docs/constructs, which docs/constructs.md links to, and no other page is there', async () => {
  const docs = new URL('../../../docs/', import.meta.url);
  const pages = constructs.map((construct) => pageOf(construct)).toSorted();
  expect((await readdir(new URL('constructs', docs))).map((file) => `constructs/${file}`).toSorted()).toEqual(pages);
  const overview = await readFile(new URL('constructs.md', docs), 'utf8');
  expect(pages.filter((page) => !overview.includes(`](${page})`))).toEqual([]);
});

test('every construct is in the table of what is for what, once', () => {
  const chosen = CONSTRUCT_GROUPS.flatMap(({ purposes }) => purposes.flatMap((purpose) => purpose.constructs));
  expect(chosen.toSorted()).toEqual(constructs.toSorted());
});

describe("the table of the chart's values", () => {
  const rendered = (props: MulticlusterProps): string =>
    JSON.stringify(
      render((chart) => {
        new Multicluster(chart, 'multicluster', props);
      }),
    );
  const given = CHART_VALUES.flatMap(({ value, example }) =>
    example === undefined ? [] : [{ value, props: example }],
  );

  test.each(given)('$value has a prop that changes what is rendered', ({ props }) => {
    const { operator } = props;
    const without: MulticlusterProps =
      operator === undefined ? {} : { operator: { image: 'registry.example.com/linkspan:0.1.0' } };
    expect(rendered(props)).not.toBe(rendered(without));
  });

  test('has a prop or a reason for every value, and each value once', () => {
    expect(CHART_VALUES.filter(({ example, note }) => example === undefined && note === undefined)).toEqual([]);
    const values = CHART_VALUES.map(({ value }) => value);
    expect(new Set(values).size).toBe(values.length);
  });

  test('has every key of values.yaml, and nothing that is not there', () => {
    const values = CHART_VALUES.map(({ value }) => value).filter((value) => !value.startsWith('the '));
    const missing = CHART_KEYS.filter((key) => !values.some((value) => isAbout(value, key)));
    const unknown = values.filter((value) =>
      value.split(', ').some((each) => !CHART_KEYS.some((key) => isAbout(each, key))),
    );
    expect({ missing, unknown }).toEqual({ missing: [], unknown: [] });
  });

  test('names the prop, and not what it goes with', () => {
    expect(propPath({ gateway: { service: { port: 443 } } })).toBe('gateway.service.port');
    expect(propPath({ operator: { image: 'a', replicas: 3 } })).toBe('operator.replicas');
    expect(propPath({ sources: [{ sourceCluster: 'east', name: 'a' }] })).toBe('sources[].name');
  });
});
