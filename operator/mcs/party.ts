/**
 * The parties of ServiceImports (the clusters that take part), and the interface that the controller (imports.ts)
 * offers them.
 */
import type { Answers, PodAnswers } from '../target/aspect.ts';
import type { LocalExporter, TargetExporter } from './observed.ts';

/**
 * A cluster that takes part: it reports what is known of the Services that it exports by the MCS API. Keys are
 * `namespace/name`.
 */
export interface Exporting<P extends TargetExporter | LocalExporter> {
  /**
   * The id that the cluster claims. Null if it claims no valid id, or if its claim cannot be read and never was. Null
   * also for a target whose Link does not import ServiceExports, or that has no Link any more. Undefined while the
   * claim is not known. An id that was read once is kept while it cannot be read.
   */
  readonly claimedId: string | null | undefined;
  /**
   * Start of the cluster's grace period, in milliseconds on the monotonic clock. During that period, statuses wait for
   * the exports of the cluster to become known. The period starts when the operator learns that it will read the
   * exports, and starts again when it begins to read them.
   */
  readonly sinceMs: number;
  /** Returns the keys of the cluster's exports, and of ServiceImports that may need work because of the cluster. */
  keys(): Iterable<string>;
  /** Returns what is known of the cluster's export under a key. */
  observe(key: string): Omit<P, 'id' | 'departed'>;
  /**
   * Answers of the cluster about one ServiceExport and its Service. The objects that are derived from an export are
   * removed only if they agree with what is seen.
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
   * Tells whether a pod is certainly gone from an exported Service. Only then may the objects that stand for the pod be
   * removed.
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
   * Ends the participation of a cluster. The objects that were imported from the cluster are removed if it has no Link.
   * Resolves when all writes that were decided while the cluster took part have ended.
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
   * Returns the keys of the ServiceImports of which a part of a target cluster is being written. That part may be there
   * and not be known yet.
   */
  underWayOf(cluster: string): readonly string[];
  /**
   * For a cluster without a Link, returns those keys of {@link partsOf} whose ServiceImports still have objects of the
   * cluster that should be removed. Keys whose objects this operator certainly cannot remove are left out.
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
