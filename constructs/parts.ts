/**
 * The parts of a construct that is made of others: what each of them refuses is said together, by its path in the props
 * of the whole.
 */
import { type FieldError, fieldError } from '../crds/field-error.ts';
import { InvalidPropsError } from './invalid-props.ts';

/** Makes parts one by one and collects what they refuse, so that it can be said all at once. */
export class Parts {
  readonly #common: ReadonlySet<string>;
  readonly #errors: FieldError[] = [];
  readonly #said = new Set<string>();

  /** @param common props that all parts are given: said of the whole, and once */
  constructor(common: ReadonlySet<string>) {
    this.#common = common;
  }

  /** Undefined if the part refuses its props; their paths get the prefix. */
  make<T>(prefix: string, part: () => T): T | undefined {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof InvalidPropsError)) throw error;
      for (const each of error.errors) {
        const path = this.#common.has(each.path) ? each.path : `${prefix}${each.path}`;
        // What all parts are given is refused by each of them.
        if (this.#said.has(path)) continue;
        this.#said.add(path);
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

  refuses(error: FieldError): void {
    this.#errors.push(error);
  }

  /** Takes note of names that are there twice. */
  distinct(path: string, names: readonly string[]): void {
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index) this.refuses(fieldError(`${path}[${index}]`, name, 'must be unique'));
    }
  }

  refuse(construct: string): void {
    if (this.#errors.length > 0) throw new InvalidPropsError(construct, this.#errors);
  }
}
