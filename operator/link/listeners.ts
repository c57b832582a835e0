/** Who is told, beside mirrors, of what may have changed of a target's exports. */
import type { ImportsView } from './held.ts';
import type { CandidatesView } from './limits.ts';
import type { ServiceExportReader } from './target-reader.ts';

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
  /** Keys of ServiceImports of which the part may have changed. */
  changed(keys: Iterable<string>): void;
}
