/** Who is told of what may have changed of a target's exports. */
import type { ImportsView } from './held.ts';
import type { CandidatesView } from './limits.ts';
import type { ServiceExportReader } from './reader.ts';

/** What a target is asked for: a Service, or the pods behind it. */
export type Asked = 'service' | 'pods';

/** Is given what may have changed of the exported Services. */
export interface MirrorListener {
  /** The target has changed a Service: its mirror follows from now on. */
  seen(key: string): void;
  /** Reconciles the mirror of a Service. */
  add(key: string): void;
  /** All exported Services were listed anew: these. */
  relisted(keys: Iterable<string>): void;
  /** They are about to be listed by other selectors. */
  restarted(): void;
}

/** Is given what may have changed of the members of federated Services. */
export interface MemberListener {
  /** Keys of Services whose memberships may have changed. */
  changed(keys: Iterable<string>): void;
  /** All members were listed anew, and are known. */
  listed(): void;
  /** The members are about to be listed by another selector. */
  restarted(): void;
}

/** Reads the ServiceExports of the target, and is given what may have changed of its part in ServiceImports. */
export interface ImportListener extends ServiceExportReader, ImportsView, CandidatesView {
  /** Keys of the ServiceImports that the cluster's exports may have changed. */
  changed(keys: Iterable<string>): void;
}
