/**
 * One error for everything that is wrong with a construct's props, so that a user corrects all of it in one go.
 * Each error names the prop as the user wrote it (`ports[1].port`), quotes at most 64 characters of its value, and gives
 * the reason and the remedy. The values of secrets are not quoted.
 */
import { type FieldError, formatFieldErrors } from '../../crds/field-error.ts';

/** Thrown by a construct's constructor; carries every invalid prop, not just the first. */
export class InvalidPropsError extends Error {
  override readonly name = 'InvalidPropsError';
  /** The construct whose props are invalid, as in `MirrorService app/web-west`. */
  readonly construct: string;
  /** All errors, in the order of the props: at least one. */
  readonly errors: readonly FieldError[];

  constructor(construct: string, errors: readonly FieldError[]) {
    super(`${construct}: ${formatFieldErrors(errors)}`);
    this.construct = construct;
    this.errors = errors;
  }
}

/**
 * Refuses props with all that is wrong with them at once. A rule that finds nothing wrong gives `undefined`.
 * @throws InvalidPropsError if there is any error
 */
export const refuse = (construct: string, found: readonly (FieldError | undefined)[]): void => {
  const errors = found.filter((error) => error !== undefined);
  if (errors.length > 0) throw new InvalidPropsError(construct, errors);
};
