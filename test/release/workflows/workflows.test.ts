/** The workflows, as far as they can be checked without GitHub: what they may do, and the scripts of their steps. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RELEASED_IMAGE } from '../../../synth/commands/install/manifests.ts';
import { VERSION } from '../../../synth/commands/install/version.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FOLDER = join(ROOT, '.github', 'workflows');

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly name: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = await readdir(FOLDER);
const texts = await Promise.all(files.map((file) => readFile(join(FOLDER, file), 'utf8')));
const workflows = texts.map((text) => load(text) as Workflow);
const jobs = workflows.flatMap((workflow) => Object.values(workflow.jobs));
const steps = jobs.flatMap((job) => job.steps);
const scripted = steps.filter((step): step is Step & { readonly run: string } => step.run !== undefined);

/** What a step's script came to. */
interface Outcome {
  readonly code: number;
  readonly output: string;
}

const bash = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile('bash', args, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
    );
  });

describe('the workflows', () => {
  test('are those that docs/releasing.md describes', () => {
    expect(files.toSorted()).toEqual(['ci.yml', 'nightly.yml', 'release.yml']);
  });

  test('pin each action by a commit, with its version beside it', () => {
    const uses = texts.flatMap((text) => [...text.matchAll(/^ *(?:- )?uses: *(.*)$/gm)].map(([, value = '']) => value));
    expect(uses.length).toBeGreaterThan(10);
    expect(uses.filter((value) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(value))).toEqual([]);
    const versions = new Map(uses.map((value) => [value.split('@')[0], value]));
    expect(uses.filter((value) => versions.get(value.split('@')[0]) !== value)).toEqual([]);
  });

  test('may read and no more, but for the jobs of a release that write', () => {
    const wide = workflows.filter(
      ({ permissions }) => permissions === undefined || permissions['contents'] === 'write',
    );
    expect(wide).toEqual([]);
    const writing = workflows.flatMap((workflow) =>
      Object.entries(workflow.jobs).flatMap(([name, { permissions = workflow.permissions ?? {} }]) =>
        Object.entries(permissions).flatMap(([right, value]) =>
          value === 'write' ? [`${workflow.name} ${name}: ${right}`] : [],
        ),
      ),
    );
    expect(writing.toSorted()).toEqual([
      'release image: id-token',
      'release image: packages',
      'release publish: attestations',
      'release publish: contents',
      'release publish: id-token',
    ]);
  });

  test('have no secret, and put nothing that others write into a script', () => {
    expect(texts.filter((text) => text.includes('secrets.'))).toEqual([]);
    const filled = scripted.filter(({ run }) => run.includes('${{') && run !== '${{ matrix.run }}');
    expect(filled.map(({ run }) => run)).toEqual([]);
  });

  test('push the image that install.yaml and the messages of linkspan name', () => {
    const { env } = workflows.find(({ name }) => name === 'release') ?? {};
    expect(RELEASED_IMAGE).toBe(`${env?.['IMAGE'] ?? ''}:${VERSION}`);
  });

  test('end a job that hangs', () => {
    expect(jobs.filter((job) => job['timeout-minutes'] === undefined)).toEqual([]);
  });

  test('run scripts of npm that there are, and scripts that bash can read', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const matrix = texts.flatMap((text) => [...text.matchAll(/^ {12}run: (.*)$/gm)].map(([, run = '']) => run));
    const all = [...scripted.map(({ run }) => run), ...matrix];
    const named = all.flatMap((run) => [...run.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    for (const run of all.filter((each) => !each.includes('${{'))) {
      expect(await bash(['-n', '-c', run], ROOT, {}), run).toEqual({ code: 0, output: '' });
    }
  });
});

describe('the script of the step', () => {
  let directory: string;

  const script = (name: string): string => scripted.find((step) => step.name === name)?.run ?? `no step ${name}`;
  const run = (name: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
    bash(['-eo', 'pipefail', '-c', script(name)], cwd, env);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'linkspan-workflows-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('"Check that the tag names the version" passes for the version alone', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
    const name = 'Check that the tag names the version';
    expect(await run(name, ROOT, { GITHUB_REF_NAME: `v${version}` })).toMatchObject({ code: 0 });
    expect(await run(name, ROOT, { GITHUB_REF_NAME: `v${version}0` })).toMatchObject({ code: 1 });
  });

  test('"Read the version" leaves the v of the tag out', async () => {
    const GITHUB_OUTPUT = join(directory, 'version');
    await run('Read the version', ROOT, { GITHUB_REF_NAME: 'v1.2.3', GITHUB_OUTPUT });
    expect(await readFile(GITHUB_OUTPUT, 'utf8')).toBe('number=1.2.3\n');
  });

  test('"Check the files" passes while they are what was made', async () => {
    await mkdir(join(directory, 'release'));
    await writeFile(join(directory, 'release', 'a'), 'a\n');
    await bash(['-c', 'cd release && sha256sum a > SHA256SUMS'], directory, {});
    expect(await run('Check the files', directory)).toEqual({ code: 0, output: 'a: OK\n' });
    await writeFile(join(directory, 'release', 'a'), 'b\n');
    expect(await run('Check the files', directory)).toMatchObject({ code: 1 });
  });

  test('"Write the release notes" takes the section of the version from the changelog', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
    const env = { GITHUB_REF_NAME: `v${version}`, RUNNER_TEMP: directory };
    expect(await run('Write the release notes', ROOT, env)).toMatchObject({ code: 0 });
    const notes = await readFile(join(directory, 'notes.md'), 'utf8');
    const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8');
    expect(changelog).toContain(`## ${version}\n\n${notes}`);
    const unknown = { ...env, GITHUB_REF_NAME: `v${version}0` };
    expect(await run('Write the release notes', ROOT, unknown)).toMatchObject({ code: 1 });
  });

  describe('"Resolve the bases to digests"', () => {
    const DIGEST = `sha256:${'a'.repeat(64)}`;

    /** Runs it with a docker of the test's own. */
    const resolve = async (architectures: readonly string[], digest = DIGEST): Promise<Outcome & { text: string }> => {
      const bin = join(directory, 'bin');
      await mkdir(bin, { recursive: true });
      const manifests = architectures.map((architecture) => ({ platform: { os: 'linux', architecture } }));
      await writeFile(join(bin, 'docker'), `#!/bin/sh\necho '${JSON.stringify({ digest, manifests })}'\n`);
      await chmod(join(bin, 'docker'), 0o755);
      const GITHUB_OUTPUT = join(directory, 'bases');
      await writeFile(GITHUB_OUTPUT, '');
      const PATH = [bin, process.env['PATH']].join(delimiter);
      const outcome = await run('Resolve the bases to digests', ROOT, { PATH, GITHUB_OUTPUT });
      return { ...outcome, text: await readFile(GITHUB_OUTPUT, 'utf8') };
    };

    test('prints both bases of the Dockerfile by digest', async () => {
      const { code, text } = await resolve(['amd64', 'arm64', 's390x']);
      expect({ code, text }).toEqual({
        code: 0,
        text: `BUILD_BASE=node@${DIGEST}\nRUN_BASE=gcr.io/distroless/nodejs24-debian12@${DIGEST}\n`,
      });
    });

    test('fails for a base that one of the platforms lacks', async () => {
      const { code, output } = await resolve(['amd64']);
      expect({ code, output }).toEqual({ code: 1, output: 'node:24-slim: is not there for linux/arm64\n' });
    });

    test('fails for an answer without a digest', async () => {
      expect(await resolve(['amd64', 'arm64'], 'latest')).toMatchObject({ code: 1, text: '' });
    });
  });
});

test('docs/releasing.md lists each step that no test here runs, and no other', async () => {
  const page = await readFile(join(ROOT, 'docs', 'releasing.md'), 'utf8');
  const [section = ''] = page.split('## What no test runs\n')[1]?.split('\n## ') ?? [];
  const listed = [...section.matchAll(/^\| `([^`]+)` /gm)].map(([, name = '']) => name);
  const proven = [
    'Check that the tag names the version',
    'Read the version',
    'Check the files',
    'Resolve the bases to digests',
    'Write the release notes',
  ];
  // They are scripts of this repository, which its own tests and developers run.
  const own = [
    'Install dependencies',
    'Check and test',
    'Check the workflows',
    'Make a release',
    'Make the files',
    'Build the API servers',
    'Run',
  ];
  const names = new Set(steps.map(({ name, uses = '' }) => name ?? uses.split('@')[0]!));
  expect(listed.toSorted()).toEqual([...names].filter((name) => ![...proven, ...own].includes(name)).toSorted());
});
