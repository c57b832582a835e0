/**
 * Tracks in which namespaces the ServiceExports of a cluster can be read, and which namespaces are being listed anew.
 * ServiceExports are read namespace by namespace, or in all namespaces together. The mass-deletion guard counts the
 * losses of all namespaces together (rule E6). If a list shows that one namespace has lost exports, the other
 * namespaces that can be read are listed anew. Until these lists are complete, no export counts as gone. This module
 * sends no requests.
 */
import type { KindState } from '../../runtime/optional-kind.ts';

/** Key of the watches that cover all namespaces. */
export const WHOLE = '';

export class ExportNamespaces {
  readonly #namespaces: readonly string[] | undefined;
  readonly #stateIn: (namespace: string) => KindState;
  /** Namespaces that are being listed anew because another namespace has lost exports. */
  readonly #recounted = new Set<string>();

  /**
   * @param namespaces namespaces whose ServiceExports are read; undefined for all
   * @param stateIn returns whether the ServiceExports of one of these namespaces can be read. If all namespaces are
   *   read together, it is also called with {@link WHOLE}
   */
  constructor(namespaces: readonly string[] | undefined, stateIn: (namespace: string) => KindState) {
    this.#namespaces = namespaces;
    this.#stateIn = stateIn;
  }

  /** Reports whether the ServiceExports of a namespace are read. */
  includes(namespace: string): boolean {
    return this.#namespaces?.includes(namespace) ?? true;
  }

  /**
   * Reports whether the ServiceExports of a namespace can be read. If the ServiceExports of the namespace are not read
   * at all, reports whether those of at least one other namespace can be read.
   */
  isReadable(namespace: string): boolean {
    if (this.#namespaces === undefined || this.includes(namespace)) return this.#stateIn(namespace) === 'readable';
    return this.#namespaces.some((each) => this.#stateIn(each) === 'readable');
  }

  /**
   * Reports whether {@link isReadable} is true for a namespace, and no namespace is being listed anew to count losses.
   */
  isCounted(namespace: string): boolean {
    return this.isReadable(namespace) && this.#recounted.size === 0;
  }

  /** Returns the key of the watches that cover a namespace: the namespace itself, or {@link WHOLE}. */
  partOf(namespace: string): string {
    return this.#namespaces === undefined ? WHOLE : namespace;
  }

  /**
   * Notes that a namespace was listed.
   * @param namespace undefined if all namespaces were listed together
   * @param lost number of known exports that the list lacks
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
   * Stops waiting for new lists of namespaces that cannot be read. Called when namespaces may have become readable or
   * unreadable.
   * @returns the namespaces that cannot be read; {@link WHOLE} if all are read together and cannot be read
   */
  reconsider(): readonly string[] {
    const unreadable = (this.#namespaces ?? [WHOLE]).filter((namespace) => !this.isReadable(namespace));
    for (const namespace of unreadable) this.#recounted.delete(namespace);
    return unreadable;
  }
}
