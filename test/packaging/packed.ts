/**
 * Packs the package from a copy of the tree, so that the tree's own dist/ is neither read nor touched, and runs programs
 * as a user's shell does: without what `npm test` tells of this project, with the Node that runs this.
 */
import { execFile } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';

/** This repository. */
export const ROOT = join(import.meta.dirname, '..', '..');

const NOT_COPIED = new Set(['.git', 'dist', 'node_modules']);
const NPM = ['npm_config_cache', 'npm_config_registry'];

const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => NPM.includes(name) || !/^(npm_|INIT_CWD$|NODE_)/.test(name)),
  ),
  PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
  npm_config_update_notifier: 'false',
};

/** What a program printed. @throws Error with all of it if the program fails */
export const output = (cwd: string, command: string, ...args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env: environment, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${command} ${args.join(' ')}: ${error.message}\n${stdout}\n${stderr}`, { cause: error }));
    });
  });

/** Path of the tarball, in the directory. */
export const pack = async (directory: string): Promise<string> => {
  const tree = join(directory, 'tree');
  await cp(ROOT, tree, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
  await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  const [packed] = JSON.parse(await output(tree, 'npm', 'pack', '--json', '--pack-destination', directory)) as {
    readonly filename: string;
  }[];
  if (packed === undefined) throw new Error('npm pack has packed nothing');
  return join(directory, packed.filename);
};
