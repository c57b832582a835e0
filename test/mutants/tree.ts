/** A copy of the working tree in a temporary folder, in which files may be broken. The user's tree is never written to. */
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Defect, withDefect } from './defect.ts';

/** What no test of a defect reads: history, and what is installed or built. The copy has a link to `node_modules`. */
const LEFT_OUT = ['.git', '.vitest', 'dist', 'node_modules', 'release'];

export class Tree {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Copies the tree whose root is `root`. */
  static async copyOf(root: string): Promise<Tree> {
    const folder = await mkdtemp(join(tmpdir(), 'linkspan-mutants-'));
    const parts = (await readdir(root)).filter((part) => !LEFT_OUT.includes(part));
    for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    return new Tree(folder);
  }

  /**
   * Does the work while the defect is in the tree.
   * @throws Error if the defect does not fit the code
   */
  async broken<T>(defect: Defect, work: () => Promise<T>): Promise<T> {
    const path = join(this.folder, defect.file);
    const text = await readFile(path, 'utf8');
    await writeFile(path, withDefect(defect, text));
    try {
      return await work();
    } finally {
      await writeFile(path, text);
    }
  }

  /** Does the work while all of the defects are in the tree. @throws Error if one does not fit the code */
  allBroken<T>(defects: readonly Defect[], work: () => Promise<T>): Promise<T> {
    const [first, ...others] = defects;
    return first === undefined ? work() : this.broken(first, () => this.allBroken(others, work));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
