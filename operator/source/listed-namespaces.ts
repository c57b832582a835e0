/**
 * Namespaces that are known by name, each by what its own lists and watches come to: one counts as there once all of
 * them have been listed, until one is refused. A Role that lets the operator read a namespace is in that namespace, so
 * what may be read exists; what may not be read does not exist or has no Role, which looks the same from here.
 *
 * A namespace that is refused is known as far as it can be: it keeps none of the others waiting.
 */
import { isForbidden } from '../kube/errors.ts';
import type { ReflectorState } from '../runtime/reflector.ts';
import type { SourceNamespaces, SourceNamespaceState } from './namespaces.ts';

export interface ListedNamespacesOptions {
  readonly names: Iterable<string>;
  /** The one without which nothing works: refused, it keeps all waiting. */
  readonly required: string;
  /** Whether all that is read of a namespace has been listed. */
  readonly isListed: (name: string) => boolean;
  /** A namespace can be read, or cannot any more. */
  readonly onChange: (name: string) => void;
  /** A namespace is refused, with this error, or can be read after it was. */
  readonly onRefused: (name: string, error: unknown) => void;
}

export class ListedNamespaces implements SourceNamespaces {
  readonly #options: ListedNamespacesOptions;
  /** The resources that each namespace refuses. */
  readonly #refused: ReadonlyMap<string, Set<string>>;
  /** As it was last told; what was never in question need not be. */
  readonly #states = new Map<string, SourceNamespaceState>();

  constructor(options: ListedNamespacesOptions) {
    this.#options = options;
    this.#refused = new Map([...options.names].map((name) => [name, new Set()]));
  }

  get synced(): boolean {
    const { isListed, required } = this.#options;
    return [...this.#refused].every(([name, { size }]) => isListed(name) || (size > 0 && name !== required));
  }

  get unreadable(): readonly string[] {
    return [...this.#refused.keys()].filter((name) => this.stateOf(name) === 'unreadable');
  }

  stateOf(name: string): SourceNamespaceState {
    const refused = this.#refused.get(name);
    if (refused === undefined) return 'missing';
    return refused.size === 0 && this.#options.isListed(name) ? 'exists' : 'unreadable';
  }

  /** The reflector of a resource in the namespace works, or does not. */
  told(name: string, resource: string, state: ReflectorState): void {
    const refused = this.#refused.get(name);
    if (refused === undefined) return;
    const { onRefused, onChange } = this.#options;
    const before = refused.size;
    if (state.connected) {
      if (refused.delete(resource) && refused.size === 0) onRefused(name, undefined);
    } else if (isForbidden(state.error)) {
      // Whatever else is in the way says nothing about the namespace.
      refused.add(resource);
      if (before === 0) onRefused(name, state.error);
    }
    const was = this.#states.get(name) ?? 'exists';
    const is = this.stateOf(name);
    this.#states.set(name, is);
    if (is !== was) onChange(name);
  }
}
