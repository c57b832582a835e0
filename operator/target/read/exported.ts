/** Decides how a Service is exported, and which EndpointSlices belong to it. Pure. */
import type { MirrorMode } from '../../../constructs/rendered/index.ts';
import { type EndpointSlice, hasSelector, type Service } from '../../kube/objects.ts';

/** A Service, and how it is exported. */
export interface Exported {
  readonly service: Service;
  readonly mode: MirrorMode;
}

/**
 * Returns an exported Service and its mode; undefined if no selector selects the Service. If the selectors of both
 * modes select it, flat mode wins (rule A1).
 * @param gateway the Service, if the selector of gateway mode selects it
 * @param flat the Service, if the selector of flat mode selects it
 */
export const exportedAs = (gateway: Service | undefined, flat: Service | undefined): Exported | undefined =>
  flat === undefined ? gateway && { service: gateway, mode: 'gateway' } : { service: flat, mode: 'remote-discovery' };

/**
 * Reports whether the slices of a Service must also be looked up by its name, because the Service has no selector or
 * its labelled slices list no endpoint.
 */
export const needsByName = (service: Service, labelled: readonly EndpointSlice[]): boolean =>
  !hasSelector(service) || labelled.every(({ endpoints }) => (endpoints ?? []).length === 0);

/**
 * Returns the slices that count for a Service: the labelled slices and, if {@link needsByName} is true, also those that
 * were found by its name. Undefined while slices that count are not known.
 * @param labelled the labelled slices of the Service
 * @param named slices found by the name of the Service; undefined while they are not known
 */
export const slicesBehind = (
  service: Service,
  labelled: readonly EndpointSlice[],
  named: readonly EndpointSlice[] | undefined,
): readonly EndpointSlice[] | undefined => {
  if (!needsByName(service, labelled)) return labelled;
  if (named === undefined) return undefined;
  return [...new Map([...labelled, ...named].map((slice) => [slice.metadata.name, slice])).values()];
};
