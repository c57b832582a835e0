/**
 * Named indexes over the objects of a store: each files an object under the values that a function reads from it, so
 * that all objects of one value are found without a scan.
 */

/** The values that an object is filed under, by the name of the index. */
export type IndexFunctions<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** A list that is longer is kept until it changes: what is made of it then is made once. */
const LONG = 16;

export class Indexes<T> {
  readonly #functions: IndexFunctions<T>;
  /** Index name → value → key → object. */
  readonly #filed = new Map<string, Map<string, Map<string, T>>>();
  /** Long lists of what is filed, as they are now. */
  readonly #lists = new WeakMap<Map<string, T>, readonly T[]>();

  constructor(functions: IndexFunctions<T>) {
    this.#functions = functions;
    for (const name of Object.keys(functions)) this.#filed.set(name, new Map());
  }

  /**
   * The objects that an index files under a value; the same list while it is long and does not change.
   * @throws Error if no index has that name
   */
  by(name: string, value: string): readonly T[] {
    const filed = this.#index(name).get(value);
    if (filed === undefined) return [];
    const list = this.#lists.get(filed) ?? [...filed.values()];
    if (list.length > LONG) this.#lists.set(filed, list);
    return list;
  }

  /** The values that an index files anything under. @throws Error if no index has that name */
  values(name: string): IterableIterator<string> {
    return this.#index(name).keys();
  }

  /** Moves the object of a key from where `before` was filed to where `after` belongs. */
  refile(key: string, before: T | undefined, after: T | undefined): void {
    for (const [name, valuesOf] of Object.entries(this.#functions)) {
      const index = this.#index(name);
      const values = after === undefined ? [] : valuesOf(after);
      for (const value of before === undefined ? [] : valuesOf(before)) {
        const filed = index.get(value);
        // An object that changes keeps its place: what two lists do not share is found by that.
        if (filed === undefined || values.includes(value)) continue;
        filed.delete(key);
        this.#lists.delete(filed);
        if (filed.size === 0) index.delete(value);
      }
      if (after === undefined) continue;
      for (const value of values) {
        const filed = index.get(value) ?? new Map<string, T>();
        filed.set(key, after);
        this.#lists.delete(filed);
        index.set(value, filed);
      }
    }
  }

  #index(name: string): Map<string, Map<string, T>> {
    const index = this.#filed.get(name);
    if (index === undefined) throw new Error(`store has no index "${name}"`);
    return index;
  }
}
