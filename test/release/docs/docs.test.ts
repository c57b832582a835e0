/** The documentation agrees with the code: generated parts have not drifted, and its program does what it shows. */
import { readFile } from 'node:fs/promises';
import { runInNewContext } from 'node:vm';
import { App, Chart } from 'cdk8s';
import { expect, test } from 'vitest';
import { Link } from '../../../constructs/index.ts';
import { badInput } from './bad-input.ts';
import { documents } from './main.ts';

const read = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

test('no page has drifted from the code (npm run docs writes them)', async () => {
  for (const [path, text] of await documents()) expect(await read(path), path).toBe(text);
});

test('E7 E3 A4: every bad input is refused, or reported as changed', async () => {
  const tables = await badInput();
  const accepted = tables.flatMap(({ rows }) =>
    rows.filter(({ message }) => message === 'accepted' || message === 'mirrored'),
  );
  expect(accepted).toEqual([]);
});

test('no message about credentials repeats what they hold', async () => {
  const page = JSON.stringify(await badInput());
  expect(page).not.toContain('a-very-secret-token');
});

test('the first program of the README renders the YAML below it', async () => {
  const readme = await read('README.md');
  const block = (language: string): string =>
    new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(readme)?.[1] ?? 'no such block';
  const [, props] = /new Link\(new Chart\(app, 'east'\), 'west', (\{.*?\})\);/s.exec(block('ts')) ?? [];
  const app = new App();
  const parsed = runInNewContext(`(${props ?? ''})`) as ConstructorParameters<typeof Link>[2];
  new Link(new Chart(app, 'east'), 'west', parsed);
  expect(app.synthYaml()).toBe(block('yaml'));
});
