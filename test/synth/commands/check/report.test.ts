/** What a check prints. */
import { expect, test } from 'vitest';
import { ACCESS_CHECKS } from '../../../../synth/commands/check/access/checks.ts';
import { type Check, error, judged, skipped, warning } from '../../../../synth/commands/check/check-type.ts';
import { CHECKS } from '../../../../synth/commands/check/checks/index.ts';
import { PRE_CHECKS } from '../../../../synth/commands/check/pre/checks.ts';
import { isSuccess, jsonReport, runChecks, tableReport } from '../../../../synth/commands/check/report.ts';

const check = (id: string, category: string, judge: Check<undefined>['judge']): Check<undefined> => ({
  id,
  category,
  title: `${id} is well`,
  means: '',
  remedy: '',
  judge,
});

const ALL = [
  check('one', 'first', () => judged([])),
  check('two', 'first', () => judged([warning('Link a/b', 'is old', 'renew it')])),
  check('three', 'second', () => judged([error('Link a/c', 'is\u001b[31m gone\n× fake', 'make it')])),
  check('four', 'second', () => skipped('there is no Link')),
];

test('a table has a section for each category, a line for each check, and the remedy below what is wrong', () => {
  expect(tableReport(runChecks(ALL, undefined))).toBe(`first
-----
√ one is well
‼ two is well
    ‼ Link a/b: is old
      → renew it
    see https://github.com/linkspan-dev/linkspan/blob/v0.1.0/docs/checks.md#two for hints

second
------
× three is well
    × Link a/c: is [31m gone × fake
      → make it
    see https://github.com/linkspan-dev/linkspan/blob/v0.1.0/docs/checks.md#three for hints
- four is well (skipped: there is no Link)

Status check results are ×
`);
});

test('a table shows twenty findings of a check, JSON all', () => {
  const many = Array.from({ length: 22 }, (_, index) => error(`Service shop/${index}`, 'is gone', 'make it'));
  const all = runChecks([check('many', 'first', () => judged(many))], undefined);
  expect(tableReport(all)).toContain(
    '× Service shop/19: is gone\n      → make it\n    and 2 more, which -o json prints\n',
  );
  expect(jsonReport(all)).toContain('Service shop/21');
});

test('JSON has the form of linkerd check, with ids and findings', () => {
  const [first, second] = (JSON.parse(jsonReport(runChecks(ALL, undefined))) as { categories: object[] }).categories;
  expect(first).toEqual({
    categoryName: 'first',
    checks: [
      { id: 'one', description: 'one is well', result: 'success' },
      {
        id: 'two',
        description: 'two is well',
        hint: 'https://github.com/linkspan-dev/linkspan/blob/v0.1.0/docs/checks.md#two',
        error: 'Link a/b: is old (renew it)',
        result: 'warning',
        findings: [{ level: 'warning', object: 'Link a/b', reason: 'is old', remedy: 'renew it' }],
      },
    ],
  });
  expect(second).toMatchObject({
    checks: [{ result: 'error' }, { id: 'four', result: 'skipped', skipped: 'there is no Link' }],
  });
});

test('warnings alone are a success', () => {
  expect(isSuccess(runChecks(ALL.slice(0, 2), undefined))).toBe(true);
  expect(isSuccess(runChecks(ALL, undefined))).toBe(false);
});

test('every check has an id of its own, and all that the page of checks shows', () => {
  const all = [...CHECKS, ...PRE_CHECKS, ...ACCESS_CHECKS];
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  for (const { id, title, means, remedy } of all) {
    expect(id).toMatch(/^[a-z][a-z-]+$/);
    for (const text of [title, means, remedy]) expect(text.length, id).toBeGreaterThan(10);
  }
});
