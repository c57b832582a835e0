/** No test file is forgotten: `npm test` may leave one to CI, and CI leaves out none. */
import { glob, readFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { ARGO_CD, EXTRAS, isWhole } from '../../suites.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

const testFiles = async (): Promise<readonly string[]> => {
  const files: string[] = [];
  const exclude = ['**/node_modules/**', 'dist/**'];
  for await (const file of glob('**/*.test.ts', { cwd: ROOT, exclude })) files.push(file);
  return files;
};

test('CI runs every test file: all but those for Argo CD by npm test, and those by npm run test:argocd', async () => {
  const script = await readFile(join(ROOT, '.ci', 'run'), 'utf8');
  expect(script).toContain('\nCI=true npm test\n');
  expect(script).toContain('\nnpm run test:argocd\n');
  expect(isWhole({ CI: 'true' }, [])).toBe(true);
  // The patterns of both configurations.
  const patterns = ['test/**/*.test.ts'];
  const missed = (await testFiles()).filter((file) => !patterns.some((pattern) => matchesGlob(file, pattern)));
  expect(missed).toEqual([]);
  expect(ARGO_CD).toBe('test/argocd/**');
});

test('what is left to CI is there, and each area keeps tests in npm test', async () => {
  const files = await testFiles();
  const isLeft = (file: string): boolean => EXTRAS.some((pattern) => matchesGlob(file, pattern));
  const named = EXTRAS.filter((pattern) => pattern.endsWith('.ts')).flatMap(expand);
  expect(named.filter((file) => !files.includes(file))).toEqual([]);

  const areas = [
    'test/cluster',
    'test/constructs',
    'test/crds',
    'test/e2e',
    'test/operator',
    'test/release',
    'test/synth',
  ];
  const kept = files.filter((file) => !isLeft(file));
  expect(areas.filter((area) => !kept.some((file) => file.startsWith(`${area}/`)))).toEqual([]);
});

/** The files that a pattern with at most one `{a,b}` names. */
const expand = (pattern: string): readonly string[] => {
  const [, before, names, after] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === undefined ? [pattern] : names.split(',').map((name) => `${before}${name}${after}`);
};
