/**
 * What a construct refuses its props for, one text for each finding, without remedies: those are for people to read.
 */
import { InvalidPropsError } from '../../constructs/common/invalid-props.ts';
import { type FieldError, formatFieldErrors } from '../../crds/field-error.ts';

/** The findings of the InvalidPropsError that `compose` throws; fails if it throws none. */
export const errorsOf = (compose: () => unknown): readonly string[] => {
  try {
    compose();
  } catch (error) {
    if (!(error instanceof InvalidPropsError)) throw error;
    return error.errors.map((found) => formatFieldErrors([withoutRemedy(found)]));
  }
  throw new Error('nothing was refused');
};

const withoutRemedy = ({ path, value, reason }: FieldError): FieldError => ({
  path,
  reason,
  ...(value === undefined ? {} : { value }),
});
