/**
 * Knows which namespaces the source cluster has. An operator with rights in the whole cluster watches all namespaces.
 * An operator whose rights are limited to some namespaces cannot do so, since no Role grants that watch. For each of
 * these namespaces, such an operator concludes from its lists and watches there whether the namespace exists.
 */
import { Label } from '../../crds/wire.ts';
import { isForbidden } from '../kube/errors.ts';
import type { Namespace } from '../kube/objects.ts';
import type { ReflectorState } from '../runtime/reflector.ts';
import { Store, type StoreListener } from '../runtime/store.ts';
import { trimNamespace } from './trim.ts';

/**
 * State of a namespace. `unreadable`: the namespace has not been listed yet, does not exist, or may not be read. The
 * operator cannot distinguish the last two.
 */
export type SourceNamespaceState = 'exists' | 'missing' | 'unreadable';

/** Called with the state that a namespace has now. */
export type NamespaceListener = (name: string, state: SourceNamespaceState) => void;

/** What is known of the source cluster's namespaces. */
export interface SourceNamespaces {
  /** Whether everything that can be known of each namespace is known. */
  readonly synced: boolean;
  /** Namespaces that cannot be read: what is in them is not known. */
  readonly unreadable: readonly string[];
  /**
   * Returns the state of a namespace. If all namespaces are watched, a namespace that is being deleted is `missing`. If
   * only some are read, all others are `missing`.
   */
  stateOf(name: string): SourceNamespaceState;
  /**
   * Returns the uid of a namespace; undefined if it is not known. It is never known if only some namespaces are read.
   */
  uidOf(name: string): string | undefined;
  /** Returns the number of existing namespaces that were created for a target cluster, without those being deleted. */
  createdFor(cluster: string): number;
  /** Reports whether {@link createdFor} counts a namespace. */
  isCreatedFor(name: string, cluster: string): boolean;
  /** Calls the listener on each change of a namespace's state. @returns a function that ends the subscription */
  subscribe(listener: NamespaceListener): () => void;
}

/**
 * Reports whether a namespace certainly does not exist, or is being deleted. False if only some namespaces are read:
 * `missing` then only means that a namespace is not one of them.
 * @param only names of the namespaces that are read; undefined if all are
 */
export const isCertainlyGone = (
  namespaces: Pick<SourceNamespaces, 'stateOf'>,
  only: readonly string[] | undefined,
  name: string,
): boolean => only === undefined && namespaces.stateOf(name) === 'missing';

abstract class Namespaces implements SourceNamespaces {
  readonly #listeners = new Set<NamespaceListener>();

  abstract get synced(): boolean;
  abstract get unreadable(): readonly string[];
  abstract stateOf(name: string): SourceNamespaceState;
  abstract uidOf(name: string): string | undefined;
  abstract createdFor(cluster: string): number;
  abstract isCreatedFor(name: string, cluster: string): boolean;

