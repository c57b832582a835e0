/**
 * Listeners to changes in the source cluster: the sessions of target clusters, the controllers of federated Services
 * and ServiceImports, the claims on names, and whoever needs the changes of all Services.
 */
import type { Owner } from './owner.ts';

/**
 * Called with a key of a target cluster when objects of that key have changed. `by` says what has changed: a Service
 * (`service`), or Endpoints or a slice (`endpoints`).
 */
export type SourceListener = (key: string, by: 'endpoints' | 'service') => void;

/**
 * Called when a name that a mirror or a probe Service might need was taken or given up.
 * @param namespace namespace of the Service or Endpoints object that has, or had, the name
 * @param by who owns the object, or owned it; undefined if it is of no target cluster. The owner need not be notified:
 *   the owner made the change, or the {@link SourceListener} of the cluster is called for it
 */
export type NameListener = (namespace: string, name: string, by: Owner | undefined) => void;

export class SourceListeners {
  /** The listener of each target cluster, by the cluster's name. */
  protected readonly ofClusters = new Map<string, SourceListener>();
  protected ofFederations: ((key: string) => void) | undefined;
  protected readonly ofServices = new Set<(key: string) => void>();
  protected ofImports: ((key: string) => void) | undefined;
  protected ofNames: NameListener | undefined;

  /**
   * Calls the listener on changes of the objects of one target cluster.
   * @returns a function that ends the subscription
   * @throws Error if the cluster already has a listener: two would write the same mirrors
   */
  subscribe(cluster: string, listener: SourceListener): () => void {
    if (this.ofClusters.has(cluster)) throw new Error(`the mirrors of cluster "${cluster}" already have a listener`);
    this.ofClusters.set(cluster, listener);
    return () => void this.ofClusters.delete(cluster);
  }

  /**
   * Calls the listener when a federated Service, a slice of it, or another Service that has its name has changed.
   * @param listener called with `namespace/name` of the members
   * @returns a function that ends the subscription
   * @throws Error if there already is a listener: two would write the same Services
   */
  subscribeFederations(listener: (key: string) => void): () => void {
    if (this.ofFederations !== undefined) throw new Error('the federated Services already have a listener');
    this.ofFederations = listener;
    return () => void (this.ofFederations = undefined);
  }

  /**
   * Calls the listener when any Service has changed.
   * @param listener called with `namespace/name` of the Service
   * @returns a function that ends the subscription
   */
  subscribeServices(listener: (key: string) => void): () => void {
    this.ofServices.add(listener);
    return () => void this.ofServices.delete(listener);
  }

  /**
   * Calls the listener when a Service or slice that is derived from a ServiceImport has changed, or another Service
   * that has the name of a derived one.
   * @param listener called with `namespace/name` of the ServiceImport
   * @returns a function that ends the subscription
   */
  subscribeImports(listener: (key: string) => void): () => void {
    this.ofImports = listener;
    return () => void (this.ofImports = undefined);
  }

  /**
   * Calls the listener when names of mirrors are taken or given up.
   * @returns a function that ends the subscription
   */
  subscribeNames(listener: NameListener): () => void {
    this.ofNames = listener;
    return () => void (this.ofNames = undefined);
  }
}
