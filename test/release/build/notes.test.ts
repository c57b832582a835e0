/** The notes of a release are the section of its version in CHANGELOG.md, and nothing else. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { notesOf } from '../../../tools/release/notes.ts';

const CHANGELOG = `# Changelog

## 0.10.0 (2027-01-02)

- Ten

### In depth

Text

## 0.1.0

- One

## 0.0.9
`;

test('are what stands below the heading of the version, with and without a date', () => {
  expect(notesOf(CHANGELOG, '0.10.0')).toBe('- Ten\n\n### In depth\n\nText\n');
  expect(notesOf(CHANGELOG, '0.1.0')).toBe('- One\n');
});

test.each(['0.2.0', '0.1', '', 'Changelog'])('there are none for %j, which has no section', (version) => {
  expect(() => notesOf(CHANGELOG, version)).toThrow(`CHANGELOG.md: no section of ${version}`);
});

test('there are none for a version whose section is empty', () => {
  expect(() => notesOf(CHANGELOG, '0.0.9')).toThrow('the section of 0.0.9 is empty');
});

test('the version of the package has some', async () => {
  const changelog = await readFile(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
  const notes = notesOf(changelog, manifest.version);
  expect(notes).not.toMatch(/^#{1,2} /m);
  expect(notes.length).toBeGreaterThan(100);
});
