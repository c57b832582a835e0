/**
 * Tracks the namespaces whose ServiceExports are read, one by one or all together. The mass-deletion guard counts the
 * losses of all these namespaces together (rule E6). If a list shows that one namespace has lost exports, the other
 * namespaces are listed anew. Until these lists are complete, no export counts as gone. This module sends no requests.
 */
import type { KindState } from '../../runtime/optional-kind.ts';

/** Key of the watch that covers all namespaces. */
export const WHOLE = '';

export class ExportNamespaces {
  readonly #namespaces: readonly string[] | undefined;
  readonly #stateIn: (namespace: string) => KindState;
  /** Namespaces that are being listed anew because another has lost exports. */
  readonly #recounted = new Set<string>();

  /**
   * @param namespaces namespaces that are read; undefined for all
   * @param stateIn returns whether the exports of a namespace that is read can be read now
   */
  constructor(namespaces: readonly string[] | undefined, stateIn: (namespace: string) => KindState) {
    this.#namespaces = namespaces;
    this.#stateIn = stateIn;
  }

  /** Reports whether a namespace is read. */
  includes(namespace: string): boolean {
    return this.#namespaces?.includes(namespace) ?? true;
  }

  /**
   * Reports whether the exports of a namespace can be read. For a namespace that the Link does not read, reports
   * whether the exports of at least one namespace that the Link reads can be read.
   */
  isReadable(namespace: string): boolean {
    if (this.#namespaces === undefined || this.includes(namespace)) return this.#stateIn(namespace) === 'readable';
    return this.#namespaces.some((each) => this.#stateIn(each) === 'readable');
  }

  /** Reports whether the exports of a namespace are known, and no namespace is being listed anew to count losses. */
  isCounted(namespace: string): boolean {
    return this.isReadable(namespace) && this.#recounted.size === 0;
  }

  /** Returns the key of the watch that covers a namespace: the namespace itself, or {@link WHOLE}. */
  partOf(namespace: string): string {
    return this.#namespaces === undefined ? WHOLE : namespace;
  }

  /**
   * Notes that a namespace was listed.
   * @param namespace undefined if all namespaces were listed together
   * @param lost number of exports that the list no longer has
   * @returns the namespaces to list anew, so that the losses of all namespaces are counted together
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
   * Called when namespaces may have become readable or unreadable. The count of losses no longer waits for a namespace
   * that cannot be read, even if its exports are being listed anew.
   * @returns the namespaces that cannot be read
   */
  reconsider(): readonly string[] {
    const unreadable = (this.#namespaces ?? [WHOLE]).filter((namespace) => !this.isReadable(namespace));
    for (const namespace of unreadable) this.#recounted.delete(namespace);
    return unreadable;
  }
}
