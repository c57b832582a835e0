/**
 * Makes the files of a release from a checkout with its node_modules. The same checkout makes the same bytes, in whatever
 * folder and at whatever time, so that anybody can check a release by making it again.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RELEASED_IMAGE } from '../../synth/commands/install/manifests.ts';
import type { Lockfile } from './lockfile.ts';
import { type Released, sbom } from './sbom.ts';

/** What a release is made from. */
export interface ReleaseOptions {
  /** Folder of the checkout. Its `dist` is made anew. */
  readonly checkout: string;
  /** Folder for the files, which is emptied first. */
  readonly directory: string;
  /** Image of the operator that install.yaml names; that of the version by default. */
  readonly image: string | undefined;
}

/** Name of the file with the checksums of the others, as `sha256sum --check` reads it. */
const CHECKSUMS = 'SHA256SUMS';

const execute = promisify(execFile);

const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

/**
 * Makes the package, the manifests, the bill of materials and the checksums.
 * @returns the names of the files
 * @throws Error if the package does not build, or the command that was built does not print the manifests
 */
export const buildRelease = async ({ checkout, directory, image }: ReleaseOptions): Promise<readonly string[]> => {
  const released = await json<Released>(join(checkout, 'package.json'));
  const { name, version } = released;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });

  await execute('npm', ['pack', '--pack-destination', directory], { cwd: checkout });
  // By the command that the package has, so that they are what its users would get.
  const linkspan = async (...args: readonly string[]): Promise<string> => {
    const command = [join(checkout, 'dist', 'synth', 'bin.js'), ...args];
    return (await execute(process.execPath, command, { cwd: checkout, maxBuffer: 2 ** 26 })).stdout;
  };
  const manifests = await manifestsOf(linkspan, image ?? RELEASED_IMAGE);
  for (const [file, text] of Object.entries(manifests)) await writeFile(join(directory, file), text);

  const bom = sbom(released, await json<Lockfile>(join(checkout, 'package-lock.json')));
  await writeFile(join(directory, `${name}-${version}.cdx.json`), `${JSON.stringify(bom, null, 2)}\n`);
  await writeFile(join(directory, CHECKSUMS), await checksumsOf(directory));
  return (await readdir(directory)).sort();
};

/**
 * The manifests, for `kubectl apply --server-side -f`.
 *
 * @param linkspan runs the command line, and returns what it prints
 */
const manifestsOf = async (
  linkspan: (...args: readonly string[]) => Promise<string>,
  image: string,
): Promise<Readonly<Record<'install.yaml' | 'crds.yaml', string>>> => ({
  'install.yaml': await linkspan('install', `--image=${image}`, '--output=yaml'),
  'crds.yaml': await linkspan('crds'),
});

/** A line for each file of the folder. */
const checksumsOf = async (directory: string): Promise<string> => {
  const files = (await readdir(directory)).sort();
  const lines = files.map(async (file) => {
    const hash = createHash('sha256').update(await readFile(join(directory, file)));
    return `${hash.digest('hex')}  ${file}\n`;
  });
  return (await Promise.all(lines)).join('');
};
