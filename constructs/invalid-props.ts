/**
 * One error for everything that is wrong with a construct's props, so that a user mends a manifest in one go.
 * Each finding names the prop as the user wrote it (`ports[1].port`), quotes a short piece of its value, and gives the
 * reason and the remedy. The values of secrets are not quoted.
 */
import { type FieldError, formatFieldErrors } from '../crds/validate.ts';

/** Thrown by a construct's constructor; carries every invalid prop, not just the first. */
export class InvalidPropsError extends Error {
  override readonly name = 'InvalidPropsError';
  /** The construct that refused, as in `MirrorService app/web-west`. */
  readonly construct: string;
  /** All findings, in the order of the props: at least one. */
  readonly errors: readonly FieldError[];

  constructor(construct: string, errors: readonly FieldError[]) {
    super(`${construct}: ${formatFieldErrors(errors)}`);
    this.construct = construct;
    this.errors = errors;
  }
}

/** What a rule has to say about a prop; `undefined` if it is fine. */
export type Finding = FieldError | undefined;

/**
 * Refuses props with all their findings at once.
 * @throws InvalidPropsError if there is any
 */
export const refuse = (construct: string, findings: readonly Finding[]): void => {
  const errors = findings.filter((finding) => finding !== undefined);
  if (errors.length > 0) throw new InvalidPropsError(construct, errors);
};
