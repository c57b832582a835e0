/**
 * The record, on a Link's Lease, of the spec that the Link is served by. The next leader serves the Link by this spec
 * if the Link is invalid by then (rule E7). A record that is read back is foreign data: it is used only if it is a
 * valid spec of this very Link, and if nobody else has held the Lease since the record was written.
 */
import { isDeepStrictEqual } from 'node:util';
import { type LinkSettings, readLink } from '../../../crds/index.ts';
import { Annotation } from '../../../crds/wire.ts';
import type { Lease } from '../../kube/objects.ts';
import type { LeaseNotes } from '../../runtime/lease-record.ts';
import { type Note, noteOf, readNote } from '../../served/lease-notes.ts';

const NOTE: Note = { annotation: Annotation.servedSpec, maxLength: 16_384 };

/** A Link as far as its record depends on it. `uid` tells it from a later Link of the same name. */
interface LinkObject {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: string;
  /**
   * Confirmation of held deletions that the Link has; undefined if it has none. The operator must know this
   * confirmation, since it may confirm only one loss, and not a later one of the same keys (rule E6).
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

/** Settings that an invalid Link had when it was last valid. */
export interface LastServed {
  readonly settings: LinkSettings;
  readonly served: ServedSpec;
}

/** Returns what is to be recorded about a valid Link on its Lease. */
export const servedSpecOf = ({ uid, generation }: LinkSettings, { spec }: { readonly spec?: unknown }): ServedSpec => ({
  uid,
  generation,
  spec,
});

/** Returns the annotation that records a spec on the Lease. It is made by {@link noteOf}. */
export const recordOf = (served: ServedSpec | undefined, leaseTransitions: number): ReturnType<LeaseNotes> =>
  noteOf(NOTE, served, leaseTransitions);

/**
 * Reads the record on the Lease of a Link that is now invalid. Returns the valid spec with which the Link was last
 * served for a cluster. Undefined if the record is missing or invalid, or belongs to another cluster or to a deleted
 * Link. Also undefined if somebody else has held the Lease since the record was written.
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
