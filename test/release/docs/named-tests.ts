/** Tests that pages name as proofs: `path`: title, in cells of tables. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A test that a page names. */
export interface NamedTest {
  readonly path: string;
  /** As its file has it, or the name of a row of its table. */
  readonly title: string;
}

/** The rows of all tables of a page, as their cells. */
export const tableRows = (page: string): readonly (readonly string[])[] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );

/** The tests that a cell names, one a line. */
export const testsNamed = (cell: string): readonly NamedTest[] =>
  cell.split('<br>').flatMap((line) => {
    const [, path, title] = /^`(test\/[^`]+\.test\.ts)`: (.+)$/.exec(line) ?? [];
    return path === undefined || title === undefined ? [] : [{ path, title: title.replaceAll('\\', '') }];
  });

/** Whether the file has a test, or a row of one, of just this title. */
export const isThere = async ({ path, title }: NamedTest): Promise<boolean> => {
  const source = await readFile(join(ROOT, path), 'utf8').catch(() => '');
  const plain = source.replaceAll("\\'", "'");
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((literal) => plain.includes(literal));
};
