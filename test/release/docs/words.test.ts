/** Words that the pages do without, each with the reason. Code in them is left alone. */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PAGES = ['*.md', 'docs/**/*.md', 'examples/*/README.md', '.github/**/*.md'];

/** Words and phrases as regular expressions, by what is wrong with them. */
const AVOIDED: Readonly<Record<string, readonly string[]>> = {
  'what is plain to its writer is not plain to who reads it: leave it out': [
    'simply|obviously|of course|clearly|trivial(?:ly)?|straightforward|eas(?:y|ily|ier)|merely|needless to say',
    'just (?:run|add|set|use|install|apply|call|write|do|need|click|copy)',
  ],
  'it praises and says nothing: give the fact or the figure': [
    'leverag(?:e|es|ing)|robust|seamless(?:ly)?|(?<!least )powerful|blazing(?:ly)?|effortless(?:ly)?|elegant(?:ly)?',
    'cutting-edge|state-of-the-art|battle-tested|world-class|enterprise-grade|production-(?:ready|grade)|next-generation',
    'comprehensive|intuitive(?:ly)?|magical(?:ly)?|lightning|amazing|awesome|unlocks?|empowers?|rich set',
  ],
  'it adds a word and no meaning: leave it out': [
    'please|note that|(?:it )?should be noted|basically|actually|really|quite|in order to|in terms of',
  ],
  'there is a shorter word: use, for example, that is, and so on': [
    'utili[sz](?:e|es|ing)',
    'e\\.g\\.|i\\.e\\.|etc\\.',
  ],
  'it is read twice: say "like that of …", or write a second sentence': ['as that of', 'what ails', 'as it were'],
};

interface Found {
  readonly word: string;
  readonly line: number;
  readonly why: string;
}

/** A page with its code blanked out; everything keeps its place. */
const withoutCode = (page: string): string =>
  page
    .replaceAll(/^(`{3,}).*?^\1$/gms, (block) => block.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[^\n]/g, ' '));

const avoidedIn = (page: string): readonly Found[] => {
  const prose = withoutCode(page);
  return Object.entries(AVOIDED).flatMap(([why, patterns]) =>
    patterns.flatMap((pattern) => {
      const words = new RegExp(`(?<![\\w-])(?:${pattern.replaceAll(' ', '\\s+')})(?![\\w-])`, 'giu');
      return [...prose.matchAll(words)].map(({ 0: word, index }) => ({
        word: word.replaceAll(/\s+/g, ' '),
        line: prose.slice(0, index).split('\n').length,
        why,
      }));
    }),
  );
};

test('no page has a word that is avoided', async () => {
  const found: string[] = [];
  let pages = 0;
  for await (const path of glob(PAGES, { cwd: ROOT, exclude: ['**/node_modules/**'] })) {
    pages += 1;
    const page = await readFile(join(ROOT, path), 'utf8');
    found.push(...avoidedIn(page).map(({ word, line, why }) => `${path}:${line} says "${word}": ${why}`));
  }
  expect(pages).toBeGreaterThan(60);
  expect(found).toEqual([]);
});

test.each([
  ['It is simply robust.', ['simply', 'robust']],
  ['Please\nnote\nthat it works', ['Please', 'note that']],
  ['Just run it, e.g. twice.', ['Just run', 'e.g.']],
  ['a Secret that a controller keeps, as\n  that of Argo CD', ['as that of']],
])('words are found wherever they stand: %j', (page, words) => {
  expect(avoidedIn(page).map(({ word }) => word)).toEqual(words);
});

test('words are not found in code, nor in other words', () => {
  const page = 'the least powerful kind, `please` and\n```sh\nnote that\n```\nunlocked, robustness, just now, easel';
  expect(avoidedIn(page)).toEqual([]);
});

test('the line of a word is named', () => {
  expect(avoidedIn('a\n\n```\nb\n```\nwe utilize it')).toMatchObject([{ word: 'utilize', line: 6 }]);
});
