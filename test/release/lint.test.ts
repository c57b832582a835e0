import { Linter } from 'eslint';
import { expect, it } from 'vitest';
import { plainComments } from '../../tools/lint/comments.ts';

/** Returns what the linter says of a comment. */
const saidOf = (comment: string): readonly string[] =>
  new Linter()
    .verify(`/** ${comment} */\nconst a = 1;`, {
      plugins: { linkspan: { rules: { plain: plainComments } } },
      rules: { 'linkspan/plain': 'error' },
    })
    .map(({ message }) => message);

it.each([
  ['The name; undefined: there is none.', 'undefined: '],
  ['Two replicas, of which the first leads.', ', of which the'],
  ['What is undone is no\n * repair.', 'is no repair'],
  ['Whoever\n * is told of it.', 'is told'],
  ['@throws Error if there is no such index', 'there is no such'],
])('the linter finds the habit of a comment: %s', (comment, habit) => {
  expect(saidOf(comment)).toEqual([expect.stringContaining(`says "${habit}"`)]);
});

it('the linter has nothing against a plain comment', () => {
  expect(saidOf('Returns the name, or undefined if there is none.')).toEqual([]);
});
