/**
 * Generates `link.types.gen.ts` from the Link's schema: `node crds/generate.ts` writes it, `--check` exits 1 naming the
 * file when what is checked in is not what the schema says. Development only; not part of the package.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';

import { LABEL_SELECTOR_SCHEMA, LINK_SCHEMA, OBJECT_REF_SCHEMA } from './link.schema.ts';

const FILE = fileURLToPath(new URL('link.types.gen.ts', import.meta.url));

const BANNER = `/**
 * Types of the Link, generated from \`link.schema.ts\` by \`npm run generate\`. Do not edit.
 */`;

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

const generate = async (): Promise<string> => {
  const definitions: Record<string, Json> = {};
  for (const schema of [LABEL_SELECTOR_SCHEMA, OBJECT_REF_SCHEMA, LINK_SCHEMA]) withDefinitions(schema, definitions);
  const { Link: root, ...rest } = definitions;
  const source = await compile({ ...(root as object), definitions: rest } as Parameters<typeof compile>[0], 'Link', {
    additionalProperties: false,
    bannerComment: BANNER,
    format: false,
  });
  return format(withReadonly(source), { ...(await resolveConfig(FILE)), parser: 'typescript' });
};

const generated = await generate();
if (process.argv.includes('--check')) {
  const checkedIn = await readFile(FILE, 'utf8').catch(() => '');
  if (checkedIn !== generated) {
    const name = relative(process.cwd(), FILE);
    process.stderr.write(`${name} is not what crds/link.schema.ts says: run \`npm run generate\`\n`);
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, generated);
}
