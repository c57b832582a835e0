/**
 * The spec that a Link is served by, as its Lease records it: whoever leads next serves the Link by it, should the Link be
 * invalid by then (rule E7). Read back, it is foreign data: it counts only if the API server would have taken it for the
 * spec of this very Link, and if nobody else has held the Lease since it was written.
 */
import { isDeepStrictEqual } from 'node:util';
import { type LinkSettings, readLink } from '../../../crds/index.ts';
import { Annotation } from '../../../crds/wire.ts';
import type { Lease } from '../../kube/objects.ts';
import type { LeaseNotes } from '../../runtime/lease-record.ts';
import { type Note, noteOf, readNote } from '../../served/lease-notes.ts';

const NOTE: Note = { annotation: Annotation.servedSpec, maxLength: 16_384 };

/** What of a Link tells it from one that was made anew. */
interface LinkObject {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: string;
}

/** A valid spec, and the Link that had it. */
export interface ServedSpec {
  readonly uid: string;
  readonly generation: number;
  /** `spec` of the Link, as it was read. */
  readonly spec: unknown;
}

/** A Link that is invalid now, as it was when it was valid. */
export interface LastServed {
  readonly settings: LinkSettings;
  readonly served: ServedSpec;
}

/** Returns what is recorded of a valid Link. */
export const servedSpecOf = ({ uid, generation }: LinkSettings, { spec }: { readonly spec?: unknown }): ServedSpec => ({
  uid,
  generation,
  spec,
});

/** Returns the annotation for a Lease: {@link noteOf}. */
export const recordOf = (served: ServedSpec | undefined, leaseTransitions: number): ReturnType<LeaseNotes> =>
  noteOf(NOTE, served, leaseTransitions);

/**
 * Returns what an invalid Link was last served as for a cluster, by its Lease. Undefined if that is not known: if nothing
 * valid is recorded, or of a Link that was deleted, or another has held the Lease since.
 */
export const readServedSpec = (lease: Lease, link: LinkObject, cluster: string): LastServed | undefined => {
  const { [Annotation.targetCluster]: recorded } = lease.metadata.annotations ?? {};
  const note = readNote(NOTE, lease, link.uid);
  if (note === undefined || recorded !== cluster) return undefined;
  const { generation, spec } = note;
  if (!Number.isSafeInteger(generation)) return undefined;
  const served: ServedSpec = { uid: link.uid, generation: generation as number, spec };
  const { name, namespace, createdAt: creationTimestamp } = link;
  const metadataThen = { name, namespace, uid: served.uid, generation: served.generation, creationTimestamp };
  const read = readLink({ metadata: metadataThen, spec });
  return read.ok && read.value.cluster === cluster ? { settings: read.value, served } : undefined;
};

export const isSameSpec = (a: ServedSpec | undefined, b: ServedSpec | undefined): boolean => isDeepStrictEqual(a, b);
