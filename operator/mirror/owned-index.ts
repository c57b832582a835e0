/** What we own for one target Service, found by name: a headless Service may have thousands of endpoint mirrors. */
import { Label } from '../../crds/wire.ts';
import type { Endpoints, EndpointSlice, Service } from '../kube/objects.ts';
import type { OwnedObjects } from './observed.ts';

export interface OwnedIndex {
  /** By name. */
  readonly services: ReadonlyMap<string, Service>;
  /** By name, which is that of their Service. */
  readonly endpoints: ReadonlyMap<string, Endpoints>;
  /** By the name of their Service. */
  readonly slices: ReadonlyMap<string, readonly EndpointSlice[]>;
}

const indexes = new WeakMap<OwnedObjects, OwnedIndex>();

/** Returns the index of what is owned; it is made once. */
export function indexOf(owned: OwnedObjects): OwnedIndex {
  const known = indexes.get(owned);
  if (known !== undefined) return known;
  const index = {
    services: new Map(owned.services.map((service) => [service.metadata.name, service])),
    endpoints: new Map(owned.endpoints.map((endpoints) => [endpoints.metadata.name, endpoints])),
    slices: Map.groupBy(owned.slices, ({ metadata }) => metadata.labels?.[Label.serviceName] ?? ''),
  };
  indexes.set(owned, index);
  return index;
}
