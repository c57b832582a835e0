/**
 * The parties of ServiceImports (the clusters that take part), and the interface that the controller (imports.ts)
 * offers them.
 */
import type { Answers, PodAnswers } from '../target/aspect.ts';
import type { LocalExporter, TargetExporter } from './observed.ts';

/**
 * A cluster that takes part in ServiceImports. It reports what is known of the Services that it exports by the MCS API.
 * A key is the `namespace/name` that an export and its ServiceImport share.
 */
export interface Exporting<P extends TargetExporter | LocalExporter> {
  /**
   * The id that the cluster claims, as last read. Undefined while the cluster has not answered since the reading of its
   * exports last began. Once an id has been read, it stays even while ClusterProperties cannot be read. Null in these
   * cases:
   * - The cluster claims no valid id.
   * - The cluster has only ever answered that ClusterProperties do not exist or that reading them is forbidden.
   * - The cluster is a target whose Link does not import ServiceExports, or a target that no longer has a Link.
   */
  readonly claimedId: string | null | undefined;
  /**
   * Start of the cluster's grace period, in milliseconds on the monotonic clock. During that period, statuses wait for
   * the exports of the cluster to become known. The period starts when the party is created. It starts again whenever
   * the operator begins to read the exports, reads them anew with other credentials or settings, or stops reading them.
   * -Infinity if nothing waits for this cluster.
   */
  readonly sinceMs: number;
  /**
   * Returns the keys of the cluster's exports. For a target, also returns the keys of the ServiceImports that it is
   * part of ({@link ServiceImports.partsOf}).
   */
  keys(): Iterable<string>;
  /** Returns what is known of the cluster's export under a key. */
  observe(key: string): Omit<P, 'id' | 'departed'>;
  /**
   * Answers of the cluster about single ServiceExports and their Services. The objects that are derived from an export
   * are removed only if the cluster's answer about the export agrees with what the watches show.
   */
  readonly exports: Answers;
  /** Begins to read exports. Called when ServiceImports can be read in the source cluster. Further calls do nothing. */
  read(): void;
}

/** A target cluster that takes part through the session of its Link. */
export interface ImportParty extends Exporting<TargetExporter> {
  readonly cluster: string;
  /**
   * Creation time (RFC 3339) and name of the Link. If two clusters claim the same id, the cluster of the older Link
   * gets it. If both Links are equally old, the cluster of the Link whose name comes first gets it.
   */
  readonly seniority: { readonly createdAt: string; readonly name: string };
  /**
   * Answers of the target about the pods of exported Services. If a pod with a hostname of its own is gone from an
   * exported headless Service, the Service that stands for the pod is removed only after the target has answered that
   * the pod is gone.
   */
  readonly pods: PodAnswers;
}

/** The controller of ServiceImports, as the parties see it. */
export interface ServiceImports {
  /**
   * Lets a cluster take part.
   * @throws Error if the cluster already takes part; a cluster never has more than one session (rule E9)
   */
  join(party: ImportParty): void;
  /**
   * Ends the participation of a cluster. The objects that were imported from the cluster stay if the cluster has a Link
   * or might have one. They are removed if the cluster certainly has no Link. Resolves when all writes that were
   * decided while the cluster took part have ended.
   */
  leave(cluster: string): Promise<void>;
  /** Reconciles a key. Called when an export has changed. */
  add(key: string): void;
  /** Reconciles all keys. Called when what is known of a whole cluster, or the id that it claims, has changed. */
  addAll(): void;
  /**
   * Returns the keys of the ServiceImports that a target cluster is part of, except those that another operator serves
   * (rule K7).
   */
  partsOf(cluster: string): ReadonlySet<string>;
  /**
   * Returns the keys that are being reconciled and whose latest decision makes a target cluster part of the
   * ServiceImport. The part might already have been written although the stores do not show it yet.
   */
  underWayOf(cluster: string): readonly string[];
  /**
   * Returns the keys of the ServiceImports from which the part of a cluster still has to be removed. Called for a
   * cluster without a Link. These are the keys of {@link partsOf}, with two exceptions:
   * - Keys whose ServiceImport certainly cannot be read ({@link keptOf}).
   * - Keys whose ServiceImport is foreign.
   */
  endingOf(cluster: string): readonly string[];
  /**
   * Returns those keys of {@link partsOf} whose ServiceImport certainly cannot be read, because the CRD is missing, or
   * because reading ServiceImports of the key's namespace is forbidden. Called for a cluster without a Link. The parts
   * of the cluster stay in these ServiceImports until the ServiceImports can be read (rule K5).
   */
  keptOf(cluster: string): readonly string[];
}

/** What a session needs to take part in ServiceImports. */
export interface ImportsEnvironment {
  /** Absent if the operator leaves the MCS API alone. */
  readonly imports?: ServiceImports | undefined;
}
