/**
 * The parts of a construct that is made of others: the errors of all parts are reported together, by their paths in the
 * props of the whole.
 */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { InvalidPropsError } from './invalid-props.ts';

/** Makes parts one by one and collects their errors, so that all are reported at once. */
export class Parts {
  readonly #common: ReadonlySet<string>;
  readonly #errors: FieldError[] = [];
  readonly #reported = new Set<string>();

  /** @param common props that all parts are given: their errors are reported once, without a prefix */
  constructor(common: ReadonlySet<string>) {
    this.#common = common;
  }

  /** Makes a part; undefined if its props are invalid. The paths of its errors get the prefix. */
  make<T>(prefix: string, part: () => T): T | undefined {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof InvalidPropsError)) throw error;
      for (const each of error.errors) {
        const path = this.#common.has(each.path) ? each.path : `${prefix}${each.path}`;
        // Each part reports the props that all are given.
        if (this.#reported.has(path)) continue;
        this.#reported.add(path);
        this.#errors.push({ ...each, path });
      }
      return undefined;
    }
  }

  makeEach<P, T>(path: string, all: readonly P[], part: (props: P, index: number) => T): readonly T[] {
    return all
      .map((props, index) => this.make(`${path}[${index}].`, () => part(props, index)))
      .filter((made) => made !== undefined);
  }

  add(error: FieldError): void {
    this.#errors.push(error);
  }

  /** Adds an error for each name that repeats another. */
  distinct(path: string, names: readonly string[]): void {
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index) this.add(fieldError(`${path}[${index}]`, name, 'must be unique'));
    }
  }

  refuse(construct: string): void {
    if (this.#errors.length > 0) throw new InvalidPropsError(construct, this.#errors);
  }
}
