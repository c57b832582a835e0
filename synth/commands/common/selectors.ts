/** What commands select objects by, where the values are names that users have given. */
import { parseSelector, type Selector } from '../../../crds/selector.ts';

/** Labels and requirements, as a LabelSelector has them. */
export interface SelectorTerms {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists';
    readonly values?: readonly string[];
  }[];
}

/** The selector; undefined if no object can be selected, since a value is none that a label can have. */
export const selectorFor = (terms: SelectorTerms): Selector | undefined => {
  const parsed = parseSelector(terms, 'selector');
  return parsed.ok ? parsed.value : undefined;
};

/**
 * A selector whose values do not come from a user.
 * @throws Error if it is invalid: that is a mistake in the program
 */
export const fixedSelector = (terms: SelectorTerms): Selector => {
  const selector = selectorFor(terms);
  if (selector === undefined) throw new Error('a selector of this program is invalid');
  return selector;
};
