/**
 * `npm run cluster:build`: builds the servers that tests run on, once, into the user's cache. Two runs at a time wait
 * for each other; a program appears in the cache by a rename, so that a build which breaks leaves nothing half there.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterTools } from './binaries.ts';
import { FileLock } from './file-lock.ts';
import type { GoTools } from './go-tools.ts';

/** Says one line about the progress of a build. */
export type Report = (line: string) => void;

/** Whether there is a Go toolchain to build with. */
export const hasGo = (): boolean => spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;

/**
 * Builds what is missing, one after the other: each build already uses every core. Minutes at first (about 8 on two
 * cores for the test clusters), seconds when Go's own cache is warm, nothing when all is there.
 * @throws Error with Go's own words when a build fails
 */
export const buildMissing = async (report: Report, tools: GoTools<string> = clusterTools): Promise<void> => {
  if (tools.missing().length === 0) return;
  const dir = tools.cacheDir();
  await mkdir(dir, { recursive: true });
  const lock = await FileLock.acquire(join(dir, '.lock'), (owner) =>
    report(`waiting for process ${owner}, which is building into ${dir}`),
  );
  try {
    await removeLeftovers(dir);
    // Asked again: whoever held the lock may have built them.
    for (const name of tools.missing()) await build(tools, name, dir, report);
  } finally {
    await lock.release();
  }
};

const build = async (tools: GoTools<string>, name: string, dir: string, report: Report): Promise<void> => {
  const source = tools.packageOf(name);
  report(`${name}: building ${source}`);
  const started = performance.now();
  const scratch = join(dir, `${leftoverPrefix}${process.pid}`);
  try {
    await mkdir(scratch, { recursive: true });
    await go(tools, ['-o', join(scratch, name), source], name);
    await rename(join(scratch, name), join(dir, name));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  report(`${name}: built in ${((performance.now() - started) / 1000).toFixed(0)} s`);
};

const go = (tools: GoTools<string>, args: readonly string[], what: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('go', [...tools.buildArguments, ...args], {
      cwd: tools.moduleDir,
      env: { ...process.env, ...tools.buildEnvironment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', (cause) =>
      reject(new Error(`cannot build ${what}: go does not start (is Go 1.26 installed and in PATH?)`, { cause })),
    );
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`cannot build ${what}: go ended with ${signal ?? code}\n${stderr.slice(-4000)}`));
    });
  });

const leftoverPrefix = '.building-';

/** Removes what builds left behind that were killed; only under the lock. */
const removeLeftovers = async (dir: string): Promise<void> => {
  for (const entry of await readdir(dir)) {
    if (entry.startsWith(leftoverPrefix)) await rm(join(dir, entry), { recursive: true, force: true });
  }
};

if (import.meta.main) {
  try {
    await buildMissing((line) => console.log(line));
    for (const name of clusterTools.all) console.log(`${name.padEnd(24)}${clusterTools.find(name) ?? 'missing'}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
