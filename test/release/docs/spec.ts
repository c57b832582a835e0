/** docs/spec/: a page for each kind, its fields from the JSON schema that the CRD is made of, and one for credentials. */
import { credentialsPage } from './spec-credentials.ts';
import { KIND_PAGES } from './spec-kinds.ts';
import type { KindPage } from './spec-page.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

interface Field {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

const ROOTS = ['spec', 'status'];

const typeOf = ({ type, enum: values, items, additionalProperties }: Schema): string => {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (additionalProperties !== undefined) return 'map of strings';
  return typeof type === 'string' ? type : (type ?? []).join(' or ');
};

/** All fields below a schema, with paths such as `spec.backends[].service`. */
export function fieldsOf(schema: Schema, path = ''): readonly Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const at = path === '' ? name : `${path}.${name}`;
    if (path === '' && !ROOTS.includes(name)) return [];
    const facts = [
      child.description ?? '',
      ...(schema.required?.includes(name) === true ? ['required'] : []),
      ...(child.default === undefined ? [] : [`default \`${JSON.stringify(child.default)}\``]),
    ].filter((fact) => fact !== '');
    const here = path === '' ? [] : [{ path: at, type: typeOf(child), text: facts.join('; ') }];
    const below = child.items === undefined ? fieldsOf(child, at) : fieldsOf(child.items, `${at}[]`);
    return [...here, ...below];
  });
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '\\<');

const pageOf = ({ kind, intro, example, schema, conditions, when }: KindPage): string =>
  [
    `# ${kind}\n`,
    `${intro}\n`,
    '`npm run docs` writes this page from the schema of the CRD; a test holds its reasons against the code that reports them.\n',
    '## Example\n',
    `\`\`\`yaml\n${example}\n\`\`\`\n`,
    '## Fields\n',
    '| field | type | meaning |',
    '| --- | --- | --- |',
    ...fieldsOf(schema).map(({ path, type, text }) => `| \`${path}\` | ${type} | ${escaped(text)} |`),
    '',
    '## Conditions\n',
    ...conditions.flatMap(({ type, about, reasons }) => [
      `### ${type}\n`,
      `${about}.\n`,
      '| reason | meaning |',
      '| --- | --- |',
      ...Object.entries(reasons).map(([reason, meaning]) => `| \`${reason}\` | ${escaped(meaning)} |`),
      '',
    ]),
    '## What it does when\n',
    ...Object.entries(when).map(([occasion, outcome]) => `- **${occasion}**: ${outcome}`),
    '',
    'Letters with numbers are rules of [behaviour.md](../behaviour.md).',
    '',
  ].join('\n');

/** The pages, by path from the root. */
export const specPages = (): readonly (readonly [string, string])[] => [
  ...KIND_PAGES.map((page) => [`docs/spec/${page.kind.toLowerCase()}.md`, pageOf(page)] as const),
  ['docs/spec/credentials.md', credentialsPage()],
];
