/** Listeners to changes in the source cluster: the sessions of Links, and the controllers of federated Services and ServiceImports. */

/** Called with the key of a Link whose objects changed, or whose mirror's name another Service took or gave up. */
export type SourceListener = (key: string, by: 'endpoints' | 'service') => void;

export class SourceListeners {
  /** By target cluster. */
  protected readonly ofClusters = new Map<string, SourceListener>();
  protected ofFederations: ((key: string) => void) | undefined;
  protected readonly ofServices = new Set<(key: string) => void>();
  protected ofImports: ((key: string) => void) | undefined;

  /**
   * Reports the changes of one target cluster's objects.
   * @returns ends the subscription
   * @throws Error if the cluster has a listener: two would write the same mirrors
   */
  subscribe(cluster: string, listener: SourceListener): () => void {
    if (this.ofClusters.has(cluster)) throw new Error(`the mirrors of cluster "${cluster}" already have a listener`);
    this.ofClusters.set(cluster, listener);
    return () => void this.ofClusters.delete(cluster);
  }

  /**
   * Reports the changes of federated Services, and of the Services that have their names: `namespace/name` of the members.
   * @returns ends the subscription
   * @throws Error if there is a listener: two would write the same Services
   */
  subscribeFederations(listener: (key: string) => void): () => void {
    if (this.ofFederations !== undefined) throw new Error('the federated Services already have a listener');
    this.ofFederations = listener;
    return () => void (this.ofFederations = undefined);
  }

  /**
   * Reports the changes of all Services: `namespace/name`.
   * @returns ends the subscription
   */
  subscribeServices(listener: (key: string) => void): () => void {
    this.ofServices.add(listener);
    return () => void this.ofServices.delete(listener);
  }

  /**
   * Reports the changes of Services and slices that are derived from ServiceImports, and of the Services that have the
   * name of a derived one: `namespace/name` of the ServiceImport.
   * @returns ends the subscription
   */
  subscribeImports(listener: (key: string) => void): () => void {
    this.ofImports = listener;
    return () => void (this.ofImports = undefined);
  }
}
