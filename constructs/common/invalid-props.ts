/**
 * Errors of the props of constructs. A construct records its errors, and cdk8s reports the errors of all constructs of an
 * app together when it validates the tree. Each error has the path of the construct, the path of the prop
 * (`ports[1].port`), at most 64 characters of its value, the reason and the remedy. Values of secrets are never quoted.
 * Mirrors, which the operator renders, throw their errors at once.
 */
import type { IConstruct } from 'constructs';
import { type FieldError, formatFieldErrors } from '../../crds/field-error.ts';

/** Has an error for every invalid prop. Thrown by mirrors and by `render`. */
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
 * Refuses props with all errors at once. A rule without an error gives `undefined`.
 * @throws InvalidPropsError if there is any error
 */
export const refuse = (construct: string, found: readonly (FieldError | undefined)[]): void => {
  const errors = found.filter((error) => error !== undefined);
  if (errors.length > 0) throw new InvalidPropsError(construct, errors);
};

/** Errors of the props of one construct. */
export interface InvalidProps {
  /** The construct, as in `Link linkerd-multicluster/west`. */
  readonly construct: string;
  /** At least one. */
  readonly errors: readonly FieldError[];
}

/** By the root of the tree and the construct, in the order in which they were made. */
const recorded = new WeakMap<IConstruct, Map<IConstruct, InvalidProps>>();

/** Records the errors of a construct. Synthesis fails with all recorded errors. */
export const recordInvalid = (construct: IConstruct, invalid: InvalidProps): void => {
  const { root } = construct.node;
  const all = recorded.get(root) ?? new Map<IConstruct, InvalidProps>();
  recorded.set(root, all.set(construct, invalid));
  construct.node.addValidation({ validate: () => lines(all.get(construct)) });
};

/** Records further errors of a construct, except for paths that already have an error. */
export const addInvalid = (construct: IConstruct, { construct: title, errors }: InvalidProps): void => {
  const known = recorded.get(construct.node.root)?.get(construct);
  const further = errors.filter(({ path }) => !(known?.errors ?? []).some((each) => each.path === path));
  if (further.length === 0) return;
  if (known === undefined) recordInvalid(construct, { construct: title, errors: further });
  else recorded.get(construct.node.root)?.set(construct, { ...known, errors: [...known.errors, ...further] });
};

/** Recorded errors of the constructs in a tree. */
export const invalidIn = (scope: IConstruct): readonly InvalidProps[] =>
  [...(recorded.get(scope.node.root) ?? [])]
    .filter(([construct]) => construct.node.scopes.includes(scope))
    .map(([, invalid]) => invalid);

/** Removes and returns the recorded errors of a tree, for a construct around it to report by its own props. */
export const takeInvalid = (scope: IConstruct): readonly FieldError[] => {
  const all = recorded.get(scope.node.root);
  return [...(all ?? [])].flatMap(([construct, { errors }]) => {
    if (!construct.node.scopes.includes(scope)) return [];
    all?.delete(construct);
    return errors;
  });
};

/**
 * Throws the recorded errors of a tree.
 * @throws InvalidPropsError with all of them, if there are any
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
