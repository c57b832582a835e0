import { execFile } from 'node:child_process';
import { appendFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url).pathname;

let copy: string;

/** Runs the generator of the copy; resolves to its exit code and what it complained of. */
const generate = (...args: readonly string[]): Promise<{ readonly code: unknown; readonly stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [join(copy, 'synth/generate.ts'), ...args], { cwd: copy }, (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    );
  });

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'linkspan-generate-'));
  for (const name of ['crds', 'constructs', 'synth', 'package.json', 'tsconfig.json', '.prettierrc.json']) {
    await cp(join(ROOT, name), join(copy, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => rm(copy, { recursive: true }));

describe('synth/generate.ts', () => {
  it('finds what is checked in to be what the schemas say', async () => {
    expect(await generate('--check')).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    ['crds/link/types.gen.ts', 'crds/link/schema.ts'],
    ['crds/failover/types.gen.ts', 'crds/failover/schema.ts'],
    ['crds/mcs/service-import/types.gen.ts', 'crds/mcs/service-import/schema.ts'],
    ['constructs/gateway/schema.gen.ts', 'the interfaces of constructs/gateway/'],
    ['synth/cluster-file/schema.gen.json', 'synth/cluster-file/schema.ts'],
  ])('names %s when it has drifted, and writes it anew', async (file, schema) => {
    await appendFile(join(copy, file), '// drift\n');
    expect(await generate('--check')).toEqual({
      code: 1,
      stderr: `${file} is not what ${schema} says: run \`npm run generate\`\n`,
    });
    await generate();
    expect(await generate('--check')).toEqual({ code: 0, stderr: '' });
  });
});
