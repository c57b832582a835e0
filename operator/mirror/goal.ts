/**
 * What is to be written of the mirrors of one Service: after a pass that wrote Services, the next one sees their
 * ClusterIPs and writes what needs them.
 */
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../kube/objects.ts';
import type { Manifests } from './manifests.ts';
import type { OwnedObjects } from './observed.ts';
import type { SettledMirrors } from './rendered.ts';
import type { Goal, Retain } from '../runtime/pass.ts';
import type { PassTexts } from '../runtime/tally.ts';
import {
  addedMetadata,
  contestedObject,
  foreignObject,
  refusedName,
  type Refusal,
  vanishedNamespace,
} from './reasons.ts';

/**
 * @param retain reports what must not be deleted although it is not desired
 * @param settled what earlier plans have found. @default - everything is compared
 */
export function goalOf(
  { namespaces, services, endpoints, isPartial, isBlocked }: Manifests,
  owned: OwnedObjects,
  retain?: Retain,
  settled?: SettledMirrors,
): Goal {
  const steps = [
    { desired: services, owned: [{ of: SERVICES, objects: owned.services }], settled: settled?.services },
    {
      desired: endpoints,
      owned: [
        { of: ENDPOINTS, objects: owned.endpoints },
        { of: ENDPOINT_SLICES, objects: owned.slices },
      ],
      settled: settled?.endpoints,
    },
  ];
  return { namespaces, steps, isPartial, isBlocked, foreign: owned.foreign, ...(retain && { retain }) };
}

/** What is said of what is in the way of mirrors. */
export const MIRROR_TEXTS: PassTexts<Refusal> = {
  foreign: foreignObject,
  contested: contestedObject,
  vanished: vanishedNamespace,
  refusedName,
  added: addedMetadata,
};
