/** The examples as their users have them: with the package, packed and installed, and its published types. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { output, pack, ROOT } from '../packaging/packed.ts';
import { EXAMPLE_NAMES, synthesize } from './synthesize.ts';

const INSTALL_MS = 240_000;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: EXAMPLE_NAMES.map((name) => `${name}/*.ts`),
};

let directory: string;
let app: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'linkspan-examples-'));
  app = join(directory, 'app');
  await mkdir(app);
  for (const name of EXAMPLE_NAMES) await cp(join(ROOT, 'examples', name), join(app, name), { recursive: true });
  // They all ask for the same; what is published later is now a file.
  const { dependencies } = JSON.parse(await readFile(join(app, 'podinfo', 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const { overrides } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    readonly overrides: object;
  };
  const linkspan = `file:${(await pack(directory)).tarball}`;
  await writeFile(
    join(app, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: { ...dependencies, linkspan }, overrides }),
  );
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const flags = ['--prefix', app, '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock'];
  await output(app, 'npm', 'install', ...flags);
}, INSTALL_MS);

afterAll(() => rm(directory, { recursive: true, force: true }));

test('the examples typecheck against the published types', async () => {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  expect(await output(app, process.execPath, tsc, '-p', app, '--pretty', 'false')).toBe('');
}, 120_000);

test.each(EXAMPLE_NAMES)('%s renders with the package what it renders with the sources', async (name) => {
  expect(await synthesize(name, join(app, name))).toEqual(await synthesize(name));
});
