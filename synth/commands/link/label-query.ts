/** Label queries, as kubectl and Linkerd take them on the command line, as LabelSelectors. Pure. */
import { formatFieldErrors } from '../../../crds/field-error.ts';
import type { LabelSelector } from '../../../crds/link/types.gen.ts';
import { type LabelExpression, parseSelector, readRequirements } from '../../../crds/selector.ts';
import type { Problem } from '../common/command-error.ts';

export type QueryRead =
  { readonly ok: true; readonly selector: LabelSelector } | { readonly ok: false; readonly problem: Problem };

/**
 * Reads `a=b,c in (d,e),!f`. An empty query gives an empty selector, which selects nothing in a Link.
 * @param flag the flag, for messages
 */
export const readLabelQuery = (flag: string, query: string): QueryRead => {
  const no = (reason: string): QueryRead => ({
    ok: false,
    problem: { object: flag, reason, remedy: "write as in 'app=web,tier in (front,back),!internal'" },
  });
  const read = readRequirements(query);
  if (!read.ok) return no(`"${query}" must be a label query: "${read.part}" is no requirement on a label`);
  const matchLabels: Record<string, string> = {};
  const matchExpressions: LabelExpression[] = [];
  for (const expression of read.value) {
    const { key, operator, values = [] } = expression;
    const [value] = values;
    if (operator !== 'In' || values.length > 1 || value === undefined) matchExpressions.push(expression);
    else if (Object.hasOwn(matchLabels, key)) return no(`"${query}" must not ask for two values of ${key}`);
    else matchLabels[key] = value;
  }
  const selector = {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
  const checked = parseSelector(selector, '');
  return checked.ok ? { ok: true, selector } : no(formatFieldErrors(checked.errors));
};
