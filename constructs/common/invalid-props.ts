/**
 * What is wrong with the props of constructs. A construct records its errors, and cdk8s reports those of all constructs
 * of an app at once when it validates the tree: each with the path of the construct, names the prop as the user wrote it
 * (`ports[1].port`), quotes at most 64 characters of its value, and gives the reason and the remedy. The values of secrets
 * are not quoted. Mirrors, which the operator renders, throw theirs at once.
 */
import type { IConstruct } from 'constructs';
import { type FieldError, formatFieldErrors } from '../../crds/field-error.ts';

/** Carries every invalid prop, not just the first. Thrown by mirrors and by `render`. */
export class InvalidPropsError extends Error {
  override readonly name = 'InvalidPropsError';
  /** The construct whose props are invalid, as in `MirrorService app/web-west`; of several the first. */
  readonly construct: string;
  /** All errors, in the order of the constructs and of their props: at least one. */
  readonly errors: readonly FieldError[];

  constructor(
    construct: string,
    errors: readonly FieldError[],
    message = `${construct}: ${formatFieldErrors(errors)}`,
  ) {
    super(message);
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

/** What is wrong with the props of one construct. */
export interface InvalidProps {
  /** The construct, as in `Link linkerd-multicluster/west`. */
  readonly construct: string;
  /** At least one. */
  readonly errors: readonly FieldError[];
}

/** By the root of the tree and the construct, in the order in which they were made. */
const recorded = new WeakMap<IConstruct, Map<IConstruct, InvalidProps>>();

/** Records what is wrong with the props of a construct: synthesis fails, with this and all else that is recorded. */
export const recordInvalid = (construct: IConstruct, invalid: InvalidProps): void => {
  const { root } = construct.node;
  const all = recorded.get(root) ?? new Map<IConstruct, InvalidProps>();
  recorded.set(root, all.set(construct, invalid));
  construct.node.addValidation({ validate: () => lines(all.get(construct)) });
};

/** Records further errors of a construct; those of which it has the path already are left out. */
export const addInvalid = (construct: IConstruct, { construct: title, errors }: InvalidProps): void => {
  const known = recorded.get(construct.node.root)?.get(construct);
  const further = errors.filter(({ path }) => !(known?.errors ?? []).some((each) => each.path === path));
  if (further.length === 0) return;
  if (known === undefined) recordInvalid(construct, { construct: title, errors: further });
  else recorded.get(construct.node.root)?.set(construct, { ...known, errors: [...known.errors, ...further] });
};

/** What was recorded of the constructs in a tree. */
export const invalidIn = (scope: IConstruct): readonly InvalidProps[] =>
  [...(recorded.get(scope.node.root) ?? [])]
    .filter(([construct]) => construct.node.scopes.includes(scope))
    .map(([, invalid]) => invalid);

/** Takes what was recorded of the constructs in a tree, for a construct around it to report by its own props. */
export const takeInvalid = (scope: IConstruct): readonly FieldError[] => {
  const all = recorded.get(scope.node.root);
  return [...(all ?? [])].flatMap(([construct, { errors }]) => {
    if (!construct.node.scopes.includes(scope)) return [];
    all?.delete(construct);
    return errors;
  });
};

/**
 * Fails for what was recorded in a tree.
 * @throws InvalidPropsError with all of it
 */
export const refuseInvalid = (root: IConstruct): void => {
  const all = [...(recorded.get(root)?.values() ?? [])];
  const [first] = all;
  if (first === undefined) return;
  throw new InvalidPropsError(
    first.construct,
    all.flatMap(({ errors }) => errors),
    all.map(({ construct, errors }) => `${construct}: ${formatFieldErrors(errors)}`).join('; '),
  );
};

const lines = (invalid: InvalidProps | undefined): string[] =>
  invalid?.errors.map((error) => `${invalid.construct}: ${formatFieldErrors([error])}`) ?? [];
