/**
 * docs/constructs/: a page for each construct. The table is the docstrings of its props; the program is its example, which a
 * test compiles and runs; and the YAML is what the example renders.
 */
import { Yaml } from 'cdk8s';
import * as linkspan from '../../../constructs/index.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { CONSTRUCT_GROUPS, type Purpose } from './construct-groups.ts';
import type { PropsReference, PropsType } from './props.ts';

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

/** Folder of a page; links depend on it. */
export type Folder = 'docs' | 'docs/constructs';

/** Anchor of a heading. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Path of the page of a construct, from a folder: `constructs/argo-cd.md`. */
export const pageOf = (construct: string, from: Folder = 'docs'): string => {
  const file = construct.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  return `${from === 'docs' ? 'constructs/' : ''}${file}.md`;
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The table of props. Types lead to the page of the construct that takes them, or to their own table. */
export const propsTable = ({ props }: PropsType, { byConstruct }: PropsReference, from: Folder): readonly string[] => {
  const pages = new Map([...byConstruct].map(([construct, { name }]) => [anchor(name), pageOf(construct, from)]));
  const types = from === 'docs' ? '' : '../constructs.md';
  const linked = (text: string): string =>
    cell(text).replaceAll(/\]\(#([\w-]+)\)/g, (_, name: string) => `](${pages.get(name) ?? `${types}#${name}`})`);
  return [
    '| prop | type | default | meaning |',
    '| --- | --- | --- | --- |',
    ...props.map(
      ({ name, type, default: fallback = '**required**', meaning }) =>
        `| \`${name}\` | ${linked(type)} | ${linked(fallback)} | ${linked(meaning)} |`,
    ),
  ];
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

const rendering = (objects: readonly ApiJson[]): readonly string[] => {
  const kinds = [...new Set(objects.map(({ kind }) => kind))].map((kind) => `\`${kind}\``).join(', ');
  const count = objects.length === 1 ? '1 object' : `${objects.length} objects`;
  const isShortened = objects.some((object) => shortened(object) !== object);
  return [
    `The example renders ${count}: ${kinds}.${isShortened ? ' Schemas and long files are left out here.' : ''}`,
    '',
    `\`\`\`yaml\n${Yaml.stringify(...objects.map(shortened)).trimEnd()}\n\`\`\``,
  ];
};

/** What an example holds in place of what a program reads from where its secrets are. */
const STAND_INS: Readonly<Record<string, string>> = {
  caData: String.raw`const caData = Buffer.from('-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n').toString('base64');`,
  token: "const token = 'token';",
};

const isNamed = (source: string, name: string): boolean => new RegExp(`\\b${name}\\b(?!:)`).test(source);

/** An example as a program of its own. */
const programOf = ({ source }: ConstructExample): string => {
  const used = Object.keys(linkspan)
    .toSorted()
    .filter((name) => new RegExp(`\\b(?:new ${name}\\(|${name}\\.)`).test(source));
  return [
    "import { App, Chart } from 'cdk8s';",
    ...(source.includes('new Service(') ? ["import { Service } from 'cdk8s-plus-27';"] : []),
    `import { ${used.join(', ')} } from 'linkspan';`,
    '',
    'const app = new App();',
    "const chart = new Chart(app, 'mesh');",
    ...Object.entries(STAND_INS).flatMap(([name, line]) => (isNamed(source, name) ? [line] : [])),
    '',
    source,
    '',
    'app.synth();',
  ].join('\n');
};

/** Links of summaries and notes lead from docs/. */
const fromBelow = (note: string): string => note.replaceAll(/\]\((?!\w+:|#)/g, '](../');

const useOf = (construct: string): Purpose => {
  const purposes = CONSTRUCT_GROUPS.flatMap((group) => group.purposes);
  const found = purposes.find(({ constructs }) => constructs.includes(construct));
  if (found === undefined) throw new Error(`construct-groups.ts does not say what ${construct} is for`);
  return found;
};

/** The page of a construct. */
export const constructPage = (example: ConstructExample, reference: PropsReference): string => {
  const { construct, summary, objects } = example;
  const { want, constructs, note } = useOf(construct);
  const others = constructs.filter((each) => each !== construct);
  const props = reference.byConstruct.get(construct);
  const beside = others.map((each) => `[${each}](${pageOf(each, 'docs/constructs')})`).join(', ');
  return [
    `# ${construct}`,
    '',
    fromBelow(summary),
    '',
    '`npm run docs` writes this page from the code, and a test compiles and runs its program. [All constructs](../constructs.md).',
    '',
    '## When to use it',
    '',
    `You want ${want}.${note === undefined ? '' : ` ${fromBelow(note)}`}`,
    ...(others.length === 0 ? [] : ['', `For the same purpose: ${beside}.`]),
    '',
    '## Example',
    '',
    `\`\`\`ts\n${programOf(example)}\n\`\`\``,
    '',
    '## Props',
    '',
    ...(props === undefined ? [`\`${construct}\` has no props.`] : propsTable(props, reference, 'docs/constructs')),
    '',
    '## What it renders',
    '',
    ...rendering(objects),
    '',
  ].join('\n');
};
