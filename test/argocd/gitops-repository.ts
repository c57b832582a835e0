/**
 * The gitops example as a team keeps it: a repository with `linkspan.yaml` and the folders that `linkspan synth` renders
 * from it. The example's own file is taken, with the addresses of the test in place of those of example.com.
 */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import type { ArgoCdProps, ClusterSetMember, ClusterSetProps } from '../../constructs/index.ts';
import type { ObjectRef } from '../cluster/workload/index.ts';
import { linkspan } from '../synth/linkspan.ts';
import { GitRepository } from './git-repository.ts';

const EXAMPLE = new URL('../../examples/gitops/linkspan.yaml', import.meta.url).pathname;
/** Where Argo CD runs. */
export const IN_CLUSTER = 'https://kubernetes.default.svc';

/** What stands in `linkspan.yaml`. */
export type ClusterFile = ClusterSetProps & { readonly argoCd: Omit<ArgoCdProps, 'clusterSet'> };

/** Where the test has what a member of the example names. */
export type Whereabouts = (name: string) => Pick<ClusterSetMember, 'gatewayAddresses' | 'apiServer'>;

export class GitOpsRepository {
  readonly #git: GitRepository;
  #file: ClusterFile;

  private constructor(git: GitRepository, file: ClusterFile) {
    this.#git = git;
    this.#file = file;
  }

  /** The example in a folder, not committed yet; Argo CD runs on `hub`. */
  static async init(dir: string, hub: string, whereabouts: Whereabouts): Promise<GitOpsRepository> {
    const git = await GitRepository.init(dir);
    const [example] = Yaml.load(EXAMPLE) as [ClusterFile];
    return new GitOpsRepository(git, {
      ...example,
      members: example.members.map((member) => ({ ...member, ...whereabouts(member.name) })),
      argoCd: { ...example.argoCd, repoUrl: git.url, destinations: { [hub]: { server: IN_CLUSTER } }, health: true },
    });
  }

  get url(): string {
    return this.#git.url;
  }

  /** Writes `linkspan.yaml`, changed or as it is, has it synthesized, and commits; returns the revision. */
  async commit(message: string, change: (file: ClusterFile) => ClusterFile = (file) => file): Promise<string> {
    this.#file = change(this.#file);
    await writeFile(join(this.#git.dir, 'linkspan.yaml'), Yaml.stringify(this.#file));
    const { code, stderr } = await linkspan(this.#git.dir, 'synth');
    if (code !== 0) throw new Error(`linkspan synth: exit code ${code}: ${stderr}`);
    return this.#git.commit(message);
  }

  /** Removes a folder below `clusters`, for the next commit. */
  async remove(folder: string): Promise<void> {
    await rm(join(this.#git.dir, 'clusters', folder), { recursive: true });
  }

  /** The objects of a folder below `clusters`, as they are now. */
  async objects(folder: string): Promise<readonly ObjectRef[]> {
    const path = join(this.#git.dir, 'clusters', folder);
    const files = (await readdir(path)).sort();
    return files.flatMap((file) => Yaml.load(join(path, file)) as readonly ObjectRef[]);
  }
}
