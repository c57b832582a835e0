/**
 * Parts of a construct. The whole reports the errors of all parts, by their paths in its own props.
 */
import type { IConstruct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { addInvalid, takeInvalid } from './invalid-props.ts';

/** Creates parts one by one, and collects their errors for the whole to report. */
export class Parts {
  readonly #whole: IConstruct;
  readonly #title: string;
  readonly #common: ReadonlySet<string>;
  readonly #errors: FieldError[] = [];
  readonly #reported = new Set<string>();

  /**
   * @param title name of the whole in errors
   * @param common props that all parts share: their errors are reported once, without a prefix
   */
  constructor(whole: IConstruct, title: string, common: ReadonlySet<string>) {
    this.#whole = whole;
    this.#title = title;
    this.#common = common;
  }

  /** Creates a part. The paths of its errors get the prefix. */
  make<T extends IConstruct>(prefix: string, part: () => T): T {
    const made = part();
    for (const each of takeInvalid(made)) {
      const path = this.#common.has(each.path) ? each.path : `${prefix}${each.path}`;
      // Each part reports the shared props.
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

  /** Records the errors for the whole, in addition to its own. */
  report(): void {
    addInvalid(this.#whole, { construct: this.#title, errors: this.#errors });
  }
}
