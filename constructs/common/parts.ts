/**
 * The parts of a construct that is made of others: the errors of all parts are reported by the whole, by their paths in
 * its props.
 */
import type { IConstruct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { addInvalid, takeInvalid } from './invalid-props.ts';

/** Makes parts one by one and collects their errors, so that the whole reports them. */
export class Parts {
  readonly #whole: IConstruct;
  readonly #title: string;
  readonly #common: ReadonlySet<string>;
  readonly #errors: FieldError[] = [];
  readonly #reported = new Set<string>();

  /**
   * @param title what the whole is called in errors
   * @param common props that all parts are given: their errors are reported once, without a prefix
   */
  constructor(whole: IConstruct, title: string, common: ReadonlySet<string>) {
    this.#whole = whole;
    this.#title = title;
    this.#common = common;
  }

  /** Makes a part. The paths of its errors get the prefix. */
  make<T extends IConstruct>(prefix: string, part: () => T): T {
    const made = part();
    for (const each of takeInvalid(made)) {
      const path = this.#common.has(each.path) ? each.path : `${prefix}${each.path}`;
      // Each part reports the props that all are given.
      if (this.#reported.has(path)) continue;
      this.#reported.add(path);
      this.#errors.push({ ...each, path });
    }
    return made;
  }

  makeEach<P, T extends IConstruct>(
    path: string,
    all: readonly P[],
    part: (props: P, index: number) => T,
  ): readonly T[] {
    return all.map((props, index) => this.make(`${path}[${index}].`, () => part(props, index)));
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

  /** Records the errors with the whole, beside those that it has. */
  report(): void {
    addInvalid(this.#whole, { construct: this.#title, errors: this.#errors });
  }
}
