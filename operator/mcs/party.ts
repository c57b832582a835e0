/**
 * The parties of ServiceImports (the clusters that take part), and the interface that the controller (imports.ts)
 * offers them.
 */
import type { Answers, PodAnswers } from '../target/aspect.ts';
import type { LocalExporter, TargetExporter } from './observed.ts';

/**
 * A cluster that takes part in ServiceImports. It reports what is known of the Services that it exports by the MCS API.
 * A key is the `namespace/name` that an export and its ServiceImport have.
 */
export interface Exporting<P extends TargetExporter | LocalExporter> {
  /**
   * The id that the cluster claims, as last read. Undefined until the cluster has answered. Null if it claims no valid
   * id, or if it has only ever answered that ClusterProperties do not exist or may not be read. Null also for a target
   * whose Link does not import ServiceExports, or that has no Link any more. Once an id was read, it is kept while it
   * cannot be read.
   */
  readonly claimedId: string | null | undefined;
  /**
   * Start of the cluster's grace period, in milliseconds on the monotonic clock. During that period, statuses wait for
   * the exports of the cluster to become known. The period starts when the operator learns that it will read the
   * exports, and starts again when the operator begins to read them.
   */
  readonly sinceMs: number;
  /** Returns the keys of the cluster's exports, and of ServiceImports that may need work because of the cluster. */
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
  /** Age and name of the Link: if two clusters claim one id, the older Link gets it. */
  readonly seniority: { readonly createdAt: string; readonly name: string };
  /**
   * Answers of the target about the pods of exported Services. If a pod with a hostname of its own leaves such a
   * Service, the objects that stand for the pod are removed only after the target has answered that the pod is gone.
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
   * Ends the participation of a cluster. The objects that were imported from the cluster stay if it has a Link, or may
   * have one. Otherwise they are removed. Resolves when all writes that were decided while the cluster took part have
   * ended.
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
   * Returns the keys that are being reconciled and for which a target cluster was last decided to be part of the
   * ServiceImport. The part may have been written although the stores do not show it yet.
   */
  underWayOf(cluster: string): readonly string[];
  /**
   * For a cluster without a Link, returns the keys of the ServiceImports in which its part is still to be removed.
   * These are the keys of {@link partsOf}, without those in whose namespaces ServiceImports certainly cannot be read,
   * and without those whose ServiceImport is foreign.
   */
  endingOf(cluster: string): readonly string[];
  /**
   * For a cluster without a Link, returns those keys of {@link partsOf} in whose namespaces ServiceImports certainly
   * cannot be read. What was imported from the cluster stays there (rule K5).
   */
  keptOf(cluster: string): readonly string[];
}

/** What a session needs to take part in ServiceImports. */
export interface ImportsEnvironment {
  /** Absent if the operator leaves the MCS API alone. */
  readonly imports?: ServiceImports | undefined;
}
