/**
 * docs/constructs.md, produced by the code that it shows: the tables are the docstrings of the props; each example is a
 * function that is run, its text is read from where it is written, and the YAML is what it renders.
 */
import { readFile } from 'node:fs/promises';
import { App, Chart, Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { CHART_VALUES, type ChartValue } from '../../../synth/commands/install/chart-values.ts';
import * as examples from './construct-examples.ts';
import { CONSTRUCT_GROUPS, type ConstructGroup } from './construct-groups.ts';
import { propPath } from './prop-path.ts';
import { type PropsReference, propsReference, type PropsType } from './props.ts';

/** Files of more characters are left out. */
const LONG = 10_000;

/** An example: what it is of, and its program. */
export interface ConstructExample {
  /** Name of the construct. */
  readonly construct: string;
  readonly summary: string;
  /** Text of the function's body. */
  readonly source: string;
  readonly objects: readonly ApiJson[];
}

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

/** Without the schemas of CRDs and long files of ConfigMaps, which are longer than all the rest. */
const shortened = (object: ApiJson): ApiJson => {
  if (object.kind === 'ConfigMap') {
    const files = Object.entries(object['data'] as Readonly<Record<string, string>>);
    return { ...object, data: Object.fromEntries(files.map(([key, text]) => [key, text.length > LONG ? '…' : text])) };
  }
  if (object.kind !== 'CustomResourceDefinition') return object;
  const spec = object['spec'] as { readonly versions: readonly { readonly name: string }[] };
  return { ...object, spec: { ...spec, versions: spec.versions.map(({ name }) => ({ name })) } };
};

/** What an example renders, folded. */
const rendering = (objects: readonly ApiJson[]): string => {
  const yaml = Yaml.stringify(...objects.map(shortened)).trimEnd();
  const kinds = [...new Set(objects.map(({ kind }) => kind))].join(', ');
  const count = objects.length === 1 ? '1 object' : `${objects.length} objects`;
  const summary = `It renders ${count}, ${yaml.split('\n').length} lines: ${kinds}`;
  return `<details>\n<summary>${summary}</summary>\n\n\`\`\`yaml\n${yaml}\n\`\`\`\n\n</details>`;
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

const propsTable = ({ props }: PropsType): readonly string[] => [
  '| prop | type | default | meaning |',
  '| --- | --- | --- | --- |',
  ...props.map(
    ({ name, type, default: fallback = '**required**', meaning }) =>
      `| \`${name}\` | ${cell(type)} | ${cell(fallback)} | ${cell(meaning)} |`,
  ),
];

const section = (
  { construct, summary, source, objects }: ConstructExample,
  props: PropsType | undefined,
): readonly string[] => [
  `### ${construct}`,
  '',
  summary,
  '',
  ...(props === undefined ? [`\`${construct}\` has no props.`] : propsTable(props)),
  '',
  '```ts',
  source,
  '```',
  '',
  rendering(objects),
  '',
];

const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const link = (heading: string): string => `[${heading}](#${anchor(heading)})`;

const chooser = ({ purposes }: ConstructGroup): readonly string[] =>
  purposes.map(({ want, constructs, note = '' }) => `| ${want} | ${constructs.map(link).join(', ')} | ${note} |`);

/** Anchors of a construct's props are those of the construct. */
const withAnchors = (text: string, { byConstruct }: PropsReference): string => {
  const constructs = new Map([...byConstruct].map(([construct, { name }]) => [anchor(name), anchor(construct)]));
  return text.replaceAll(/\]\(#(\w+)\)/g, (_, name: string) => `](#${constructs.get(name) ?? name})`);
};

const row = ({ value, example, note = '' }: ChartValue): string => {
  const values = value.startsWith('the ') ? value : value.replace(/[^, ]+/g, '`$&`');
  return `| ${values} | ${example === undefined ? 'none' : `\`${propPath(example)}\``} | ${note} |`;
};

/** What the examples need around them; two of them hold credentials. */
const START = String.raw`import { App, Chart } from 'cdk8s';
import { Service } from 'cdk8s-plus-27';
import { Gateway } from 'linkspan';

const app = new App();
const chart = new Chart(app, 'mesh');
const caData = Buffer.from('-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n').toString('base64');
const token = 'token';

// An example, for which its construct is imported, as Gateway is above.

app.synth();`;

const TYPES = 'Types of props';
const CHART = "From Linkerd's chart";

/** The page. */
export const constructsPage = async (): Promise<string> => {
  const reference = propsReference();
  const shown = new Map((await constructExamples()).map((example) => [example.construct, example]));
  const groups = CONSTRUCT_GROUPS.map(({ heading, purposes }) => {
    const constructs = purposes.flatMap((purpose) => purpose.constructs);
    const sections = constructs.flatMap((name) => {
      const example = shown.get(name);
      if (example === undefined) throw new Error(`construct-examples.ts has no example of ${name}`);
      return section(example, reference.byConstruct.get(name));
    });
    return { heading, constructs, sections };
  });
  const page = [
    '# Constructs',
    '',
    'The constructs are imported from `linkspan` and added to a [cdk8s](https://cdk8s.io) `Chart`. Each construct has a table of its props, an example, and the YAML that the example renders. The examples go into this program:',
    '',
    '```ts',
    START,
    '```',
    '',
    'Invalid props fail at synthesis, all of a construct at once: `InvalidPropsError` names each prop, its value, the reason and the remedy. Every construct exposes the objects that it made, so that `addJsonPatch` changes what no prop does.',
    '',
    '`npm run docs` generates this page from the code that it describes, and a test fails when the page differs from it.',
    '',
    '## Contents',
    '',
    '- [Which construct for what](#which-construct-for-what)',
    ...groups.map(({ heading, constructs }) => `- ${link(heading)}: ${constructs.map(link).join(', ')}`),
    `- ${link(TYPES)}: what the props of several constructs are made of`,
    `- ${link(CHART)}: which prop replaces which value`,
    '',
    '## Which construct for what',
    '',
    '| I want | construct | note |',
    '| --- | --- | --- |',
    ...CONSTRUCT_GROUPS.flatMap(chooser),
    '',
    ...groups.flatMap(({ heading, sections }) => [`## ${heading}`, '', ...sections]),
    `## ${TYPES}`,
    '',
    ...reference.others.flatMap((type) => [`### ${type.name}`, '', type.meaning, '', ...propsTable(type), '']),
    `## ${CHART}`,
    '',
    'The values of the Helm chart `linkerd-multicluster`, and the props of `Multicluster` that replace them. The parts have the same props when they are used alone: `gateway.replicas` is `replicas` of `Gateway`.',
    '',
    '| value of the chart | prop of `Multicluster` | remark |',
    '| --- | --- | --- |',
    ...CHART_VALUES.map(row),
    '',
  ];
  return withAnchors(page.join('\n'), reference);
};
