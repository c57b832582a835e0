/**
 * How it is known which namespaces the source cluster has. An operator that may read the whole cluster watches them all;
 * one whose rights end at some namespaces cannot, as no Role grants that (see listed-namespaces.ts).
 */
import type { Namespace } from '../kube/objects.ts';
import { Store } from '../runtime/store.ts';

/** `unreadable`: it does not exist, or may not be read; which of the two, only its owner can say. */
export type SourceNamespaceState = 'exists' | 'missing' | 'unreadable';

/** What is known of the source cluster's namespaces. */
export interface SourceNamespaces {
  /** Whether of each namespace is known what can be known. */
  readonly synced: boolean;
  /** Those that cannot be read: what is in them is not known. */
  readonly unreadable: readonly string[];
  stateOf(name: string): SourceNamespaceState;
}

/** All namespaces, watched. */
export class WatchedNamespaces implements SourceNamespaces {
  readonly store: Store<Namespace>;
  readonly unreadable = [];

  /** @param options.onChange a namespace came or went */
  constructor(options: { readonly onChange: (name: string) => void; readonly onRelisted: () => void }) {
    this.store = new Store<Namespace>({
      trim: ({ metadata: { name, resourceVersion, deletionTimestamp } }) =>
        ({ metadata: { name, resourceVersion, deletionTimestamp } }) as Namespace,
      onRelisted: () => options.onRelisted(),
      onChange: ({ key, before, after }) => {
        if (isLive(before) !== isLive(after)) options.onChange(key);
      },
    });
  }

  get synced(): boolean {
    return this.store.synced;
  }

  stateOf(name: string): SourceNamespaceState {
    return isLive(this.store.get(name)) ? 'exists' : 'missing';
  }
}

const isLive = (namespace: Namespace | undefined): boolean =>
  namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
