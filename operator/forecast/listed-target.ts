/** What a target exports and what of it is federated, read once from lists. Pure: another list is another value. */
import type { Selector } from '../../crds/selector.ts';
import { type EndpointSlice, keyOf, type KubeObject, type Service } from '../kube/objects.ts';
import { type Exported, exportedAs, needsByName, slicesBehind } from '../target/read/exported.ts';
import { type Read, readService, readSlice, serviceKeys } from '../target/read/objects.ts';
import { type Aspect, NO_PODS, NOTHING_EXPORTED, type TargetView } from '../target/aspect.ts';

/** What selects the exports of a Link, and the members of federated Services. */
export interface Selectors {
  readonly gateway: Selector | undefined;
  readonly flat: Selector | undefined;
  /** @default - none */
  readonly members?: Selector | undefined;
  /** Whether the slices behind members are listed, which only a gateway needs. @default false */
  readonly readsMemberSlices?: boolean;
  /** Whether the slices behind Services that are exported for flat networks are listed. @default false */
  readonly readsFlatSlices?: boolean;
}

/** What was listed. More than the selectors select may be in it. */
export interface TargetLists {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  /** Names of the only namespaces that are read; undefined for all. */
  readonly namespaces: readonly string[] | undefined;
}

/** How objects are read. Those that are not what the API allows are left out. */
interface Reading {
  readonly services: <T extends Service>(objects: readonly T[]) => readonly Service[];
  readonly slices: (objects: readonly EndpointSlice[]) => readonly EndpointSlice[];
}

/** The Services that one selector selects, and the slices behind them. */
class Selected {
  readonly services: ReadonlyMap<string, Service>;
  /** Slices by `namespace/name` of the Service. */
  readonly #slices = new Map<string, EndpointSlice[]>();
  /** Names of the slices that carry the labels of the Services, with their namespace. */
  readonly #labelled: ReadonlySet<string>;

  /** @param slices none if those behind the Services are not read */
  constructor(
    selector: Selector | undefined,
    services: readonly Service[],
    slices: readonly EndpointSlice[],
    reading: Reading,
  ) {
    const matching = services.filter(({ metadata }) => selector?.matches(metadata.labels) === true);
    this.services = new Map(reading.services(matching).map((service) => [keyOf(service), service]));
    // What is behind no Service that is selected is never read.
    const behind = slices.filter((slice) => serviceKeys(slice).some((key) => this.services.has(key)));
    this.#labelled = new Set(behind.filter(({ metadata }) => selector?.matches(metadata.labels)).map(keyOf));
    for (const slice of reading.slices(behind)) {
      for (const key of serviceKeys(slice)) this.#slices.set(key, [...(this.#slices.get(key) ?? []), slice]);
    }
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    const service = this.services.get(key);
    if (service === undefined) return [];
    const all = this.#slices.get(key) ?? [];
    return slicesBehind(
      service,
      all.filter((slice) => this.#labelled.has(keyOf(slice))),
      all,
    );
  }
}

export class ListedTarget implements TargetView {
  readonly mirrored: Aspect<Exported>;
  readonly members: Aspect<Service>;
  /** What ServiceExports export is read apart. */
  readonly exports = NOTHING_EXPORTED;
  readonly pods = NO_PODS;
  /** Objects that are not what the API allows; they are left out. */
  readonly malformed: readonly string[];

  /** @param readAsSlice reads a slice, or refuses it */
  constructor(
    { services, slices, namespaces }: TargetLists,
    { gateway, flat, members, readsMemberSlices = false, readsFlatSlices = false }: Selectors,
    readAsSlice: (object: EndpointSlice) => Read<EndpointSlice> = readSlice,
  ) {
    const malformed = new Set<string>();
    const isRead = ({ metadata }: KubeObject): boolean => namespaces?.includes(metadata.namespace ?? '') ?? true;
    const read = <T extends KubeObject>(objects: readonly T[], how: (object: T) => Read<T>): readonly T[] =>
      objects.filter(isRead).flatMap((object) => {
        const found = how(object);
        if ('object' in found) return [found.object];
        malformed.add(found.malformed);
        return [];
      });
    const reading: Reading = {
      services: (objects) => read<Service>(objects, readService),
      slices: (objects) => read(objects, readAsSlice),
    };
    const byGateway = new Selected(gateway, services, slices, reading);
    const asFlat = new Selected(flat, services, readsFlatSlices ? slices : [], reading);
    const asMembers = new Selected(members, services, readsMemberSlices ? slices : [], reading);
    // The lists are all that the target is asked for, so that all is certain.
    this.mirrored = {
      ...NOTHING_EXPORTED,
      size: byGateway.services.size + asFlat.services.size,
      keys: () => new Set([...byGateway.services.keys(), ...asFlat.services.keys()]),
      get: (key) => exportedAs(byGateway.services.get(key), asFlat.services.get(key)),
      slicesOf: (key) => {
        if (!asFlat.services.has(key)) return byGateway.slicesOf(key);
        return readsFlatSlices ? asFlat.slicesOf(key) : undefined;
      },
    };
    this.members = {
      ...NOTHING_EXPORTED,
      size: asMembers.services.size,
      keys: () => new Set(asMembers.services.keys()),
      get: (key) => asMembers.services.get(key),
      slicesOf: (key) => (readsMemberSlices ? asMembers.slicesOf(key) : undefined),
    };
    this.malformed = [...malformed];
  }
}

/** Returns the names of the Services whose slices must be listed by name. */
export const wantedByName = (services: readonly Service[], labelled: readonly EndpointSlice[]): readonly string[] => {
  const byService = new Map<string, EndpointSlice[]>();
  for (const slice of labelled) {
    for (const key of serviceKeys(slice)) byService.set(key, [...(byService.get(key) ?? []), slice]);
  }
  const wanting = services.filter((service) => needsByName(service, byService.get(keyOf(service)) ?? []));
  return [...new Set(wanting.map(({ metadata }) => metadata.name))].sort();
};
