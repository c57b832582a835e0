/** What we own for one target Service, found by name: a headless Service may have thousands of endpoint mirrors. */
import { Label } from '../../crds/wire.ts';
import type { Endpoints, EndpointSlice, KubeObject, Service } from '../kube/objects.ts';
import type { OwnedObjects } from './observed.ts';

export interface OwnedIndex {
  /** By name. */
  readonly services: ReadonlyMap<string, Service>;
  /** By name, which is that of their Service. */
  readonly endpoints: ReadonlyMap<string, Endpoints>;
  /** By the name of their Service. */
  readonly slices: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** The names of the slices. */
  readonly sliceNames: ReadonlySet<string>;
}

/** Returns the index of what is owned; that of a list is made once, when it is asked for. */
export const indexOf = ({ services, endpoints, slices }: OwnedObjects): OwnedIndex => ({
  get services() {
    return servicesByName(services);
  },
  get endpoints() {
    return endpointsByName(endpoints);
  },
  get slices() {
    return slicesByService(slices);
  },
  get sliceNames() {
    return namesOf(slices);
  },
});

const servicesByName = onceEach((services: readonly Service[]) => byName(services));
const endpointsByName = onceEach((endpoints: readonly Endpoints[]) => byName(endpoints));
const slicesByService = onceEach((slices: readonly EndpointSlice[]) =>
  Map.groupBy(slices, ({ metadata }) => metadata.labels?.[Label.serviceName] ?? ''),
);
const namesOf = onceEach((slices: readonly EndpointSlice[]) => new Set(slices.map(({ metadata }) => metadata.name)));

const byName = <T extends KubeObject>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((object) => [object.metadata.name, object]));

/** Returns a function that is asked once for each list. */
export function onceEach<T extends object, R>(read: (list: readonly T[]) => R): (list: readonly T[]) => R {
  const known = new WeakMap<readonly T[], R>();
  return (list) => {
    const found = known.get(list) ?? read(list);
    known.set(list, found);
    return found;
  };
}
