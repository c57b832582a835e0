/** The page of the cluster file: its example is a cluster file, and its tables have every field of the schema. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseClusterFile } from '../../../synth/cluster-file/cluster-file.ts';
import { CLUSTER_SET_SCHEMA } from '../../../synth/cluster-file/schema.ts';
import { clusterFilePage, meaningAndDefault } from './cluster-file.ts';

const page = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** Names of all fields, in whatever object. */
const fieldNames = (schema: unknown): readonly string[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : Object.entries(schema).flatMap(([key, value]) => [
        ...(key === 'properties' ? Object.keys(value as object) : []),
        ...fieldNames(value),
      ]);

test.each(['docs/gitops.md', 'docs/cluster-file.md', 'examples/gitops/linkspan.yaml'])(
  'every cluster file in %s is accepted',
  async (path) => {
    const text = await page(path);
    const files = path.endsWith('.yaml')
      ? [text]
      : [...text.matchAll(/^```yaml\n(# yaml-language-server.*?)^```$/gms)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(parseClusterFile(file)).toMatchObject({ ok: true });
  },
);

test('every field of the schema is in a table', () => {
  const text = clusterFilePage();
  const missing = new Set(fieldNames(CLUSTER_SET_SCHEMA).filter((name) => !text.includes(`| \`${name}\` |`)));
  expect(missing).toEqual(new Set());
});

test('every field has a meaning, and a default unless it is required', () => {
  const rows = [...clusterFilePage().matchAll(/^\| (`.*)\|$/gm)].map(([, row = '']) => row.split(/(?<!\\)\|/));
  const incomplete = rows.filter((cells) => cells.some((cell) => cell.trim() === '')).map(([field]) => field?.trim());
  expect(rows.length).toBeGreaterThan(100);
  expect(incomplete).toEqual([]);
});

test('a description is split into its meaning and its default', () => {
  expect(meaningAndDefault('Number of pods; default 3')).toEqual(['Number of pods', '3']);
  expect(meaningAndDefault('Default Equal')).toEqual(['', 'Equal']);
  expect(meaningAndDefault("Default the kubelet's")).toEqual(['', "the kubelet's"]);
  expect(meaningAndDefault('Wait; default 2s; seconds, or a Go duration')).toEqual([
    'Wait; seconds, or a Go duration',
    '2s',
  ]);
  expect(meaningAndDefault('Labels of the nodes')).toEqual(['Labels of the nodes', undefined]);
});
