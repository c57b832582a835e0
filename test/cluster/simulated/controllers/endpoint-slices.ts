/**
 * Keeps one EndpointSlice for every Service with a selector, and mirrors hand-made Endpoints of Services without one
 * into slices of their own, with their labels and annotations, unless they ask to be skipped. A slice of a Service that
 * has lost its selector stays; one whose Service is gone goes, as the garbage collector has it.
 */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { KubeObject } from '../storage/object.ts';
import type { Registry } from '../storage/registry.ts';
import { ENDPOINT_SLICES, ENDPOINTS, idOf, SERVICES } from '../kinds/resources.ts';
import { isSelecting, podsBehind, targetPortOf, type PodEndpoint, type ServiceSpec } from './pods.ts';
import { put, remove } from './writes.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror';
const HEADLESS = 'service.kubernetes.io/headless';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

const CONTROLLER = 'endpointslice-controller.k8s.io';
const MIRRORING = 'endpointslicemirroring-controller.k8s.io';

/** A slice to be: all endpoints share its ports. */
interface Slice {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly ports: readonly object[];
  readonly endpoints: object[];
}

/** A name that is the same for the same slice, and unlike any other's, in the form of a generated one. */
const nameOf = (owner: KubeObject, { addressType, ports }: Slice): string =>
  `${owner.metadata.name}-${createHash('sha256')
    .update(JSON.stringify([owner.kind, addressType, ports]))
    .digest('hex')
    .slice(0, 5)}`;

/** Makes the slices of one owner be just these. */
function putSlices(
  registry: Registry,
  owner: KubeObject,
  kind: string,
  manager: string,
  labels: Record<string, string>,
  annotations: Record<string, string>,
  slices: readonly Slice[],
): void {
  const { namespace = '', name, uid } = owner.metadata;
  const wanted = new Map(slices.map((slice) => [nameOf(owner, slice), slice]));
  for (const slice of slicesOf(registry, namespace, name, manager)) {
    if (!wanted.has(slice.metadata.name)) remove(registry, ENDPOINT_SLICES, namespace, slice.metadata.name);
  }
  for (const [sliceName, { addressType, ports, endpoints }] of wanted) {
    put(registry, ENDPOINT_SLICES, {
      metadata: {
        name: sliceName,
        generateName: `${name}-`,
        namespace,
        labels: { ...labels, [SERVICE_NAME]: name, [MANAGED_BY]: manager },
        ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
        ownerReferences: [{ apiVersion: 'v1', kind, name, uid, controller: true, blockOwnerDeletion: true }],
      },
      addressType,
      endpoints,
      ports,
    });
  }
}

const slicesOf = (registry: Registry, namespace: string, service: string, manager: string): readonly KubeObject[] =>
  registry.storage
    .collection(idOf(ENDPOINT_SLICES))
    .entries()
    .map(([, slice]) => slice)
    .filter(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        metadata.labels?.[SERVICE_NAME] === service &&
        metadata.labels[MANAGED_BY] === manager,
    );

function removeSlices(
  registry: Registry,
  key: string,
  manager: string,
  stays: (slice: KubeObject) => boolean = () => false,
): void {
  const [namespace = '', name = ''] = key.split('/');
  for (const slice of slicesOf(registry, namespace, name, manager)) {
    if (!stays(slice)) remove(registry, ENDPOINT_SLICES, namespace, slice.metadata.name);
  }
}

/** Whether the garbage collector leaves a slice: its owner, if it has one, is the Service that there is. */
const isOwned = ({ metadata }: KubeObject, service: KubeObject | undefined): boolean =>
  (metadata.ownerReferences ?? []).every(
    (owner) => service !== undefined && (owner as { readonly uid?: string }).uid === service.metadata.uid,
  );

function endpointOf(pod: PodEndpoint, publishNotReady: boolean): object {
  return {
    addresses: [pod.ip],
    conditions: {
      ready: publishNotReady || (pod.ready && !pod.terminating),
      serving: pod.ready,
      terminating: pod.terminating,
    },
    ...(pod.hostname === undefined ? {} : { hostname: pod.hostname }),
    ...(pod.nodeName === undefined ? {} : { nodeName: pod.nodeName }),
    targetRef: { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid },
  };
}

function slicesFor(registry: Registry, service: KubeObject): readonly Slice[] {
  const { ports = [], publishNotReadyAddresses = false } = service.spec as ServiceSpec;
  const slices = new Map<string, Slice>();
  for (const pod of podsBehind(registry, service)) {
    const numbers = ports.flatMap((port) => {
      const { name = '', protocol, appProtocol } = port;
      const number = targetPortOf(port, pod);
      return number === undefined
        ? []
        : [{ name, port: number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
    });
    const addressType = isIPv6(pod.ip) ? 'IPv6' : 'IPv4';
    const key = JSON.stringify([addressType, numbers]);
    const slice: Slice = slices.get(key) ?? { addressType, ports: numbers, endpoints: [] };
    slices.set(key, slice);
    slice.endpoints.push(endpointOf(pod, publishNotReadyAddresses));
  }
  return slices.size > 0 ? [...slices.values()] : [{ addressType: 'IPv4', ports: [], endpoints: [] }];
}

/** Reconciles the slices of one Service with a selector. */
export function reconcileEndpointSlices(registry: Registry, key: string): void {
  const service = registry.storage.collection(idOf(SERVICES)).get(key);
  if (service === undefined || !isSelecting(service)) {
    removeSlices(registry, key, CONTROLLER, (slice) => isOwned(slice, service));
    return;
  }
  const headless = (service.spec as ServiceSpec).clusterIP === 'None';
  const labels = { ...service.metadata.labels, ...(headless ? { [HEADLESS]: '' } : {}) };
  putSlices(registry, service, 'Service', CONTROLLER, labels, {}, slicesFor(registry, service));
}

interface Address {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: object;
}

interface Subset {
  readonly addresses?: readonly Address[];
  readonly notReadyAddresses?: readonly Address[];
  readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol: string }[];
}

function mirrored(subsets: readonly Subset[]): readonly Slice[] {
  const slices: Slice[] = [];
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    for (const addressType of ['IPv4', 'IPv6'] as const) {
      const endpoints = all
        .filter(({ address }) => isIPv6(address.ip) === (addressType === 'IPv6'))
        .map(({ address: { ip, ...rest }, ready }) => ({ addresses: [ip], conditions: { ready }, ...rest }));
      if (endpoints.length > 0)
        slices.push({ addressType, ports: ports.map(({ name = '', ...port }) => ({ name, ...port })), endpoints });
    }
  }
  return slices;
}

/** Reconciles the slices that mirror one Endpoints object. */
export function reconcileMirroredSlices(registry: Registry, key: string): void {
  const endpoints = registry.storage.collection(idOf(ENDPOINTS)).get(key);
  const service = registry.storage.collection(idOf(SERVICES)).get(key);
  if (endpoints === undefined || service === undefined || isSelecting(service) || !isMirrored(endpoints)) {
    removeSlices(registry, key, MIRRORING);
    return;
  }
  const { labels = {}, annotations = {} } = endpoints.metadata;
  const { [LAST_APPLIED]: _a, [TRIGGER_TIME]: _t, ...copied } = annotations;
  putSlices(
    registry,
    endpoints,
    'Endpoints',
    MIRRORING,
    labels,
    copied,
    mirrored((endpoints.subsets ?? []) as readonly Subset[]),
  );
}

const isMirrored = ({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean =>
  labels[SKIP_MIRROR] !== 'true' && annotations['control-plane.alpha.kubernetes.io/leader'] === undefined;
