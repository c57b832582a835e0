/** `npm run release:build`, in two folders: the same files, which their checksums describe. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildRelease, copyTree, isMade, output, pack, ROOT } from './packed.ts';

const BUILD_MS = 600_000;
const IMAGE = `registry.example.com/linkspan@sha256:${'1'.repeat(64)}`;

describe('a release', () => {
  let directory: string;
  let version: string;

  const inFolder = (name: string, ...path: readonly string[]): string => join(directory, name, 'release', ...path);

  beforeAll(async () => {
    ({ version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string });
    directory = await mkdtemp(join(tmpdir(), 'linkspan-release-'));
    for (const name of ['one', 'a longer name']) {
      await copyTree(join(directory, name));
      await buildRelease(join(directory, name), IMAGE);
    }
  }, BUILD_MS);

  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('is the package, the manifests, the bill of materials and the checksums, and nothing else', async () => {
    expect((await readdir(inFolder('one'))).toSorted()).toEqual([
      'SHA256SUMS',
      'crds.yaml',
      'install.yaml',
      `linkspan-${version}.cdx.json`,
      `linkspan-${version}.tgz`,
    ]);
  });

  test('has the same bytes in both folders', async () => {
    const names = await readdir(inFolder('one'));
    expect(await readdir(inFolder('a longer name'))).toEqual(names);
    for (const name of names) {
      const [one, other] = await Promise.all(
        ['one', 'a longer name'].map((folder) => readFile(inFolder(folder, name))),
      );
      expect(one!.equals(other!), name).toBe(true);
    }
  });

  test('has checksums of all its files, which sha256sum confirms', async () => {
    const lines = await output(inFolder('one'), 'sha256sum', '--check', '--strict', 'SHA256SUMS');
    const checked = lines
      .trim()
      .split('\n')
      .map((line) => line.replace(/: OK$/, ''));
    const names = await readdir(inFolder('one'));
    expect(checked.toSorted()).toEqual(names.filter((name) => name !== 'SHA256SUMS').toSorted());
  });

  test(
    'has the package that npm pack makes, and manifests with the image that was named',
    async () => {
      const packed = await readFile((await pack(directory)).tarball);
      expect(packed.equals(await readFile(inFolder('one', `linkspan-${version}.tgz`)))).toBe(true);
      expect(await readFile(inFolder('one', 'install.yaml'), 'utf8')).toContain(`image: ${IMAGE}\n`);
    },
    BUILD_MS,
  );
});

test('a copy of the tree lacks what is made of it, and nothing else', () => {
  const paths = ['release/install.yaml', 'dist/a.js', 'examples/gitops/node_modules/a', '.git/HEAD'];
  expect(paths.map((path) => [isMade(path.split('/')[0]!), isMade(path)])).toEqual([
    [true, false],
    [true, true],
    [false, true],
    [true, true],
  ]);
  expect(['', 'tools/release/main.ts', 'test/release', 'constructs/index.ts'].filter(isMade)).toEqual([]);
});
