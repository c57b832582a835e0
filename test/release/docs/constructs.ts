/** docs/constructs.md, which leads to the page of each construct, and the examples of those pages. */
import { readFile } from 'node:fs/promises';
import { App, Chart } from 'cdk8s';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { CHART_VALUES, type ChartValue } from '../../../synth/commands/install/chart-values.ts';
import * as examples from './construct-examples.ts';
import { CONSTRUCT_GROUPS, type ConstructGroup } from './construct-groups.ts';
import { anchor, type ConstructExample, constructPage, pageOf, propsTable } from './construct-pages.ts';
import { propPath } from './prop-path.ts';
import { type PropsReference, propsReference } from './props.ts';

const programs = examples as Readonly<Record<string, (chart: Chart) => void>>;

/** Also what is in charts of the program's own. */
const render = (program: (chart: Chart) => void): readonly ApiJson[] => {
  const app = new App();
  program(new Chart(app, 'chart'));
  return app.charts.flatMap((chart) => chart.toJson() as ApiJson[]);
};

/** The examples, in the order of their file. */
export const constructExamples = async (): Promise<readonly ConstructExample[]> => {
  const text = await readFile(new URL('construct-examples.ts', import.meta.url), 'utf8');
  const functions = text.matchAll(
    /^\/\*\* (?<summary>[^\n]*) \*\/\nexport const (?<name>\w+) = \(chart: Chart\): void => \{\n(?<body>.*?)\n\};$/gms,
  );
  return [...functions].map(({ groups: { summary = '', name = '', body = '' } = {} }) => {
    const program = programs[name];
    if (program === undefined) throw new Error(`construct-examples.ts exports no ${name}`);
    return {
      construct: name.replace(/^./, (letter) => letter.toUpperCase()),
      summary,
      source: body.replace(/^ {2}/gm, ''),
      objects: render(program),
    };
  });
};

const link = (heading: string): string => `[${heading}](#${anchor(heading)})`;

const pageLink = (construct: string): string => `[${construct}](${pageOf(construct)})`;

const chooser = ({ purposes }: ConstructGroup): readonly string[] =>
  purposes.map(({ want, constructs, note = '' }) => `| ${want} | ${constructs.map(pageLink).join(', ')} | ${note} |`);

const row = ({ value, example, note = '' }: ChartValue): string => {
  const values = value.startsWith('the ') ? value : value.replace(/[^, ]+/g, '`$&`');
  return `| ${values} | ${example === undefined ? 'none' : `\`${propPath(example)}\``} | ${note} |`;
};

const TYPES = 'Types of props';
const CHART = "From Linkerd's chart";

/** The pages, by path from the root: one that leads to all, and one for each construct. */
export const constructPages = async (): Promise<readonly (readonly [string, string])[]> => {
  const reference = propsReference();
  const examples = await constructExamples();
  return [
    ['docs/constructs.md', overview(reference)],
    ...examples.map((example) => [`docs/${pageOf(example.construct)}`, constructPage(example, reference)] as const),
  ];
};

const overview = (reference: PropsReference): string =>
  [
    '# Constructs',
    '',
    'The constructs are imported from `linkspan` and added to a [cdk8s](https://cdk8s.io) `Chart`. Each has a page with its props, a program, and the YAML that the program renders.',
    '',
    'Invalid props fail at synthesis, all of a construct at once: `InvalidPropsError` names each prop, its value, the reason and the remedy. Every construct exposes the objects that it made, so that `addJsonPatch` changes what no prop does.',
    '',
    '`npm run docs` generates these pages from the code that they describe, and a test fails when they differ from it.',
    '',
    '## Which construct for what',
    '',
    ...CONSTRUCT_GROUPS.flatMap((group) => [
      `### ${group.heading}`,
      '',
      '| I want | construct | note |',
      '| --- | --- | --- |',
      ...chooser(group),
      '',
    ]),
    `Below are the ${link(TYPES).toLowerCase()} that several constructs share, and which prop replaces which value ${link(CHART).replace('From', 'from')}.`,
    '',
    `## ${TYPES}`,
    '',
    ...reference.others.flatMap((type) => [
      `### ${type.name}`,
      '',
      type.meaning,
      '',
      ...propsTable(type, reference, 'docs'),
      '',
    ]),
    `## ${CHART}`,
    '',
    'The values of the Helm chart `linkerd-multicluster`, and the props of `Multicluster` that replace them. The parts have the same props when they are used alone: `gateway.replicas` is `replicas` of `Gateway`.',
    '',
    '| value of the chart | prop of `Multicluster` | remark |',
    '| --- | --- | --- |',
    ...CHART_VALUES.map(row),
    '',
  ].join('\n');
