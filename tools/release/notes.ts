/**
 * The notes of a release: what CHANGELOG.md has under its version, without the heading.
 *
 *     node tools/release/notes.ts 0.1.0
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @throws Error if there is no section of the version, or nothing in it */
export const notesOf = (changelog: string, version: string): string => {
  const [, ...sections] = `\n${changelog}`.split(/\n## +/);
  const found = sections.find((section) => section.split('\n')[0]?.split(' ')[0] === version);
  const notes = found?.slice(found.indexOf('\n')).trim() ?? '';
  if (found === undefined) throw new Error(`CHANGELOG.md: no section of ${version} (add "## ${version}")`);
  if (notes === '') throw new Error(`CHANGELOG.md: the section of ${version} is empty (say what is new)`);
  return `${notes}\n`;
};

if (import.meta.main) {
  const changelog = await readFile(join(import.meta.dirname, '..', '..', 'CHANGELOG.md'), 'utf8');
  process.stdout.write(notesOf(changelog, process.argv[2] ?? ''));
}
