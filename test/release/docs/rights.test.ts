/** The page of rights explains every right that is granted. */
import { expect, test } from 'vitest';
import { rightsTables } from './rights.ts';

test.each(rightsTables())('H6: $heading has a reason for each right', ({ grants }) => {
  const rules = grants.flatMap((grant) => grant.rules);
  expect(rules).not.toEqual([]);
  expect(rules.filter(({ why = '' }) => why === '')).toEqual([]);
});
