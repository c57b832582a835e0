import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { describe, expect, it } from 'vitest';

import { failoverCrd } from '../../../crds/failover/definition.ts';
import { linkCrd } from '../../../crds/link/definition.ts';
import { mcsCrds } from '../../../crds/mcs/definitions.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const linkspan = (args: readonly string[], { closeStdout = false } = {}): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, 'synth/cli.ts'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    if (closeStdout) child.stdout.destroy();
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.once('error', reject).once('close', (code) => resolve({ code, stdout, stderr }));
  });

describe('linkspan', () => {
  it.each([
    [['crds'], [linkCrd, failoverCrd]],
    [['crds', '--mcs'], mcsCrds],
  ])('prints the CRDs as YAML, whole, and without anchors: %j', async (args, crds) => {
    const { code, stdout, stderr } = await linkspan(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/[&*]a\d+/);

    const directory = await mkdtemp(join(tmpdir(), 'linkspan-cli-'));
    try {
      const file = join(directory, 'crd.yaml');
      await writeFile(file, stdout);
      expect(Yaml.load(file)).toEqual(crds);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('ends quietly when nobody reads on', async () => {
    expect(await linkspan(['crds'], { closeStdout: true })).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints its version and its help', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
    expect(await linkspan(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const help = await linkspan(['--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Usage: linkspan');
  });

  it.each([
    [['frobnicate'], "error: unknown command 'frobnicate'"],
    [['--frobnicate'], "error: unknown option '--frobnicate'"],
    [['crds', '--frobnicate'], "error: unknown option '--frobnicate'"],
    [['crds', 'extra'], "error: too many arguments for 'crds'"],
    [[], 'Usage: linkspan'],
  ])('exits 2 with the reason on stderr given %j', async (args, reason) => {
    const { code, stdout, stderr } = await linkspan(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });
});
