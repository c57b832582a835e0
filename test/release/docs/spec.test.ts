/** docs/spec/ against the code, both ways: no reason and no field is missing, and none is too many. */
import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { readFailover } from '../../../crds/failover/settings.ts';
import { readLink } from '../../../crds/index.ts';
import { fieldsOf } from './spec.ts';
import { KIND_PAGES } from './spec-kinds.ts';

/** Words in these files that are no reasons: values of fields, kinds, and reasons of Events. */
const OTHER_WORDS = new Set(
  `True False Unknown Normal Warning Service Services Endpoints None ExternalName ClientIP Cluster Local TCP Headless
   ClusterSetIP Present Absent GatewayNotAlive GatewayNotResolved TargetUnreachable`.split(/\s+/),
);

/** Words in capitals that code has in quotes, its comments left out. */
const wordsIn = (source: string): readonly string[] => {
  const code = source.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...code.matchAll(/'([A-Z][A-Za-z]+)'/g)].map(([, word = '']) => word);
};

const sourceOf = (path: string): Promise<string> =>
  readFile(new URL(`../../../operator/${path}.ts`, import.meta.url), 'utf8');

describe.each(KIND_PAGES)('docs/spec of $kind', ({ kind, schema, example, conditions, sources, elsewhere = [] }) => {
  test('has each reason that the code reports, and no other', async () => {
    const types = new Set(conditions.map(({ type }) => type));
    const documented = new Set(conditions.flatMap(({ reasons }) => Object.keys(reasons)));
    const said = new Set((await Promise.all(sources.map(sourceOf))).flatMap(wordsIn));
    const missing = [...said].filter(
      (word) => !documented.has(word) && !types.has(word) && !OTHER_WORDS.has(word) && !elsewhere.includes(word),
    );
    expect(missing).toEqual([]);
    expect([...documented].filter((reason) => !said.has(reason))).toEqual([]);
  });

  test('has a meaning for each field of the schema', () => {
    const fields = fieldsOf(schema);
    expect(fields.length).toBeGreaterThan(3);
    expect(fields.filter(({ text, type }) => text === '' || type === '').map(({ path }) => path)).toEqual([]);
  });

  test('has an example whose fields are in the schema', () => {
    const object = load(example) as { readonly kind: string; readonly spec: object };
    expect(object.kind).toBe(kind);
    const known = fieldsOf(schema).map(({ path }) => path);
    expect(Object.keys(object.spec).filter((field) => !known.includes(`spec.${field}`))).toEqual([]);
  });
});

test('the examples of a Link and of a ServiceFailover are valid', () => {
  const exampleOf = (name: string): unknown => load(KIND_PAGES.find(({ kind }) => kind === name)!.example);
  expect(readLink(exampleOf('Link'))).toMatchObject({ ok: true });
  expect(readFailover(exampleOf('ServiceFailover'))).toMatchObject({ ok: true });
});

test('reasons are read from code, and not from its comments', () => {
  expect(wordsIn("verdict('True', 'Ready');\n// 'NotThis'\n/** 'NorThis' */ reason: 'That'")).toEqual([
    'True',
    'Ready',
    'That',
  ]);
});
