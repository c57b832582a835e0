/** How a Service is exported, and which slices are behind it, decided from the objects. Pure. */
import type { MirrorMode } from '../../../constructs/rendered/index.ts';
import { type EndpointSlice, hasSelector, type Service } from '../../kube/objects.ts';

/** A Service, and how it is exported. */
export interface Exported {
  readonly service: Service;
  readonly mode: MirrorMode;
}

/**
 * Returns the exported Service, and how; flat mode wins (rule A1).
 * @param gateway if the selector of gateway mode selects it
 * @param flat if the selector of flat mode selects it
 */
export const exportedAs = (gateway: Service | undefined, flat: Service | undefined): Exported | undefined =>
  flat === undefined ? gateway && { service: gateway, mode: 'gateway' } : { service: flat, mode: 'remote-discovery' };

/**
 * Reports whether the slices behind a Service must be found by its name too: it has no selector, or its labelled slices,
 * if there are any, list nobody.
 */
export const needsByName = (service: Service, labelled: readonly EndpointSlice[]): boolean =>
  !hasSelector(service) || labelled.every(({ endpoints }) => (endpoints ?? []).length === 0);

/**
 * Returns the slices behind a Service; undefined while it is not known which there are.
 * @param labelled those that carry the Service's labels
 * @param named those found by its name; undefined while they are not known
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
