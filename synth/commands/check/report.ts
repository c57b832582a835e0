/**
 * What a check prints: a table in the manner of `linkerd check`, or JSON in its form with our ids and findings. Text from
 * clusters is cut, and has no control characters. Pure.
 */
import { MAX_CONDITION_MESSAGE } from '../../../operator/kube/conditions.ts';
import { pageUrl } from '../../../crds/pages.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { reportText } from '../common/output.ts';
import type { Check, Finding } from './check-type.ts';

/** Where the page of checks of this version is. */
const PAGE = pageUrl('docs/checks.md');

export type Result = 'success' | 'warning' | 'error' | 'skipped';

/** What became of one check. */
export interface Checked {
  readonly id: string;
  readonly category: string;
  readonly title: string;
  readonly result: Result;
  /** What is wrong; nothing if the result is `success` or `skipped`. */
  readonly findings: readonly Finding[];
  /** Why it was skipped. */
  readonly skipped?: string;
  /** What of it could not be judged, and why. */
  readonly partly?: string;
}

/** Judges what was read by each of the checks. */
export const runChecks = <Facts>(checks: readonly Check<Facts>[], facts: Facts): readonly Checked[] =>
  checks.map(({ id, category, title, judge }) => {
    const judgement = judge(facts);
    if ('skipped' in judgement)
      return { id, category, title, result: 'skipped', findings: [], skipped: judgement.skipped };
    const findings = judgement.findings.map(safe);
    const { partly } = judgement;
    return {
      id,
      category,
      title,
      result: worst(findings),
      findings,
      ...(partly !== undefined && { partly: cut(partly) }),
    };
  });

const safe = ({ level, object, reason, remedy }: Finding): Finding => ({
  level,
  object: cut(object),
  reason: cut(reason, MAX_CONDITION_MESSAGE),
  remedy: cut(remedy, MAX_CONDITION_MESSAGE),
});

const worst = (findings: readonly Finding[]): Result =>
  findings.some(({ level }) => level === 'error') ? 'error' : findings.length > 0 ? 'warning' : 'success';

/** Reports whether nothing is wrong, warnings aside. */
export const isSuccess = (all: readonly Checked[]): boolean => all.every(({ result }) => result !== 'error');

const hintOf = (id: string): string => `${PAGE}#${id}`;

/**
 * As `linkerd check -o json`, with ids, findings, and checks that were skipped.
 * @param more what is reported besides, by its field
 */
export const jsonReport = (all: readonly Checked[], more: Readonly<Record<string, object | undefined>> = {}): string =>
  reportText(
    {
      ...more,
      success: isSuccess(all),
      categories: [...Map.groupBy(all, ({ category }) => category)].map(([categoryName, checks]) => ({
        categoryName,
        checks: checks.map(({ id, title, result, findings, skipped, partly }) => ({
          id,
          description: title,
          ...(findings.length > 0 && { hint: hintOf(id), error: findings.map(lineOf).join('\n') }),
          ...(skipped !== undefined && { skipped }),
          ...(partly !== undefined && { partly }),
          result,
          ...(findings.length > 0 && { findings }),
        })),
      })),
    },
    'json',
  );

const lineOf = ({ object, reason, remedy }: Finding): string => `${object}: ${reason} (${remedy})`;

const SIGNS: Readonly<Record<Result, string>> = { success: '√', warning: '‼', error: '×', skipped: '-' };

/** As `linkerd check` prints it. */
export const tableReport = (all: readonly Checked[]): string => {
  const categories = [...Map.groupBy(all, ({ category }) => category)].map(([category, checks]) =>
    [category, '-'.repeat(category.length), ...checks.flatMap(linesOf), ''].join('\n'),
  );
  return [...categories, `Status check results are ${SIGNS[isSuccess(all) ? 'success' : 'error']}`, ''].join('\n');
};

/** Findings of a check that a table shows; JSON has all. */
const SHOWN = 20;

const linesOf = ({ id, title, result, findings, skipped, partly }: Checked): readonly string[] => [
  `${SIGNS[result]} ${title}${skipped === undefined ? '' : ` (skipped: ${skipped})`}${partly === undefined ? '' : ` (not judged: ${partly})`}`,
  ...findings
    .slice(0, SHOWN)
    .flatMap(({ level, object, reason, remedy }) => [`    ${SIGNS[level]} ${object}: ${reason}`, `      → ${remedy}`]),
  ...(findings.length > SHOWN ? [`    and ${findings.length - SHOWN} more, which -o json prints`] : []),
  ...(findings.length > 0 ? [`    see ${hintOf(id)} for hints`] : []),
];
