/** The commands of a README, as its readers copy them: a block each. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../packaging/packed.ts';

/** One block of commands. */
export interface CommandBlock {
  /** Heading of its section. */
  readonly heading: string;
  readonly commands: string;
}

/** The blocks of an example's README, in their order. */
export const commandBlocks = (example: string): Promise<readonly CommandBlock[]> =>
  blocksOf(join('examples', example, 'README.md'));

/** The blocks of a page, in their order. @param path from the root */
export const blocksOf = async (path: string): Promise<readonly CommandBlock[]> => {
  const readme = await readFile(join(ROOT, path), 'utf8');
  return readme.split(/^## /m).flatMap((section) => {
    const [heading = ''] = section.split('\n');
    return [...section.matchAll(/^```(?:sh|console)\n(.*?)^```$/gms)].map(([, commands = '']) => ({
      heading,
      commands,
    }));
  });
};
