/** The example of a program that writes a repository: the files of the example gitops, byte for byte. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));
const EXAMPLE = join(EXAMPLES, 'gitops-typescript');
const SOURCES = new URL('sources.ts', import.meta.url).href;

const filesIn = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = files.map(async (file) => [file.slice(folder.length), await readFile(file, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(contents));
};

const json = async (path: string): Promise<Readonly<Record<string, object>>> =>
  JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, object>>;

test('the example gitops-typescript writes what the example gitops has in clusters/', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'linkspan-example-'));
  try {
    const args = ['--import', SOURCES, join(EXAMPLE, 'main.ts')];
    await promisify(execFile)(process.execPath, args, { cwd: directory });
    expect(await filesIn(join(directory, 'clusters'))).toEqual(await filesIn(join(EXAMPLES, 'gitops', 'clusters')));
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('the example gitops-typescript is a package as the other programs are, with a check for CI', async () => {
  const { scripts, ...example } = await json(join(EXAMPLE, 'package.json'));
  const { scripts: theirs, ...other } = await json(join(EXAMPLES, 'reuse', 'package.json'));
  expect(example).toEqual({ ...other, name: 'linkspan-example-gitops-typescript' });
  expect(scripts).toMatchObject(theirs!);
  const workflow = parseYaml(await readFile(join(EXAMPLE, '.github/workflows/clusters.yaml'), 'utf8'));
  const { jobs } = workflow as { readonly jobs: { readonly check: { readonly steps: readonly { run?: string }[] } } };
  expect(jobs.check.steps.flatMap(({ run }) => run ?? [])).toEqual(['npm ci', 'npm run check']);
});
