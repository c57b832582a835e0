/**
 * The namespaces of a cluster in which ServiceExports are read, one by one, or all of them together. A list that takes
 * exports away in one of them reports how many only if all are counted together (rule E6): the others are listed anew,
 * and until that is done nothing is known to be gone. Nothing is read here.
 */
import type { KindState } from '../../runtime/optional-kind.ts';

/** In place of a namespace: all of them. */
export const WHOLE = '';

export class ExportNamespaces {
  readonly #namespaces: readonly string[] | undefined;
  readonly #stateIn: (namespace: string) => KindState;
  /** Those that are being listed anew since another has lost some. */
  readonly #recounted = new Set<string>();

  /**
   * @param namespaces the only ones that are read; undefined for all
   * @param stateIn returns whether the exports of a namespace that is read can be
   */
  constructor(namespaces: readonly string[] | undefined, stateIn: (namespace: string) => KindState) {
    this.#namespaces = namespaces;
    this.#stateIn = stateIn;
  }

  /** Reports whether a namespace is read. */
  includes(namespace: string): boolean {
    return this.#namespaces?.includes(namespace) ?? true;
  }

  /** Reports whether exports of a namespace can be known; of one that is not read, whether any can be. */
  isReadable(namespace: string): boolean {
    if (this.#namespaces === undefined || this.includes(namespace)) return this.#stateIn(namespace) === 'readable';
    return this.#namespaces.some((each) => this.#stateIn(each) === 'readable');
  }

  /** Reports whether it is known which exports a namespace has, and no other is being counted. */
  isCounted(namespace: string): boolean {
    return this.isReadable(namespace) && this.#recounted.size === 0;
  }

  /** Returns what a namespace is read with: itself, or {@link WHOLE}. */
  partOf(namespace: string): string {
    return this.#namespaces === undefined ? WHOLE : namespace;
  }

  /**
   * Notes that a namespace was listed.
   * @param namespace undefined for all of them together
   * @param lost number of exports that the list took away
   * @returns the namespaces that are to be listed anew, to be counted with it
   */
  listed(namespace: string | undefined, lost: number): readonly string[] {
    if (namespace === undefined) return [];
    const isAskedFor = this.#recounted.delete(namespace);
    if (lost === 0 || isAskedFor) return [];
    const others = (this.#namespaces ?? []).filter((other) => other !== namespace && this.isReadable(other));
    for (const other of others) this.#recounted.add(other);
    return others;
  }

  /**
   * Notes that it may have changed which can be read: those that cannot be are not waited for.
   * @returns the parts that cannot be read
   */
  reconsider(): readonly string[] {
    const unreadable = (this.#namespaces ?? [WHOLE]).filter((namespace) => !this.isReadable(namespace));
    for (const namespace of unreadable) this.#recounted.delete(namespace);
    return unreadable;
  }
}
