/**
 * Packs the package from a copy of the tree, so that the tree's own dist/ is neither read nor touched, and runs
 * programs as a user's shell does: without what `npm test` tells of this project, with the Node that runs this.
 */
import { execFile } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { delimiter, dirname, join, relative, sep } from 'node:path';

/** This repository. */
export const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Folders that are made, wherever they are in the tree. */
const MADE = new Set(['.git', 'dist', 'node_modules']);
const KEPT = ['npm_config_cache', 'npm_config_registry', 'NODE_EXTRA_CA_CERTS'];

const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => KEPT.includes(name) || !/^(npm_|INIT_CWD$|NODE_)/.test(name)),
  ),
  PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
  npm_config_update_notifier: 'false',
};

/** What a program came to. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Output of `npm pack --json` for a tarball. */
interface Report {
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** The package, packed. */
export interface Packed extends Report {
  /** Path of the tarball. */
  readonly tarball: string;
}

/** Runs a program to its end, whatever its exit code. */
export const run = (cwd: string, command: string, ...args: readonly string[]): Promise<Outcome> =>
  runIn({ cwd, env: environment }, command, ...args);

/**
 * Runs commands in a shell that ends at the first that fails, whatever its exit code.
 * @param env variables beside those of every program
 */
export const shell = (cwd: string, commands: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  runIn({ cwd, env: { ...environment, ...env } }, 'sh', '-euc', commands);

interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const runIn = (place: Place, command: string, ...args: readonly string[]): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    execFile(command, args, { ...place, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject(new Error(`${command}: ${error.message}`, { cause: error }));
    });
  });

/** What a program printed. @throws Error with all of it if the program fails */
export const output = async (cwd: string, command: string, ...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(cwd, command, ...args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: exit code ${code}\n${stdout}\n${stderr}`);
  return stdout;
};

/** Whether a path of the tree, from its root, is what others make of it. */
export const isMade = (path: string): boolean =>
  path === 'release' || path.split(sep).some((segment) => MADE.has(segment));

/** Copies the tree, without what is made of it, and with its node_modules. */
export const copyTree = async (to: string): Promise<void> => {
  await cp(ROOT, to, { recursive: true, filter: (source) => !isMade(relative(ROOT, source)) });
  await symlink(join(ROOT, 'node_modules'), join(to, 'node_modules'));
};

/**
 * Makes the files of a release as `npm run release:build` does.
 * @param tree a copy of this repository
 * @param folder for the files; from the tree, or absolute
 */
export const buildRelease = (tree: string, image: string, folder = 'release'): Promise<string> =>
  output(tree, 'npm', 'run', '--silent', 'release:build', '--', `--image=${image}`, `--out=${folder}`);

/** Packs into the directory. */
export const pack = async (directory: string): Promise<Packed> => {
  const tree = join(directory, 'tree');
  await copyTree(tree);
  const [report] = JSON.parse(await output(tree, 'npm', 'pack', '--json', '--pack-destination', directory)) as Report[];
  if (report === undefined) throw new Error('npm pack has packed nothing');
  return { ...report, tarball: join(directory, report.filename) };
};
