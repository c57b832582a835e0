/**
 * Brings the cluster from what is owned to what is desired of the mirrors of one Service. After a pass that wrote
 * Services, the next one sees their ClusterIPs and writes what needs them.
 */
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from '../kube/objects.ts';
import type { Manifests } from './desired.ts';
import type { OwnedObjects } from './observed.ts';
import { type PassContext, type PassTexts, type Retain, takeStep } from '../runtime/pass.ts';
import {
  addedMetadata,
  contestedObject,
  foreignObject,
  type MirrorPass,
  refusedName,
  type Refusal,
  vanishedNamespace,
} from './reasons.ts';

/**
 * Makes one step from what is owned to what is desired.
 * @param retain reports what must not be deleted although it is not desired
 */
export const reconcile = (
  { namespaces, services, endpoints, isPartial, isBlocked }: Manifests,
  owned: OwnedObjects,
  retain: Retain,
  context: Omit<PassContext<Refusal>, 'texts'>,
  signal: AbortSignal,
): Promise<MirrorPass> => {
  const steps = [
    { desired: services, owned: owned.services.map((object) => ({ of: SERVICES, object })) },
    {
      desired: endpoints,
      owned: [
        ...owned.endpoints.map((object) => ({ of: ENDPOINTS, object })),
        ...owned.slices.map((object) => ({ of: ENDPOINT_SLICES, object })),
      ],
    },
  ];
  const { foreign } = owned;
  return takeStep({ namespaces, steps, isPartial, isBlocked, retain, foreign }, { ...context, texts: TEXTS }, signal);
};

const TEXTS: PassTexts<Refusal> = {
  foreign: foreignObject,
  contested: contestedObject,
  vanished: vanishedNamespace,
  refusedName,
  added: addedMetadata,
};
