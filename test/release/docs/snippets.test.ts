/**
 * The programs in the pages are programs: each is typechecked, and run, as a reader copies it. Commands in the README and
 * in the examples are run by test/release/examples/readmes.test.ts.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linkspan as run } from '../../synth/linkspan.ts';
import { blocksOf } from '../examples/readme.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCES = new URL('../examples/sources.ts', import.meta.url).href;

const blocks = async (path: string, language: string): Promise<readonly string[]> => {
  const page = await readFile(join(ROOT, path), 'utf8');
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text);
};

let directory: string;

beforeAll(async () => {
  // In this package, so that imports find what it depends on, and where no other check looks.
  const ignored = join(ROOT, 'dist');
  await mkdir(ignored, { recursive: true });
  directory = await mkdtemp(join(ignored, 'snippets-'));
});

afterAll(() => rm(directory, { recursive: true }));

/** What is wrong with a program, as `tsc` has it. */
const problemsOf = (file: string): readonly string[] => {
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config as object;
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [file] }, ts.sys, ROOT);
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options)).map(({ messageText, start }) => {
    return `at ${start ?? 0}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
};

/** Writes a program, checks it and runs it; what it writes is in folder `dist` of the directory. */
const execute = async (name: string, program: string): Promise<void> => {
  const file = join(directory, name);
  await writeFile(file, program);
  expect(problemsOf(file)).toEqual([]);
  await promisify(execFile)(process.execPath, ['--import', SOURCES, file], { cwd: directory });
};

test('the program of docs/gitops.md renders the YAML below it', { timeout: 120_000 }, async () => {
  const [program = ''] = await blocks('docs/gitops.md', 'ts');
  await execute('gitops.ts', program);
  const yaml = await readFile(join(directory, 'dist', 'east.k8s.yaml'), 'utf8');
  expect(await blocks('docs/gitops.md', 'yaml')).toContain(yaml);
});

test('the program of each page of docs/constructs is a program, and runs', { timeout: 120_000 }, async () => {
  const pages = await readdir(join(ROOT, 'docs', 'constructs'));
  expect(pages.length).toBeGreaterThan(20);
  const programs = pages.map(async (page) => {
    const [program = '', ...others] = await blocks(`docs/constructs/${page}`, 'ts');
    expect([program.includes('app.synth();'), others], page).toEqual([true, []]);
    await writeFile(join(directory, page.replace(/\.md$/, '.ts')), program);
    return `import './${page.replace(/\.md$/, '.ts')}';\n`;
  });
  await execute('all-constructs.ts', (await Promise.all(programs)).join(''));
});

test('the commands of docs/cluster-file.md do what they say', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'linkspan-cluster-file-'));
  try {
    const [file = ''] = await blocks('docs/cluster-file.md', 'yaml');
    await writeFile(join(folder, 'linkspan.yaml'), file);
    const [block, ...others] = await blocksOf('docs/cluster-file.md');
    expect(others).toEqual([]);
    const codes: number[] = [];
    for (const line of (block?.commands ?? '').trimEnd().split('\n')) {
      const [, args = ''] = /^npx linkspan (.*?) *#/.exec(line) ?? [];
      codes.push((await run(folder, ...args.split(' '))).code);
    }
    expect(codes).toEqual([0, 0, 0]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
