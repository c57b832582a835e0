/**
 * `node test/e2e/mcs-report.ts RESULTS gateway|flat`: what the tests of the MCS requirements came to, in the form in which
 * SIG-Multicluster collects conformance reports. RESULTS is what vitest writes with `--reporter=json`.
 */
import { readFile } from 'node:fs/promises';
import { dump } from 'js-yaml';
import manifest from '../../package.json' with { type: 'json' };
import type { Reach } from '../support/conformance.ts';

/** The part of vitest's results that is read. */
export interface Results {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** Number of the last requirement that the suite calls required; 15 to 27 are optional. */
const LAST_REQUIRED = 14;
const COUNT = 27;

/** Requirements of which a test shows what there is in their place (docs/mcs.md). */
const UNMET: Readonly<Record<Reach, Readonly<Record<number, string>>>> = {
  gateway: { 20: 'DNS answers with an address for each pod, which are not those of the pods' },
  flat: {
    26: 'Linkerd takes all pods of a cluster that exports, whichever ports it exposes',
    27: 'Linkerd takes all pods of a cluster that exports, whichever ports it exposes',
  },
};

interface TestResult {
  readonly desc: string;
  readonly passed: boolean;
  readonly failed: boolean;
  readonly skipped: boolean;
  readonly conformant: boolean;
  readonly message?: string;
}

/** Returns the report of one reach. A requirement without a test counts as skipped; one of several tests needs them all. */
export function reportOf({ testResults }: Results, reach: Reach) {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const here = all.filter(({ ancestorTitles }) => ancestorTitles.includes(reach));
  const resultOf = (number: number): TestResult => {
    const tests = here.filter(({ title }) => title.startsWith(`${number} `));
    const [first] = tests;
    const skipped = tests.every(({ status }) => status === 'pending' || status === 'skipped');
    const succeeded = !skipped && tests.every(({ status }) => status === 'passed');
    const unmet = UNMET[reach][number];
    const passed = succeeded && unmet === undefined;
    const message = unmet === undefined ? {} : { message: unmet };
    const desc = (first?.title ?? `${number} `).replace(/^\d+ /, '').replace(/ \((?:not|through) [^)]*\)$/, '');
    return {
      desc,
      passed,
      failed: !skipped && !succeeded,
      skipped,
      conformant: unmet === undefined && !skipped,
      ...message,
    };
  };
  const numbers = Array.from({ length: COUNT }, (_, index) => index + 1);
  const groups = [
    { name: 'Required', tests: numbers.filter((number) => number <= LAST_REQUIRED).map(resultOf) },
    { name: 'Optional', tests: numbers.filter((number) => number > LAST_REQUIRED).map(resultOf) },
  ];
  return {
    implementation: {
      organization: 'linkspan-dev',
      project: `Linkspan, ${reach === 'flat' ? 'flat networks' : 'through gateways'} (own tests of the requirements)`,
      version: `v${manifest.version}`,
      url: manifest.repository.url.replace(/^git\+|\.git$/g, ''),
    },
    passed: groups.flatMap(({ tests }) => tests).filter(({ passed }) => passed).length,
    total: COUNT,
    groups,
  };
}

if (import.meta.main) {
  const [path, reach] = process.argv.slice(2);
  if (path === undefined || (reach !== 'gateway' && reach !== 'flat')) {
    process.stderr.write('usage: node test/e2e/mcs-report.ts RESULTS gateway|flat\n');
    process.exit(2);
  }
  process.stdout.write(dump(reportOf(JSON.parse(await readFile(path, 'utf8')) as Results, reach), { lineWidth: -1 }));
}
