/**
 * No reference is dead: a rule that code, tests or pages cite is in docs/behaviour.md, a lesson in docs/lessons.md, and a link or path in a page leads
 * to something. A rename or a deletion that forgets its references fails here, with the file and the line.
 */
import { glob, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const SOURCES = ['*.{js,ts,md}', '{crds,constructs,operator,synth,test,docs,examples}/**/*.{js,ts,md}'];
const PAGES = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'examples/**/README.md'];
/** Pages that define ids: of rules, and of lessons. */
const RULES = ['docs/behaviour.md', 'docs/lessons.md'];
const IGNORED = ['**/node_modules/**', '**/dist/**'];

/** Something that a text refers to, and the line where it does, from 1. */
interface Reference {
  readonly to: string;
  readonly line: number;
}

/** What stands in the first group of `pattern`, or in all of it. */
const references = (text: string, pattern: RegExp): readonly Reference[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(pattern)].map((match) => ({ to: match[1] ?? match[0], line: index + 1 })),
    );

/** Ids of rules and lessons, such as A6 and L24, in whatever form they are cited. */
const citedRules = (text: string): readonly Reference[] => references(text, /\b[A-LP]\d{1,3}\b/g);

/** Where the repository is on the web. */
const ON_THE_WEB = manifest.repository.url.replace(/^git\+|\.git$/g, '');

/** Targets of Markdown links, except to other sites. */
const links = (page: string): readonly Reference[] =>
  references(withoutBlocks(page), /\]\(([^)\s]+)\)/g).filter(({ to }) => !/^[a-z]+:/.test(to));

/** Paths from the root of the repository that stand in backticks. */
const paths = (page: string): readonly Reference[] =>
  references(withoutBlocks(page), /`((?:crds|constructs|operator|synth|test|docs|examples|\.ci)\/[\w./-]*)`/g);

/** Paths from operator/ that stand in backticks, as on the map. */
const operatorPaths = (page: string): readonly Reference[] =>
  references(withoutBlocks(page), /`((?:config|kube|runtime|mirror|source|target|gateway|link)\/[\w./-]*)`/g).map(
    ({ to, line }) => ({ to: `operator/${to}`, line }),
  );

/** Pages that a source names by their path. */
const pagesNamed = (text: string): readonly Reference[] => references(text, /\bdocs\/[\w/-]+\.md\b/g);

/** The rules and lessons that a page defines, by a heading or a list item of their own. */
const definedRules = (page: string): readonly string[] =>
  references(page, /^(?:### |- \*\*)([A-LP]\d{1,3})\b/g).map(({ to }) => to);

/** Anchors of a page's headings, as GitHub makes them. */
const anchors = (page: string): readonly string[] =>
  references(withoutBlocks(page), /^#+ (.+)$/g).map(({ to }) =>
    to
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** A page with its fenced blocks emptied; lines keep their numbers. */
const withoutBlocks = (page: string): string =>
  page.replaceAll(/^(`{3,}).*?^\1$/gms, (block) => block.replaceAll(/[^\n]/g, ''));

async function read(patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const path of glob(patterns, { cwd: ROOT, exclude: IGNORED })) {
    found.set(path, await readFile(join(ROOT, path), 'utf8'));
  }
  return found;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Where a link leads, or why it does not. */
async function problemOf(page: string, to: string): Promise<string | undefined> {
  const [path = '', anchor] = to.split('#');
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!(await exists(target))) return 'there is no such file';
  if (anchor === undefined) return undefined;
  return anchors(await readFile(target, 'utf8')).includes(anchor) ? undefined : 'there is no such heading';
}

test('every rule that is cited is in docs/behaviour.md, and every lesson in docs/lessons.md', async () => {
  const sources = await read(SOURCES);
  const defined = new Set(RULES.flatMap((page) => definedRules(sources.get(page) ?? '')));
  const cited = [...sources].flatMap(([path, text]) => citedRules(text).map((each) => ({ path, ...each })));
  expect(new Set(cited.map(({ path }) => path)).size, 'files that cite a rule').toBeGreaterThan(50);
  expect(cited.filter(({ to }) => !defined.has(to)).map(({ path, line, to }) => `${path}:${line} cites ${to}`)).toEqual(
    [],
  );
});

test('each id is defined once, those of lessons on the page of lessons', async () => {
  const [rules = [], lessons = []] = await Promise.all(
    RULES.map(async (page) => definedRules(await readFile(join(ROOT, page), 'utf8'))),
  );
  expect(rules.filter((id) => id.startsWith('L'))).toEqual([]);
  expect(lessons.filter((id) => !id.startsWith('L'))).toEqual([]);
  const defined = [...rules, ...lessons];
  expect(defined.filter((id, index) => defined.indexOf(id) < index)).toEqual([]);
});

test('every link in a page leads to a file, and to a heading of it', async () => {
  const dead: string[] = [];
  for (const [page, text] of await read(PAGES)) {
    for (const { to, line } of links(text)) {
      const problem = await problemOf(page, to);
      if (problem !== undefined) dead.push(`${page}:${line} links to ${to}: ${problem}`);
    }
  }
  expect(dead).toEqual([]);
});

test('a page links to the files beside it, and not to those of another version on the web', async () => {
  const absolute: string[] = [];
  for (const [page, text] of await read(PAGES)) {
    for (const { to, line } of references(text, /\]\((https?:[^)\s]+)\)/g)) {
      if (/\/(blob|tree|raw)\//.test(to) && to.startsWith(ON_THE_WEB)) absolute.push(`${page}:${line} links to ${to}`);
    }
  }
  expect(absolute).toEqual([]);
});

test('the README is 120 lines at most', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});

test('every path of the repository that a page names exists, and so does every page that code names', async () => {
  const dead: string[] = [];
  const check = async (source: string, found: readonly Reference[]): Promise<void> => {
    for (const { to, line } of found) {
      if (!(await exists(join(ROOT, to)))) dead.push(`${source}:${line} names ${to}`);
    }
  };
  for (const [page, text] of await read(PAGES)) await check(page, paths(text));
  for (const [map, text] of await read(['docs/architecture.md'])) await check(map, operatorPaths(text));
  for (const [source, text] of await read(SOURCES)) await check(source, pagesNamed(text));
  expect(dead).toEqual([]);
});

test('references are found in each form that they are written in', async () => {
  const ids = (text: string): readonly string[] => citedRules(text).map(({ to }) => to);
  expect(ids('never written to (rule A3); rules E2, E3 and D1 to D3, "L13 A6: …"')).toEqual(
    'A3 E2 E3 D1 D3 L13 A6'.split(' '),
  );
  expect(ids('SHA1, IPv4, v1, ABC12, k8s')).toEqual([]);
  expect(links('see [a](b.md#c) and [d](https://e.f)\n```\n[x](y)\n```\n[g](h)')).toEqual([
    { to: 'b.md#c', line: 1 },
    { to: 'h', line: 5 },
  ]);
  expect(paths('`operator/kube`, `namespace/name`, `docs/adr/`').map(({ to }) => to)).toEqual([
    'operator/kube',
    'docs/adr/',
  ]);
  expect(await problemOf('docs/behaviour.md', 'architecture.md#glossary')).toBeUndefined();
  expect(await problemOf('docs/behaviour.md', 'architecture.md#nothing')).toBe('there is no such heading');
  expect(await problemOf('docs/behaviour.md', 'nothing.md')).toBe('there is no such file');
});
