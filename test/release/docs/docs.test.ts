/** The documentation agrees with the code: generated parts have not drifted. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
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
