/** What a target says about one of its Services, as far as it may be acted on: nothing is held, and the limits allow it. No I/O. */
import type { Service } from '../kube/objects.ts';
import type { Observed } from '../mirror/observed.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import type { TargetView } from '../target/aspect.ts';
import type { HeldDeletions } from './held.ts';
import type { Limits } from './limits.ts';

/** What the target says about one Service. */
export type ObservedExport = Pick<
  Observed,
  | 'target'
  | 'slices'
  | 'isAdmitted'
  | 'admitsPod'
  | 'admitsBytes'
  | 'departed'
  | 'arePodsUnconfirmed'
  | 'decidable'
  | 'isConfirmed'
> & {
  /** Whether it is mirrored pod by pod although the settings say otherwise: deletions of its pods are held (rule E6). */
  readonly isHeldByPod: boolean;
};

/** Returns what the target says about one Service; undefined: the target is not being read. */
export const observeExport = (
  key: string,
  target: TargetView | undefined,
  held: HeldDeletions,
  limits: Limits,
): ObservedExport => {
  const exported = target?.mirrored.get(key);
  return {
    target: exported,
    slices: exported && target?.mirrored.slicesOf(key),
    isAdmitted: limits.admits(key),
    admitsPod: (hostname) => limits.admitsPod(key, hostname),
    admitsBytes: (bytes) => limits.admitsBytes(key, bytes),
    ...(target === undefined ? { departed: new Map() } : held.pods.departed(target, key)),
    decidable: target !== undefined && held.decides(target, key),
    isConfirmed: target?.mirrored.confirms(key) === true,
    isHeldByPod: target !== undefined && held.pods.heldAs(target, key) === 'pod by pod',
  };
};

/** What the target says about one Service as a member of a federated Service. */
export interface ObservedMember {
  readonly service: Service | undefined;
  /** Whether it is known whether there is one, and no deletion of it is held. */
  readonly isKnown: boolean;
  /** Whether the limit of the Link allows it. */
  readonly isAdmitted: boolean;
  /** Whether an endpoint of it is ready; undefined while that is not known, or not read. */
  readonly anyReady: boolean | undefined;
}

/** Returns what the target says about one Service as a member; undefined: the target is not being read. */
export const observeMember = (
  key: string,
  target: TargetView | undefined,
  held: HeldDeletions,
  limits: Limits,
): ObservedMember => {
  const service = target?.members.get(key);
  const slices = service && target?.members.slicesOf(key);
  return {
    service,
    isKnown: target !== undefined && held.decidesMember(target, key),
    isAdmitted: limits.admitsMember(key),
    anyReady: service && slices && readSlices(service, slices).anyReady,
  };
};
