/** Observed states, with just what a test is about spelled out: an exported Service `web` of west, in namespace shop. */
import type { Endpoints, EndpointSlice, KubeObject, Service } from '../../../operator/kube/objects.ts';
import type { GatewayView, LinkView, Observed } from '../../../operator/mirror/observed.ts';

export interface ObservedOptions extends Partial<Omit<Observed, 'link' | 'gateway' | 'target'>> {
  readonly link?: Partial<LinkView>;
  /** Null: the Link has none. */
  readonly gateway?: Partial<GatewayView> | null;
  /** Null: not exported. */
  readonly service?: Service | null;
  readonly mode?: 'gateway' | 'remote-discovery';
}

export const targetService = (spec: Service['spec'] = {}, metadata: object = {}): Service => ({
  metadata: {
    name: 'web',
    namespace: 'shop',
    resourceVersion: '42',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { 'mirror.linkerd.io/exported': 'true' },
    ...metadata,
  },
  spec: { ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec },
});

export const headlessService = (spec: Service['spec'] = {}): Service => targetService({ clusterIP: 'None', ...spec });

export const targetSlice = (
  endpoints: readonly { readonly hostname?: string; readonly ready?: boolean }[],
  port = 8080,
): EndpointSlice => ({
  metadata: { name: 'web-abc', namespace: 'shop' },
  addressType: 'IPv4',
  endpoints: endpoints.map(({ hostname, ready = true }) => ({
    addresses: [],
    conditions: { ready },
    ...(hostname === undefined ? {} : { hostname }),
  })),
  ports: [{ name: 'http', port, protocol: 'TCP' }],
});

export const NOTHING_OWNED = { services: [], endpoints: [], slices: [] };

/** A mirror of ours as it stands in the source cluster. */
export const ownedService = (name: string, clusterIP = '10.96.0.1'): Service => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${name}`,
    resourceVersion: '7',
    labels: { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': 'west' },
  },
  spec: { clusterIP },
});

/** The endpoint mirror of a pod as it stands in the source cluster. @param name `<hostname>-west` unless it is given */
export const endpointMirror = (hostname: string, clusterIP?: string, name = `${hostname}-west`): Service => {
  const { metadata, ...rest } = ownedService(name, clusterIP);
  const labels = { ...metadata.labels, 'mirror.linkerd.io/headless-mirror-svc-name': 'web-west' };
  const annotations = { 'mirror.linkerd.io/remote-svc-fq-name': `${hostname}.web.shop.svc.cluster.local` };
  return { ...rest, metadata: { ...metadata, labels, annotations } };
};

/** The same with one port. */
export const endpointMirrorOf = (hostname: string, port: number): Service => ({
  ...endpointMirror(hostname),
  spec: { ports: [{ name: 'http', port, protocol: 'TCP' }] },
});

/** Endpoints of a mirror of ours. */
export const ownedEndpoints = (
  name: string,
  subsets: NonNullable<Endpoints['subsets']>,
  annotations = {},
): Endpoints => ({
  metadata: { name, namespace: 'shop', labels: { a: 'b' }, annotations },
  subsets,
});

/** A slice of a mirror of ours that lists the gateway. */
export const ownedSlice = (
  name: string,
  service: string,
  listed: { readonly addresses: readonly string[]; readonly ready: boolean } | undefined,
): EndpointSlice => ({
  metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': service } },
  addressType: 'IPv4',
  endpoints: listed ? [{ addresses: listed.addresses, conditions: { ready: listed.ready } }] : [],
  ports: [{ name: 'http', port: 1, protocol: 'TCP' }],
});

export const observed = ({ link, gateway, service, mode = 'gateway', ...rest }: ObservedOptions = {}): Observed => ({
  link: {
    cluster: 'west',
    clusterDomain: 'cluster.local',
    excludedLabels: [],
    excludedAnnotations: [],
    headless: true,
    createNamespaces: false,
    endpointsKind: 'endpoints',
    ...link,
  },
  ...(gateway === null
    ? {}
    : {
        gateway: {
          port: 4143,
          identity: 'gw.id',
          addresses: ['203.0.113.1', '203.0.113.2'],
          alive: true,
          ...gateway,
        },
      }),
  namespace: 'shop',
  name: 'web',
  ...(service === null ? {} : { target: { service: service ?? targetService(), mode } }),
  slices: [targetSlice([{}])],
  departed: new Map(),
  isAdmitted: true,
  admitsPod: () => true,
  decidable: true,
  isConfirmed: true,
  isForeign: () => false,
  namespaceState: 'exists',
  owned: NOTHING_OWNED,
  ...rest,
});

/** An object after somebody took a label away. */
export const withoutLabel = <T extends KubeObject>(object: T, label: string): T => {
  const { [label]: _, ...labels } = object.metadata.labels ?? {};
  return { ...object, metadata: { ...object.metadata, labels } };
};
