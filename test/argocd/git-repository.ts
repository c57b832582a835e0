/** A Git repository in a folder, as Argo CD reads it by a `file://` URL and a team commits to it. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pathToFileURL } from 'node:url';
import { Yaml } from 'cdk8s';

const run = promisify(execFile);

/** Whatever the user's own configuration says of hooks, signatures and names. */
const ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'team',
  GIT_AUTHOR_EMAIL: 'team@example.com',
  GIT_COMMITTER_NAME: 'team',
  GIT_COMMITTER_EMAIL: 'team@example.com',
};

export class GitRepository {
  /** Where its files are. */
  readonly dir: string;
  readonly url: string;

  private constructor(dir: string) {
    this.dir = dir;
    this.url = pathToFileURL(dir).href;
  }

  /** A new one in a folder, with branch `main` and no commit yet. */
  static async init(dir: string): Promise<GitRepository> {
    await mkdir(dir, { recursive: true });
    const repository = new GitRepository(dir);
    await repository.#git('init', '--quiet', '--initial-branch=main');
    return repository;
  }

  /** Writes objects into a file, by its path in the folder; what was there is gone. */
  async write(path: string, objects: readonly object[]): Promise<void> {
    const file = join(this.dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Yaml.stringify(...objects));
  }

  /** Commits what is in the folder; returns the revision. */
  async commit(message: string): Promise<string> {
    await this.#git('add', '--all');
    await this.#git('commit', '--quiet', '--message', message);
    return (await this.#git('rev-parse', 'HEAD')).trim();
  }

  async #git(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('git', args, { cwd: this.dir, env: { ...process.env, ...ENVIRONMENT } });
    return stdout;
  }
}
