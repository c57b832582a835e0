/**
 * docs/constructs.md, produced by the code that it shows: each example is a function that is run, its text is read from
 * where it is written, and the YAML is what it renders.
 */
import { readFile } from 'node:fs/promises';
import { App, Chart, Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/mirror/render.ts';
import { CHART_VALUES, type ChartValue, propPath } from './chart-values.ts';
import * as examples from './construct-examples.ts';

/** YAML of more lines is folded. */
const FOLDED = 40;
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

const yamlBlock = (objects: readonly ApiJson[]): string => {
  const yaml = Yaml.stringify(...objects.map(shortened)).trimEnd();
  const block = `\`\`\`yaml\n${yaml}\n\`\`\``;
  const lines = yaml.split('\n').length;
  if (lines <= FOLDED) return block;
  const kinds = [...new Set(objects.map(({ kind }) => kind))].join(', ');
  return `<details>\n<summary>${objects.length} objects, ${lines} lines: ${kinds}</summary>\n\n${block}\n\n</details>`;
};

const section = ({ construct, summary, source, objects }: ConstructExample): string =>
  [`## ${construct}`, '', summary, '', '```ts', source, '```', '', yamlBlock(objects)].join('\n');

const row = ({ value, props, note = '' }: ChartValue): string => {
  const values = value.startsWith('the ') ? value : value.replace(/[^, ]+/g, '`$&`');
  return `| ${values} | ${props === undefined ? 'none' : `\`${propPath(props)}\``} | ${note} |`;
};

/** The page. */
export const constructsPage = async (): Promise<string> =>
  [
    '# Constructs',
    '',
    "Each construct, a short example and what it renders. `chart` is a cdk8s `Chart`; the constructs are imported from `linkspan`, `Service` is cdk8s-plus'. All props are documented where they are declared, so that an editor shows them. Props that are invalid fail at synthesis, all of them at once. Every construct exposes the objects that it made, so that `addJsonPatch` changes what no prop does.",
    '',
    'This page is produced by the code that it shows: `npm run docs` writes it, a test holds it.',
    '',
    (await constructExamples()).map(section).join('\n\n'),
    '',
    "## From Linkerd's chart",
    '',
    'The values of the Helm chart `linkerd-multicluster`, and the props of `Multicluster` that take their place. The parts have the same props when they are used alone: `gateway.replicas` is `replicas` of `Gateway`.',
    '',
    '| value of the chart | prop of `Multicluster` | remark |',
    '| --- | --- | --- |',
    ...CHART_VALUES.map(row),
    '',
  ].join('\n');
