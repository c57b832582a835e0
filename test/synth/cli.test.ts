import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

/** What a program of ours loads: packages by name, our own files by path. Modules of node do not count. */
const loadedBy = async (program: string, ...args: readonly string[]): Promise<readonly string[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'linkspan-loaded-'));
  try {
    const file = join(directory, 'modules');
    await new Promise<void>((resolve) => {
      execFile(
        process.execPath,
        ['--import', new URL('loaded.ts', import.meta.url).href, new URL(program, ROOT).pathname, ...args],
        { env: { LOADED_MODULES: file, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] } },
        () => resolve(),
      );
    });
    const urls = (await readFile(file, 'utf8')).split('\n').filter((url) => url.startsWith(ROOT.href));
    return [...new Set(urls.map((url) => nameOf(url.slice(ROOT.href.length))))].sort();
  } finally {
    await rm(directory, { recursive: true });
  }
};

/** `node_modules/@a/b/c.js` → `@a/b` */
const nameOf = (path: string): string => path.replace(/^.*node_modules\/((?:@[^/]+\/)?[^/]+)\/.*$/, '$1');

describe('linkspan', () => {
  it.each([[['--help']], [['--version']], [['operator', '--help']], [['synth', '--frobnicate']]])(
    'loads the command line and the table of flags for %j, and nothing else',
    async (args) => {
      const loaded = await loadedBy('synth/cli.ts', ...args);
      expect(loaded).toContain('operator/config/flags.ts');
      const meant =
        /^(commander|package\.json|synth\/(cli|program|writers|commands\/\w+\/(gen-|change-)?flags)\.ts|operator\/config\/flags\.ts|crds\/(operator-(setting-name|setting)s|wire)\.ts)$/;
      expect(loaded.filter((name) => !meant.test(name))).toEqual([]);
    },
  );

  it('refuses flags of the operator before it loads what runs one', async () => {
    const loaded = await loadedBy('synth/cli.ts', 'operator', '--concurrency', '0');
    for (const heavy of ['cdk8s', 'undici', 'pino', 'prom-client']) expect(loaded).not.toContain(heavy);
  });
});

describe('the operator', () => {
  let loaded: readonly string[];
  beforeAll(async () => {
    loaded = await loadedBy('operator/main.ts');
  });

  it('loads the constructs that it renders, what these are made with, and no other', () => {
    const constructs = loaded.filter((name) => name.startsWith('constructs/'));
    expect(constructs).toContain('constructs/rendered/mirror/mirror-service.ts');
    expect(constructs.filter((name) => !/^constructs\/(rendered|common)\//.test(name))).toEqual([]);
  });

  it.each(['@kubernetes/client-node', 'cdk8s-plus-27', 'commander', 'pino-pretty', 'synth/cli.ts'])(
    'starts without %s',
    (needless) => {
      expect(loaded).toContain('undici');
      expect(loaded).not.toContain(needless);
    },
  );
});
