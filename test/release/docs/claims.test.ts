/** What pages promise is shown by tests: docs/claims.md for the README, and docs/threat-model.md for security. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isThere, type NamedTest, tableRows, testsNamed } from './named-tests.ts';

const read = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

const claims = tableRows(await read('docs/claims.md'));
const threats = tableRows(await read('docs/threat-model.md')).filter(([id = '']) => /^T\d+$/.test(id));

const missing = async (named: readonly NamedTest[]): Promise<readonly NamedTest[]> => {
  const found = await Promise.all(named.map(isThere));
  return named.filter((_, index) => !found[index]);
};

test('each claim of docs/claims.md stands in the README, and names tests that exist', async () => {
  // Links are from another folder.
  const readme = (await read('README.md')).replaceAll(/\s+/g, ' ').replaceAll('](docs/', '](');
  const rows = claims.filter(([claim]) => claim !== 'claim');
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.filter(([claim = '']) => !readme.includes(claim.replaceAll('<br>', ' ')))).toEqual([]);
  expect(rows.filter(([, proof = '']) => testsNamed(proof).length === 0)).toEqual([]);
  expect(await missing(rows.flatMap(([, proof = '']) => testsNamed(proof)))).toEqual([]);
});

test('each row of the comparison in the README is among the claims', async () => {
  const [head = '', ...rest] = (await read('README.md'))
    .split('## Start')[0]!
    .split("Linkerd's controller  ")
    .slice(-2);
  const rows = tableRows(`| x |${rest.join('')}`).filter(([, , ours]) => ours !== undefined);
  expect(head).not.toBe('');
  expect(rows.length).toBeGreaterThan(8);
  const claimed = new Set(claims.map(([claim]) => claim));
  expect(rows.map(([, , ours = '']) => ours).filter((ours) => ours !== 'Linkspan' && !claimed.has(ours))).toEqual([]);
});

test('each threat has an id of its own, and a test that exists, or says that it is not covered', async () => {
  const ids = threats.map(([id]) => id);
  expect(ids).toEqual(ids.map((_, index) => `T${index + 1}`));
  expect(ids.length).toBeGreaterThan(30);
  const open = threats.filter(
    ([, , control = '', proof = '']) =>
      testsNamed(proof).length === 0 && !/^not covered$/.test(proof) && control !== '',
  );
  expect(open).toEqual([]);
  const unsaid = threats.filter(
    ([, , control = '', proof = '']) => proof === 'not covered' && !control.includes('**Not covered**'),
  );
  expect(unsaid).toEqual([]);
  expect(await missing(threats.flatMap(([, , , proof = '']) => testsNamed(proof)))).toEqual([]);
});

test('tests that do not exist are noticed', async () => {
  const cell = '`test/release/docs/claims.test.ts`: tests that do not exist are noticed<br>`test/nothing.test.ts`: x';
  const [here, nowhere] = testsNamed(cell);
  expect(await missing([here!, nowhere!])).toEqual([nowhere]);
  expect(await missing([{ ...here!, title: here!.title.slice(1) }])).toHaveLength(1);
});
