/**
 * Records, on the Lease of a Link, the spec by which the Link is served. The next leader serves the Link by this spec
 * if the Link is invalid by then, or counts as invalid because it exchanges clusters with other Links (rules E7, E9). A
 * record that is read back is foreign data. The operator uses it only if it is a valid spec of this very Link, and if
 * nobody else has held the Lease since the record was written.
 */
import { isDeepStrictEqual } from 'node:util';
import { type LinkSettings, readLink } from '../../../crds/index.ts';
import { Annotation } from '../../../crds/wire.ts';
import type { Lease } from '../../kube/objects.ts';
import type { LeaseNotes } from '../../runtime/lease-record.ts';
import { type Note, noteOf, readNote } from '../../served/lease-notes.ts';

const NOTE: Note = { annotation: Annotation.servedSpec, maxLength: 16_384 };

/**
 * The fields of a Link that are needed to read its record. `uid` distinguishes the Link from a later one of the same
 * name.
 */
interface LinkObject {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: string;
  /**
   * Value of the Link's annotation that confirms held deletions; undefined if the Link does not have it. The value that
   * confirms the next loss depends on this value, so that one value never confirms two losses of the same keys (rule
   * E6).
   */
  readonly confirmPrune?: string | undefined;
}

/** A valid spec, and the Link that it belongs to. */
export interface ServedSpec {
  readonly uid: string;
  readonly generation: number;
  /** `spec` as it was read from the Link. */
  readonly spec: unknown;
}

/** Settings by which a Link was last served, and the spec that they were read from. */
export interface LastServed {
  readonly settings: LinkSettings;
  readonly served: ServedSpec;
}

/** Returns the {@link ServedSpec} of a valid Link, to be recorded on the Link's Lease. */
export const servedSpecOf = ({ uid, generation }: LinkSettings, { spec }: { readonly spec?: unknown }): ServedSpec => ({
  uid,
  generation,
  spec,
});

/**
 * Returns the annotation that records a spec on the Lease. The annotation is removed if the spec is undefined or too
 * long (see {@link noteOf}).
 */
export const recordOf = (served: ServedSpec | undefined, leaseTransitions: number): ReturnType<LeaseNotes> =>
  noteOf(NOTE, served, leaseTransitions);

/**
 * Reads, from the Lease of a Link, the spec by which the Link was last served for a cluster. Used for a Link that is
 * invalid now, or counts as invalid because it exchanges clusters with other Links (rules E7, E9). Undefined in each of
 * these cases:
 * - The Lease has no record of a spec, or an invalid one.
 * - The record belongs to another cluster, or to an earlier Link of the same name.
 * - Somebody else has held the Lease since the record was written.
 */
export const readServedSpec = (lease: Lease, link: LinkObject, cluster: string): LastServed | undefined => {
  const { [Annotation.targetCluster]: recorded } = lease.metadata.annotations ?? {};
  const note = readNote(NOTE, lease, link.uid);
  if (note === undefined || recorded !== cluster) return undefined;
  const { generation, spec } = note;
  if (!Number.isSafeInteger(generation)) return undefined;
  const served: ServedSpec = { uid: link.uid, generation: generation as number, spec };
  const { name, namespace, createdAt: creationTimestamp, confirmPrune } = link;
  const annotations = confirmPrune === undefined ? {} : { [Annotation.confirmPrune]: confirmPrune };
  const metadata = { name, namespace, uid: served.uid, generation: served.generation, creationTimestamp, annotations };
  const read = readLink({ metadata, spec });
  return read.ok && read.value.cluster === cluster ? { settings: read.value, served } : undefined;
};

export const isSameSpec = (a: ServedSpec | undefined, b: ServedSpec | undefined): boolean => isDeepStrictEqual(a, b);
