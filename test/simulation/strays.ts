/** Rule C3: what leads from a Service of ours to somewhere else, since somebody gave it a selector, or endpoints. */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import { isFederated, isKeptByKubernetes } from './members.ts';
import type { Sender } from './world/internet.ts';
import type { SimulatedProcess } from './world/world.ts';

/** Returns the Service of which an object is endpoints. */
export const serviceBehind = (east: Pick<HistoryCluster, 'get'>, object: KubeObject): KubeObject | undefined => {
  const service = nameBehind(object);
  return service === undefined ? undefined : east.get('v1', 'Service', object.metadata.namespace, service);
};

/** Returns the name of the Service of which an object is endpoints. */
const nameBehind = ({ kind, metadata: { name, labels = {} } }: KubeObject): string | undefined =>
  kind === 'EndpointSlice' ? labels['kubernetes.io/service-name'] : kind === 'Endpoints' ? name : undefined;

/**
 * Whether a slice of ours is left to Kubernetes: somebody has marked it as maintained by that, and it leads from no Service of
 * ours.
 */
export const isLeftToKubernetes = (
  east: Pick<HistoryCluster, 'get'>,
  slice: KubeObject,
  isWritten: (object: KubeObject) => boolean,
): boolean => {
  if (!isKeptByKubernetes(slice)) return false;
  const service = serviceBehind(east, slice);
  return service === undefined || !isWritten(service);
};

/**
 * Returns what is wrong with the slices of our Services: each is ours, or mirrors v1 Endpoints. Those are ours, or
 * somebody else's, which are left alone (A6).
 * @param kind in which form endpoints are written
 * @param isWritten whether an object is ours
 */
export const strays = (
  east: HistoryCluster,
  kind: 'endpoints' | 'slices',
  isWritten: (object: KubeObject) => boolean,
): readonly string[] =>
  east.list('discovery.k8s.io/v1', 'EndpointSlice').flatMap((slice) => {
    const service = serviceBehind(east, slice);
    if (service === undefined || !isWritten(service) || isWritten(slice)) return [];
    const { namespace, name, labels = {} } = slice.metadata;
    const by = labels['endpointslice.kubernetes.io/managed-by'];
    const isOfOurs = OURS.some((label) => label in labels);
    // Somebody's own Endpoints are left alone, and Kubernetes copies them, labels and all.
    const endpoints = east.get('v1', 'Endpoints', namespace, service.metadata.name);
    const isOfOthers = endpoints !== undefined && !isWritten(endpoints);
    const mayBeCopied = (kind === 'endpoints' && !isFederated(service)) || !isOfOurs || isOfOthers;
    if (by === 'endpointslicemirroring-controller.k8s.io' && mayBeCopied) return [];
    return [`slice ${namespace}/${name} of Service ${service.metadata.name} is made by ${by ?? 'hand'} (C3)`];
  });

/** The path of a request for one Service. */
const SERVICE = /^\/api\/v1\/namespaces\/([^/]+)\/services\/([^/?]+)$/;

/** A Service as a process has read it. */
interface Reading {
  readonly process: SimulatedProcess;
  readonly service: string;
  readonly atMs: number;
  /** Whether it was ours, and had no selector. */
  readonly isClear: boolean;
}

/**
 * What the operator reads of Services before it deletes endpoints that are not ours. No precondition of a deletion can name
 * the Service, so that it may stop being ours while the request is on its way. The Service must then have been ours when
 * that process read it last before it sent the request, and one reading is good for one deletion.
 */
export class Readings {
  readonly #east: Pick<HistoryCluster, 'get'>;
  readonly #nowMs: () => number;
  readonly #isWritten: (object: KubeObject) => boolean;
  #readings: Reading[] = [];

  /** @param isWritten whether an object is ours */
  constructor(east: Pick<HistoryCluster, 'get'>, nowMs: () => number, isWritten: (object: KubeObject) => boolean) {
    this.#east = east;
    this.#nowMs = nowMs;
    this.#isWritten = isWritten;
  }

  /** Notes a request that is carried out. */
  asked({ process, method, url }: Sender & { readonly method: string; readonly url: string }): void {
    const [, namespace, name] = (method === 'GET' && SERVICE.exec(url)) || [];
    if (namespace === undefined || name === undefined) return;
    const found = this.#east.get('v1', 'Service', namespace, name);
    const isClear = found !== undefined && this.#isWritten(found) && !hasSelector(found);
    const service = `${namespace}/${name}`;
    this.#readings.push({ process, service, atMs: this.#nowMs(), isClear });
  }

  /** Whether endpoints that are not ours may be deleted by what was read of their Service. That reading is used up. */
  allow({ process, sentMs }: Sender, endpoints: KubeObject): boolean {
    const service = `${endpoints.metadata.namespace}/${nameBehind(endpoints)}`;
    const isOfIt = (reading: Reading): boolean => reading.process === process && reading.service === service;
    const last = this.#readings.findLast((reading) => isOfIt(reading) && reading.atMs <= sentMs);
    this.#readings = this.#readings.filter((reading) => !isOfIt(reading) || reading.atMs > sentMs);
    return last?.isClear === true;
  }
}

const hasSelector = ({ spec }: KubeObject): boolean =>
  Object.keys((spec as { readonly selector?: object } | undefined)?.selector ?? {}).length > 0;

/** Labels of our Services, which Kubernetes copies to their endpoints. */
const OURS = ['mirror.linkerd.io/mirrored-service', 'mirror.linkerd.io/mirrored-gateway'];
