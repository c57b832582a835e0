/**
 * What one cluster exports by the MCS API, read once from lists: ServiceExports, their Services and slices, and its id.
 */
import { AboutApi } from '../../crds/wire.ts';
import { type EndpointSlice, keyOf, type KubeObject, type Service, splitKey } from '../kube/objects.ts';
import {
  type ClusterProperty,
  readClusterId,
  readTargetExport,
  type ServiceExport,
} from '../target/read/mcs-objects.ts';
import { type Read, readExportedService, readExportedSlice, serviceKeys } from '../target/read/objects.ts';
import type { ServiceExports } from '../target/aspect.ts';
import { ExportNamespaces } from '../target/watch/export-namespaces.ts';
import { type Listed, ListedKind } from './listed-kind.ts';

/** What was listed. More Services and slices than are exported may be among them. */
export interface ExportLists {
  readonly exports: Listed;
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  /** ClusterProperties. */
  readonly properties: Listed;
  /** The only namespaces that are read; undefined for all. */
  readonly namespaces: readonly string[] | undefined;
}

export class ListedExports implements ServiceExports {
  readonly isRead = true;
  /** The id that the cluster claims; null if it claims none, or does not say. */
  readonly claimedId: string | null;
  readonly #exports: ListedKind<ServiceExport>;
  readonly #namespaces: ExportNamespaces;
  readonly #services = new Map<string, Service>();
  /** By `namespace/name` of their Service. */
  readonly #slices = new Map<string, EndpointSlice[]>();

  /** @param readAsSlice reads a slice, or refuses it */
  constructor(
    { exports, services, slices, properties, namespaces }: ExportLists,
    readAsSlice: (object: EndpointSlice) => Read<EndpointSlice> = readExportedSlice,
  ) {
    this.#exports = new ListedKind<ServiceExport>(exports, namespaces, {
      trim: (object) => objectOf(readTargetExport(object)),
    });
    this.#namespaces = new ExportNamespaces(namespaces, (namespace) => this.#exports.stateIn(namespace));
    for (const each of services.map((service) => objectOf(readExportedService(service))))
      if (each !== undefined) this.#services.set(keyOf(each), each);
    for (const each of slices.map((slice) => objectOf(readAsSlice(slice))))
      for (const key of serviceKeys(each))
        if (each !== undefined) this.#slices.set(key, [...(this.#slices.get(key) ?? []), each]);
    this.claimedId = idIn(properties);
  }

  get size(): number {
    return this.#exports.store.size;
  }

  keys(): ReadonlySet<string> {
    return new Set([...this.#exports.store.values()].map(keyOf));
  }

  exportOf(key: string): ServiceExport | undefined {
    return this.#exports.store.get(key);
  }

  get(key: string): Service | undefined {
    return this.exportOf(key) && this.#services.get(key);
  }

  slicesOf(key: string): readonly EndpointSlice[] {
    return this.get(key) === undefined ? [] : (this.#slices.get(key) ?? []);
  }

  decides(key: string): boolean {
    return this.#namespaces.isReadable(splitKey(key).namespace);
  }

  since(key: string): string {
    return this.exportOf(key)?.metadata.creationTimestamp ?? '';
  }

  confirms(): boolean {
    return true;
  }

  ask(): void {
    // The lists have answered.
  }

  forget(): void {
    // They answer the same again.
  }
}

const idIn = (properties: Listed): string | null => {
  if (typeof properties === 'string') return null;
  const named = properties.filter(({ metadata }) => metadata.name === AboutApi.clusterId);
  const [found] = named.flatMap((each) => objectOf(readClusterId(each as ClusterProperty)) ?? []);
  return found?.spec.value ?? null;
};

const objectOf = <T extends KubeObject>(read: Read<T>): T | undefined => ('object' in read ? read.object : undefined);
