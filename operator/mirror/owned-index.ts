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

/** Each list is indexed once, when it is asked for; it is asked for thousands of pods. */
class Index implements OwnedIndex {
  readonly #owned: OwnedObjects;
  #services: OwnedIndex['services'] | undefined;
  #endpoints: OwnedIndex['endpoints'] | undefined;
  #slices: OwnedIndex['slices'] | undefined;
  #sliceNames: OwnedIndex['sliceNames'] | undefined;

  constructor(owned: OwnedObjects) {
    this.#owned = owned;
  }

  get services(): OwnedIndex['services'] {
    return (this.#services ??= servicesByName(this.#owned.services));
  }

  get endpoints(): OwnedIndex['endpoints'] {
    return (this.#endpoints ??= endpointsByName(this.#owned.endpoints));
  }

  get slices(): OwnedIndex['slices'] {
    return (this.#slices ??= slicesByService(this.#owned.slices));
  }

  get sliceNames(): OwnedIndex['sliceNames'] {
    return (this.#sliceNames ??= namesOf(this.#owned.slices));
  }
}

const indexes = new WeakMap<OwnedObjects, Index>();

/** Returns the index of what is owned. */
export function indexOf(owned: OwnedObjects): OwnedIndex {
  const known = indexes.get(owned);
  if (known !== undefined) return known;
  const index = new Index(owned);
  indexes.set(owned, index);
  return index;
}

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
