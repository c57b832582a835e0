/** Parties of ServiceImports, and what the controller in imports.ts offers them. */
import type { Certainty, PodAnswers } from '../target/aspect.ts';
import type { LocalExporter, TargetExporter } from './observed.ts';

/** A cluster that may export Services by the MCS API, and tells what it exports. */
export interface Exporting<P extends TargetExporter | LocalExporter> {
  /** The id that the cluster claims; null if it claims none, undefined while that is not known. */
  readonly claimedId: string | null | undefined;
  /** When its exports began to be read, or were about to be, on the monotonic clock. */
  readonly sinceMs: number;
  /** Returns the keys of its exports, and of others that may need work because of it. */
  keys(): Iterable<string>;
  /** Returns what is known of one of its exports. */
  observe(key: string): Omit<P, 'id' | 'departed'>;
  /** Whether the cluster certainly has no export under a key, or no Service, so that its objects may be removed. */
  readonly exports: Certainty;
  /** Begins to read exports, since ServiceImports can be read here. Further calls do nothing. */
  read(): void;
}

/** A target cluster, by the session of its Link. */
export interface ImportParty extends Exporting<TargetExporter> {
  readonly cluster: string;
  /** Age and name of the Link: if two clusters claim one id, the older Link gets it. */
  readonly seniority: { readonly createdAt: string; readonly name: string };
  /** Whether pods are certainly gone from the exported Service, so that their objects may be removed. */
  readonly pods: PodAnswers;
}

/** The controller of ServiceImports, as parties see it. */
export interface ServiceImports {
  /**
   * Lets a cluster take part.
   * @throws Error if it already does: it has one session (rule E9)
   */
  join(party: ImportParty): void;
  /**
   * Ends the participation of a cluster. Its objects are removed if it has no Link. Resolves when no write that was
   * decided while it took part is under way.
   */
  leave(cluster: string): Promise<void>;
  /** Reconciles a key: an export has changed. */
  add(key: string): void;
  /** Reconciles all keys: what is known of a whole cluster, or the id that it claims, has changed. */
  addAll(): void;
  /** Returns the keys of the ServiceImports that a target cluster is part of. */
  partsOf(cluster: string): ReadonlySet<string>;
  /**
   * Returns the keys of {@link partsOf} whose ServiceImports the cluster is being removed from, because it has no Link.
   * Keys that can certainly not be written are not among them.
   */
  endingOf(cluster: string): readonly string[];
  /**
   * Returns the keys of {@link partsOf} whose ServiceImports the cluster stays in, although it has no Link:
   * ServiceImports cannot be read there (rule K5).
   */
  keptOf(cluster: string): readonly string[];
}

/** Gives a session access to the ServiceImports. */
export interface ImportsEnvironment {
  /** Absent if the operator leaves the MCS API alone. */
  readonly imports?: ServiceImports | undefined;
}
