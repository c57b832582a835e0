/** Label queries, as kubectl and Linkerd take them on the command line, as LabelSelectors. Pure. */
import type { LabelSelector } from '../../../crds/link/types.gen.ts';
import { formatFieldErrors } from '../../../crds/field-error.ts';
import { parseSelector } from '../../../crds/selector.ts';
import type { Problem } from '../common/command-error.ts';

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

export type QueryRead =
  { readonly ok: true; readonly selector: LabelSelector } | { readonly ok: false; readonly problem: Problem };

/** One requirement of a query. A comma in parentheses separates values. */
const REQUIREMENTS = /(?:[^,(]|\([^)]*\))+/g;
const SET = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const EQUAL = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/;
const EXISTS = /^(!?)\s*([^=!\s]+)$/;

/**
 * Reads `a=b,c in (d,e),!f`. An empty query gives an empty selector, which selects nothing in a Link.
 * @param flag the flag, for messages
 */
export const readLabelQuery = (flag: string, query: string): QueryRead => {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: Requirement[] = [];
  const no = (reason: string): QueryRead => ({
    ok: false,
    problem: { object: flag, reason, remedy: "write as in 'app=web,tier in (front,back),!internal'" },
  });
  if (query.trim() === '') return { ok: true, selector: {} };
  const parts = query.match(REQUIREMENTS) ?? [];
  if (parts.join(',') !== query) return no(`"${query}" must be a label query`);
  for (const part of parts.map((each) => each.trim())) {
    const [, setKey, operator, values = ''] = SET.exec(part) ?? [];
    const [, key, sign, value = ''] = EQUAL.exec(part) ?? [];
    const [, negation, label] = EXISTS.exec(part) ?? [];
    if (setKey !== undefined) {
      const all = values.split(',').map((each) => each.trim());
      matchExpressions.push({ key: setKey, operator: operator === 'in' ? 'In' : 'NotIn', values: all });
    } else if (key !== undefined && sign === '!=') {
      matchExpressions.push({ key, operator: 'NotIn', values: [value] });
    } else if (key !== undefined) {
      if (Object.hasOwn(matchLabels, key)) return no(`"${query}" must not ask for two values of ${key}`);
      matchLabels[key] = value;
    } else if (label !== undefined) {
      matchExpressions.push({ key: label, operator: negation === '!' ? 'DoesNotExist' : 'Exists' });
    } else {
      return no(`"${part}" must be a requirement on a label`);
    }
  }
  const selector = {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
  const checked = parseSelector(selector, '');
  return checked.ok ? { ok: true, selector } : no(formatFieldErrors(checked.errors));
};
