/** What takes part in ServiceImports, and what it is given for that: see imports.ts. */
import type { Certainty, PodAnswers } from '../target/aspect.ts';
import type { LocalExporter, TargetExporter } from './observed.ts';

/** What a cluster that may export Services by the MCS API says of its exports. */
export interface Exporting<P extends TargetExporter | LocalExporter> {
  /** The id that the cluster claims; null if it claims none, undefined while that is not known. */
  readonly claimedId: string | null | undefined;
  /** When its exports began to be read, or it was known that they would be, on the monotonic clock. */
  readonly sinceMs: number;
  /** Returns the keys of its exports, and of others that may need work for its sake. */
  keys(): Iterable<string>;
  /** Returns what is known of its export of one key. */
  observe(key: string): Omit<P, 'id' | 'departed'>;
  /** Says whether the part of the cluster may go: it has no export of a key, or no Service. */
  readonly exports: Certainty;
  /** Begins to read: ServiceImports can be read here. Does nothing if it has begun. */
  read(): void;
}

/** The session of a Link, as it takes part in ServiceImports. */
export interface ImportParty extends Exporting<TargetExporter> {
  readonly cluster: string;
  /** The Link: the older one has an id that two clusters claim. */
  readonly seniority: { readonly createdAt: string; readonly name: string };
  /** Answers which pods are no longer behind the exported Service, so that their objects may go. */
  readonly pods: PodAnswers;
}

/** The ServiceImports, as those who take part see them. */
export interface ServiceImports {
  /**
   * Lets a cluster take part.
   * @throws Error if it already does: it has one session (rule E9)
   */
  join(party: ImportParty): void;
  /**
   * Ends the part of a cluster. What there is of it goes if it has no Link. Resolves when nothing is being written any more
   * that was decided while it took part.
   */
  leave(cluster: string): Promise<void>;
  /** Reconciles a key: an export has changed. */
  add(key: string): void;
  /** Reconciles all keys: what is known of a cluster as a whole, or what it claims to be called, has changed. */
  addAll(): void;
  /** Returns the keys of the ServiceImports that a target cluster has a part in. */
  partsOf(cluster: string): ReadonlySet<string>;
  /** Returns those of them that end, since the cluster has no Link: they can be written, or may be once the API server answers. */
  endingOf(cluster: string): readonly string[];
  /** Returns those that stay although the cluster has no Link: ServiceImports cannot be read there (rule K5). */
  keptOf(cluster: string): readonly string[];
}

/** Where a session takes part. */
export interface ImportsEnvironment {
  /** Absent if the operator leaves the MCS API alone. */
  readonly imports?: ServiceImports | undefined;
}
