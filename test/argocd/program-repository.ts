/**
 * The example gitops-typescript as a team keeps it: a repository with its program, and the folders that the program writes.
 * The inventory of the test stands in the place of the example's.
 */
import { execFile } from 'node:child_process';
import { cp, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Yaml } from 'cdk8s';
import type { ArgoCdDestination, ClusterSetMember, Topology } from '../../constructs/index.ts';
import type { ObjectRef } from '../cluster/workload/index.ts';
import { GitRepository } from './git-repository.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXAMPLE = join(ROOT, 'examples', 'gitops-typescript');
const SOURCES = new URL('../release/examples/sources.ts', import.meta.url).href;

/** What the inventory says. */
export interface Inventory {
  readonly members: readonly ClusterSetMember[];
  readonly topology: Topology;
  readonly destinations: Readonly<Record<string, ArgoCdDestination>>;
}

export class ProgramRepository {
  readonly #git: GitRepository;

  private constructor(git: GitRepository) {
    this.#git = git;
  }

  /** The example in a folder, not committed yet. */
  static async init(dir: string): Promise<ProgramRepository> {
    const git = await GitRepository.init(dir);
    await cp(join(EXAMPLE, 'main.ts'), join(dir, 'main.ts'));
    await cp(join(EXAMPLE, 'package.json'), join(dir, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    // The pattern of the example is for a folder.
    await writeFile(join(dir, '.gitignore'), 'node_modules\n');
    return new ProgramRepository(git);
  }

  /** Writes the inventory, runs the program, and commits; returns the revision. */
  async commit(message: string, { members, topology, destinations }: Inventory): Promise<string> {
    const { dir, url } = this.#git;
    const values = { REPOSITORY: url, MEMBERS: members, TOPOLOGY: topology, DESTINATIONS: destinations };
    const lines = Object.entries(values).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`);
    await writeFile(join(dir, 'inventory.ts'), lines.join(''));
    await promisify(execFile)(process.execPath, ['--import', SOURCES, 'main.ts'], { cwd: dir });
    return this.#git.commit(message);
  }

  /** The objects for Argo CD, as they are now. */
  async argoCdObjects(): Promise<readonly ObjectRef[]> {
    const path = join(this.#git.dir, 'clusters', 'argocd');
    const files = (await readdir(path)).sort();
    return files.flatMap((file) => Yaml.load(join(path, file)) as readonly ObjectRef[]);
  }
}
