/**
 * docs/cluster-file.md, produced by the schema of linkspan.yaml: a table of fields for each object in it. Defaults are in
 * the descriptions.
 */
import { CLUSTER_SET_SCHEMA } from '../../../synth/cluster-file/schema.ts';

/** The part of JSON schema that the cluster file uses. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
  readonly else?: Schema;
}

/** A table: the fields of an object, which is found at a path such as `members[].gateway`. */
interface ObjectFields {
  readonly path: string;
  readonly schema: Schema;
}

const EXAMPLE = `# yaml-language-server: $schema=./node_modules/linkspan/dist/cluster-set.schema.json
members:
  - name: east
    gatewayAddresses: [gateway.east.example.com]
    networks: [198.51.100.0/26]
  - name: west
    gatewayAddresses: [203.0.113.10, 203.0.113.11]
    networks: [198.51.100.64/26]
    exportNamespaces: [shop]
    gateway:
      replicas: 2
      service:
        externalTrafficPolicy: Local
topology:
  type: pairs
  pairs:
    - { source: east, target: west }
operator:
  image: registry.example.com/linkspan:0.1.0
  enableHeadlessServices: true
monitoring:
  labels:
    release: kube-prometheus-stack`;

const alternatives = ({ anyOf, oneOf, then, else: otherwise, ...schema }: Schema): readonly Schema[] => {
  const all = anyOf ?? oneOf ?? (then && otherwise ? [then, otherwise] : undefined);
  return all === undefined ? [schema] : all.flatMap(alternatives);
};

const hasFields = ({ properties }: Schema): boolean => properties !== undefined;

/** The value type of a map. */
const valuesOf = ({ additionalProperties }: Schema): Schema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined;

/** The objects in a schema, with their paths, each before those in it. */
const objectsIn = (schema: Schema, path: string): readonly ObjectFields[] =>
  alternatives(schema).flatMap((each) => {
    const values = valuesOf(each);
    return [
      ...(hasFields(each) ? [{ path, schema: each }] : []),
      ...Object.entries(each.properties ?? {}).flatMap(([name, field]) =>
        objectsIn(field, path === '' ? name : `${path}.${name}`),
      ),
      ...(each.items === undefined ? [] : objectsIn(each.items, `${path}[]`)),
      ...(values === undefined ? [] : objectsIn(values, `${path}.*`)),
    ];
  });

const code = (text: string): string => `\`${text}\``;

const anchor = (heading: string): string => heading.toLowerCase().replaceAll(/[^\w-]/g, '');

/** The type of a value, with links to the tables of objects. */
const typeOf = (schema: Schema, path: string): string => {
  const types = alternatives(schema).map((each) => {
    if (each.enum !== undefined) return each.enum.map((value) => code(String(value))).join(' or ');
    if (hasFields(each)) return `[object](#${anchor(path)})`;
    if (each.items !== undefined) return `list of ${typeOf(each.items, `${path}[]`)}`;
    const values = valuesOf(each);
    if (values !== undefined) return `map to ${typeOf(values, `${path}.*`)}`;
    return [each.type ?? 'any'].flat().join(' or ');
  });
  return [...new Set(types)].join(' or ');
};

/** A description that names the default, as in `Number of pods; default 3`, in its two parts. */
export const meaningAndDefault = (description: string): readonly [meaning: string, fallback: string | undefined] => {
  const [, meaning = '', fallback, rest] = /^(?:(.*?); d|D)efault ([^;]*)(?:; (.*))?$/.exec(description) ?? [];
  if (fallback === undefined) return [description, undefined];
  return [[meaning, rest].filter((part) => part !== undefined && part !== '').join('; '), fallback];
};

/** Placeholders are code, since Markdown takes `<…>` for HTML. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/(?<!`)\S*<\S+>\S*/g, code);

const table = ({ path, schema }: ObjectFields): readonly string[] => [
  '| field | type | default | meaning |',
  '| --- | --- | --- | --- |',
  ...Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const [meaning, fallback = ''] = meaningAndDefault(field.description ?? '');
    const isRequired = schema.required?.includes(name) ?? false;
    const type = typeOf(field, path === '' ? name : `${path}.${name}`);
    return `| \`${name}\` | ${cell(type)} | ${isRequired ? '**required**' : cell(fallback)} | ${cell(meaning)} |`;
  }),
];

const section = (fields: ObjectFields): readonly string[] => [
  `## ${code(fields.path)}`,
  '',
  `${meaningAndDefault(fields.schema.description ?? '')[0]}.`,
  '',
  ...table(fields),
  '',
];

/** The page. */
export const clusterFilePage = (): string => {
  const [root, ...objects] = objectsIn(CLUSTER_SET_SCHEMA, '');
  if (root === undefined) throw new Error('the schema of the cluster file has no fields');
  return [
    '# The cluster file',
    '',
    '`linkspan.yaml` describes a set of clusters, and the Links between them. `linkspan synth` renders it to one folder of manifests for each cluster. Its fields are the props of the construct [`ClusterSet`](constructs/cluster-set.md) and, in the section `argoCd`, those of [`ArgoCd`](constructs/argo-cd.md).',
    '',
    '```yaml',
    EXAMPLE,
    '```',
    '',
    '```sh',
    'npx linkspan synth            # writes clusters/, from linkspan.yaml',
    'npx linkspan synth --check    # writes nothing; prints the diff, and exits 1 if there is one',
    'npx linkspan synth --schema   # prints the JSON schema',
    '```',
    '',
    'With the first line of the file, an editor that supports YAML schemas completes the fields and shows their descriptions. Unknown fields, wrong types and values that a construct refuses are errors. All errors are reported at once, with path, value, reason and remedy, and nothing is written.',
    '',
    '`npm run docs` generates this page from the schema, and a test fails when the page differs from it.',
    '',
    '## Contents',
    '',
    `- [The whole file](#the-whole-file)`,
    ...objects.map(({ path }) => `- [${code(path)}](#${anchor(path)})`),
    '',
    '## The whole file',
    '',
    ...table(root),
    '',
    ...objects.flatMap(section),
  ].join('\n');
};