  subscribe(listener: NamespaceListener): () => void {
    // A function that is subscribed twice is called twice.
    const own: NamespaceListener = (name, state) => listener(name, state);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  protected changed(name: string): void {
    const state = this.stateOf(name);
    for (const listener of this.#listeners) listener(name, state);
  }
}

/** All namespaces of the source cluster, which are watched. */
export class WatchedNamespaces extends Namespaces {
  readonly store: Store<Namespace>;
  readonly unreadable = [];

  /** @param listener notified when a list of the namespaces has completed */
  constructor(listener: Required<Pick<StoreListener<Namespace>, 'relisted'>>) {
    super();
    this.store = new Store<Namespace>({
      trim: trimNamespace,
      indexes: {
        cluster: ({ metadata }) => [metadata.labels?.[Label.clusterName]].filter((name) => name !== undefined),
      },
      listener: {
        relisted: (...list) => listener.relisted(...list),
        changed: ({ key, before, after }) => {
          if (isLive(before) !== isLive(after)) this.changed(key);
        },
      },
    });
  }

  get synced(): boolean {
    return this.store.synced;
  }

  stateOf(name: string): SourceNamespaceState {
    return isLive(this.store.get(name)) ? 'exists' : 'missing';
  }

  uidOf(name: string): string | undefined {
    return this.store.get(name)?.metadata.uid;
  }

  createdFor(cluster: string): number {
    return this.store.by('cluster', cluster).filter(isLive).length;
  }

  isCreatedFor(name: string, cluster: string): boolean {
    const namespace = this.store.get(name);
    return isLive(namespace) && namespace?.metadata.labels?.[Label.clusterName] === cluster;
  }
}

const isLive = (namespace: Namespace | undefined): boolean =>
  namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;

export interface ListedNamespacesOptions {
  readonly names: Iterable<string>;
  /** The operator's own namespace. Until it can be read, {@link ListedNamespaces.synced} is false. */
  readonly required: string;
  /** Plurals of the resources that are read in each namespace. */
  readonly resources: readonly string[];
}

/** What is known of one namespace that is read by name. */
interface ListedNamespace {
  /** Resources whose list has not completed yet. */
  readonly unlisted: Set<string>;
  /** Resources that may not be read. */
  readonly refused: Set<string>;
  reported: SourceNamespaceState;
}

/**
 * Namespaces that are known by name, if the operator may read only some. What is known of each follows from its own
 * lists and watches. A namespace exists if all its resources have been listed and none is refused. The Role that lets
 * the operator read a namespace is in that namespace, so a namespace that may be read exists. A namespace that may not
 * be read either does not exist or has no such Role: the operator cannot distinguish the two.
 *
 * Nothing more can be learned about a namespace that is refused, so {@link synced} waits for such a namespace only if
 * it is the operator's own.
 */
export class ListedNamespaces extends Namespaces {
  readonly #required: string;
  readonly #namespaces: ReadonlyMap<string, ListedNamespace>;

  constructor({ names, required, resources }: ListedNamespacesOptions) {
    super();
    this.#required = required;
    const unknown = (): ListedNamespace => ({
      unlisted: new Set(resources),
      refused: new Set(),
      reported: 'unreadable',
    });
    this.#namespaces = new Map([...names].map((name) => [name, unknown()]));
  }

  get synced(): boolean {
    return [...this.#namespaces].every(
      ([name, { unlisted, refused }]) => unlisted.size === 0 || (refused.size > 0 && name !== this.#required),
    );
  }

  get unreadable(): readonly string[] {
    return [...this.#namespaces.keys()].filter((name) => this.stateOf(name) === 'unreadable');
  }

  stateOf(name: string): SourceNamespaceState {
    const known = this.#namespaces.get(name);
    if (known === undefined) return 'missing';
    return known.unlisted.size === 0 && known.refused.size === 0 ? 'exists' : 'unreadable';
  }

  uidOf(): undefined {
    return undefined;
  }

  /** Always 0: an operator that may read only some namespaces creates none. */
  createdFor(): number {
    return 0;
  }

  /** Always false, as {@link createdFor} counts none. */
  isCreatedFor(): boolean {
    return false;
  }

  /** Records that a list of a resource in a namespace has completed. */
  listed(name: string, resource: string): void {
    this.#namespaces.get(name)?.unlisted.delete(resource);
    this.#check(name);
  }

  /**
   * Records the state of the reflector of a resource in a namespace.
   * @returns `refused` if the namespace may no longer be read, `readable` if it is no longer refused; undefined if
   *   neither has changed
   */
  reflected(name: string, resource: string, state: ReflectorState): 'refused' | 'readable' | undefined {
    const refused = this.#namespaces.get(name)?.refused;
    if (refused === undefined) return undefined;
    const wasRefused = refused.size > 0;
    if (state.connected) refused.delete(resource);
    // Any other error says nothing about the namespace.
    else if (isForbidden(state.error)) refused.add(resource);
    this.#check(name);
    if (wasRefused === refused.size > 0) return undefined;
    return wasRefused ? 'readable' : 'refused';
  }

  #check(name: string): void {
    const known = this.#namespaces.get(name);
    const state = this.stateOf(name);
    if (known === undefined || known.reported === state) return;
    known.reported = state;
    this.changed(name);
  }
}
