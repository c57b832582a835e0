/**
 * An example synthesized as `cdk8s synth` does it: its program in a process of its own, with the output folder in its
 * environment.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/rendered/render.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));
const SOURCES = new URL('sources.ts', import.meta.url).href;

/** The examples that are one program each. */
export const EXAMPLE_NAMES = ['statefulset', 'podinfo', 'federated', 'failover', 'mcs', 'reuse'] as const;

/** One file of manifests. */
export interface Manifest {
  /** As in `west.k8s.yaml`. */
  readonly file: string;
  readonly yaml: string;
  readonly objects: readonly ApiJson[];
}

/**
 * Runs the program of an example.
 * @param folder where it is; by default in this repository, with Linkspan's sources for the package
 */
export const synthesize = async (name: string, folder?: string): Promise<readonly Manifest[]> => {
  const flags = folder === undefined ? ['--import', SOURCES] : [];
  const directory = await mkdtemp(join(tmpdir(), 'linkspan-example-'));
  try {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, CDK8S_OUTDIR: directory };
    await promisify(execFile)(process.execPath, [...flags, 'main.ts'], { cwd: folder ?? join(EXAMPLES, name), env });
    const files = (await readdir(directory)).sort();
    return await Promise.all(
      files.map(async (file) => {
        const path = join(directory, file);
        return { file, yaml: await readFile(path, 'utf8'), objects: Yaml.load(path) as ApiJson[] };
      }),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
};
