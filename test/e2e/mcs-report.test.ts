/** A report of the MCS requirements calls nothing conformant that is not. */
import { expect, test } from 'vitest';
import { reportOf, type Results } from './mcs-report.ts';

const results = (statusOf: (number: number) => string): Results => ({
  testResults: [
    {
      assertionResults: Array.from({ length: 27 }, (_, index) => ({
        ancestorTitles: ['the MCS conformance suite', 'gateway'],
        title: `${index + 1} A requirement${index === 19 ? ' (through gateways, one address for each)' : ''}`,
        status: statusOf(index + 1),
      })),
    },
  ],
});

test('what is not met is not conformant, although its test passes', () => {
  const report = reportOf(
    results(() => 'passed'),
    'gateway',
  );
  expect(report).toMatchObject({ passed: 26, total: 27 });
  expect(report.groups.map(({ name, tests }) => [name, tests.length])).toEqual([
    ['Required', 14],
    ['Optional', 13],
  ]);
  const unmet = report.groups.flatMap(({ tests }) => tests).filter(({ conformant }) => !conformant);
  expect(unmet).toMatchObject([{ desc: 'A requirement', passed: false, failed: false, skipped: false }]);
});

test('a test that fails, and one that was not run, are not passed', () => {
  const report = reportOf(
    results((number) => (number === 3 ? 'failed' : number === 4 ? 'pending' : 'passed')),
    'gateway',
  );
  expect(report.passed).toBe(24);
  expect(report.groups[0]!.tests[2]).toMatchObject({ failed: true, skipped: false });
  expect(report.groups[0]!.tests[3]).toMatchObject({ failed: false, skipped: true, conformant: false });
});

test('without results nothing is passed', () => {
  expect(reportOf({ testResults: [] }, 'flat')).toMatchObject({ passed: 0, total: 27 });
});
