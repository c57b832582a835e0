/**
 * What a construct refuses its props for, one text for each finding, without remedies: those are for people to read.
 */
import { Construct } from 'constructs';
import { invalidIn, InvalidPropsError } from '../../constructs/common/invalid-props.ts';
import { type FieldError, formatFieldErrors } from '../../crds/field-error.ts';

/** The findings that `compose` throws, or that the tree of the construct that it makes has; fails if there are none. */
export const errorsOf = (compose: () => unknown): readonly string[] => {
  const errors = found(compose);
  if (errors.length === 0) throw new Error('nothing was refused');
  return errors.map((error) => formatFieldErrors([withoutRemedy(error)]));
};

const found = (compose: () => unknown): readonly FieldError[] => {
  try {
    const made = compose();
    return Construct.isConstruct(made) ? invalidIn(made.node.root).flatMap(({ errors }) => errors) : [];
  } catch (error) {
    if (!(error instanceof InvalidPropsError)) throw error;
    return error.errors;
  }
};

const withoutRemedy = ({ path, value, reason }: FieldError): FieldError => ({
  path,
  reason,
  ...(value === undefined ? {} : { value }),
});
