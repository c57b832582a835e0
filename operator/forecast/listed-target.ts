/** What a target exports, read once from lists. Pure: another list is another value. */
import type { Selector } from '../../crds/selector.ts';
import { type EndpointSlice, keyOf, type KubeObject, type Service } from '../kube/objects.ts';
import { type Exported, exportedAs, needsByName, slicesBehind } from '../target/exported.ts';
import { type Read, readService, readSlice, serviceKeys } from '../target/objects.ts';
import type { TargetView } from '../target/target.ts';

/** What selects the exports of a Link. */
export interface Selectors {
  readonly gateway: Selector | undefined;
  readonly flat: Selector | undefined;
}

/** What was listed. More than the selectors select may be in it. */
export interface TargetLists {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  /** Names of the only namespaces that are read; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
}

export class ListedTarget implements TargetView {
  readonly #gateway: ReadonlyMap<string, Service>;
  readonly #flat: ReadonlyMap<string, Service>;
  /** Slices by `namespace/name` of the Service. */
  readonly #slices = new Map<string, EndpointSlice[]>();
  /** Names of the slices that carry the labels of exports, with their namespace. */
  readonly #labelled: ReadonlySet<string>;
  /** Objects that are not what the API allows; they are left out. */
  readonly malformed: readonly string[];

  constructor({ services, slices, namespaces }: TargetLists, { gateway, flat }: Selectors) {
    const malformed: string[] = [];
    const isRead = ({ metadata }: KubeObject): boolean => namespaces?.includes(metadata.namespace ?? '') ?? true;
    const read = <T extends KubeObject>(objects: readonly T[], how: (object: T) => Read<T>): readonly T[] =>
      objects.filter(isRead).flatMap((object) => {
        const found = how(object);
        if ('object' in found) return [found.object];
        malformed.push(found.malformed);
        return [];
      });
    const selected = (selector: Selector | undefined): ReadonlyMap<string, Service> => {
      const matching = services.filter(({ metadata }) => selector?.matches(metadata.labels) === true);
      return new Map(read(matching, readService).map((service) => [keyOf(service), service]));
    };
    this.#gateway = selected(gateway);
    this.#flat = selected(flat);
    // What is behind no Service in gateway mode is never read.
    const behind = slices.filter((slice) => serviceKeys(slice).some((key) => this.#gateway.has(key)));
    this.#labelled = new Set(behind.filter(({ metadata }) => gateway?.matches(metadata.labels)).map(keyOf));
    for (const slice of read(behind, readSlice)) {
      for (const key of serviceKeys(slice)) this.#slices.set(key, [...(this.#slices.get(key) ?? []), slice]);
    }
    this.malformed = malformed;
  }

  get size(): number {
    return this.#gateway.size + this.#flat.size;
  }

  /** All is known. */
  decides(): boolean {
    return true;
  }

  /** Federated Services are not forecast. */
  decidesMember(): boolean {
    return false;
  }

  member(): undefined {
    return undefined;
  }

  /** The lists are all that is asked of the target. */
  confirms(): boolean {
    return true;
  }

  get(key: string): Exported | undefined {
    return exportedAs(this.#gateway.get(key), this.#flat.get(key));
  }

  keys(): ReadonlySet<string> {
    return new Set([...this.#gateway.keys(), ...this.#flat.keys()]);
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    const service = this.#gateway.get(key);
    if (service === undefined) return [];
    const all = this.#slices.get(key) ?? [];
    return slicesBehind(
      service,
      all.filter((slice) => this.#labelled.has(keyOf(slice))),
      all,
    );
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
