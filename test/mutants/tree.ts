/** A copy of the working tree in a temporary folder, in which files may be broken. The user's tree is never written to. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Defect, withDefect } from './defect.ts';

/** What the tests of the operator need. */
const PARTS = ['constructs', 'crds', 'operator', 'synth', 'test', 'package.json', 'tsconfig.json'];

/** Built API servers: large, and no test of one defect starts them. */
const LEFT_OUT = join('test', 'cluster', 'bin');

export class Tree {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Copies the tree whose root is `root`. */
  static async copyOf(root: string): Promise<Tree> {
    const folder = await mkdtemp(join(tmpdir(), 'linkspan-mutants-'));
    const leftOut = join(root, LEFT_OUT);
    for (const part of PARTS) {
      await cp(join(root, part), join(folder, part), { recursive: true, filter: (source) => source !== leftOut });
    }
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
