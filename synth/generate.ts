/**
 * Generates the types of the kinds in crds/ from their schemas, the schemas of props in constructs/ from their interfaces,
 * and the schema of cluster files as JSON, for editors: `node synth/generate.ts` writes them, `--check` exits 1 naming each
 * file that has drifted from its source. Development only; not part of the package.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';

import { FAILOVER_SCHEMA } from '../crds/failover/schema.ts';
import { LABEL_SELECTOR_SCHEMA, LINK_SCHEMA, OBJECT_REF_SCHEMA } from '../crds/link/schema.ts';
import { CLUSTER_PROPERTY_SCHEMA } from '../crds/mcs/cluster-property/schema.ts';
import { SERVICE_EXPORT_SCHEMA } from '../crds/mcs/service-export/schema.ts';
import { SERVICE_IMPORT_SCHEMA } from '../crds/mcs/service-import/schema.ts';
import { type PropsSchemas, propsSchemas } from './generate-props.ts';

/** A file that is generated. */
interface Generated {
  readonly file: string;
  readonly from: string;
  readonly text: string;
}

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Source text as prettier has it. */
const formatted = async (source: string, parser: 'typescript' | 'json'): Promise<string> =>
  format(source, { ...(await resolveConfig(path('synth/generate.ts'))), parser });

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Moves each titled schema to `definitions`, so that one that is used twice becomes one type. */
const withDefinitions = (schema: Json, definitions: Record<string, Json>): Json => {
  if (Array.isArray(schema)) return schema.map((item: Json) => withDefinitions(item, definitions));
  if (typeof schema !== 'object' || schema === null) return schema;
  const fields = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withDefinitions(value, definitions)]),
  );
  if (typeof fields.title !== 'string') return fields;
  definitions[fields.title] ??= fields;
  return { $ref: `#/definitions/${fields.title}` };
};

/** Marks every property and array as read-only, which json-schema-to-typescript has no option for. */
const withReadonly = (source: string): string =>
  source
    .replace(/^(\s*)([\w$]+\??:|\[k: string\]:)/gm, '$1readonly $2')
    .replace(/\b(\w+)\[\](?=;?$)/gm, 'readonly $1[]');

/** Types of a kind, and of other schemas beside it. */
const typesOf = async (folder: string, root: object, others: readonly object[] = []): Promise<Generated> => {
  const definitions: Record<string, Json> = {};
  for (const schema of [...others, root]) withDefinitions(schema as Json, definitions);
  const { title } = root as { readonly title: string };
  const { [title]: type, ...rest } = definitions;
  const source = await compile({ ...(type as object), definitions: rest } as Parameters<typeof compile>[0], title, {
    additionalProperties: false,
    bannerComment: `/**
 * Types of the ${title}, generated from \`schema.ts\` by \`npm run generate\`. Do not edit.
 */`,
    format: false,
    ignoreMinAndMaxItems: true,
  });
  return {
    file: path(`crds/${folder}/types.gen.ts`),
    from: `crds/${folder}/schema.ts`,
    text: await formatted(withReadonly(source), 'typescript'),
  };
};

const propsOf = async ({ folder, source }: PropsSchemas): Promise<Generated> => ({
  file: path(`constructs/${folder}/schema.gen.ts`),
  from: `the interfaces of constructs/${folder}/`,
  text: await formatted(source, 'typescript'),
});

/** Read when the schemas of props are written: it consists of them. */
const clusterSetSchema = async (): Promise<Generated> => {
  const { CLUSTER_SET_SCHEMA } = await import('./cluster-file/schema.ts');
  return {
    file: path('synth/cluster-file/schema.gen.json'),
    from: 'synth/cluster-file/schema.ts',
    text: await formatted(JSON.stringify(CLUSTER_SET_SCHEMA), 'json'),
  };
};

const settle = async ({ file, from, text }: Generated): Promise<void> => {
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
    return;
  }
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return;
  const name = relative(process.cwd(), file);
  process.stderr.write(`${name} is not what ${from} says: run \`npm run generate\`\n`);
  process.exitCode = 1;
};

await settle(await typesOf('link', LINK_SCHEMA, [LABEL_SELECTOR_SCHEMA, OBJECT_REF_SCHEMA]));
await settle(await typesOf('failover', FAILOVER_SCHEMA));
await settle(await typesOf('mcs/service-export', SERVICE_EXPORT_SCHEMA));
await settle(await typesOf('mcs/service-import', SERVICE_IMPORT_SCHEMA));
await settle(await typesOf('mcs/cluster-property', CLUSTER_PROPERTY_SCHEMA));
for (const schemas of propsSchemas()) await settle(await propsOf(schemas));
await settle(await clusterSetSchema());
