/** Objects as users and Kubernetes write them, with just what a test is about spelled out. */
import { parseSelector, type Selector } from '../../crds/selector.ts';
import type { ObjectRef } from '../cluster/workload/index.ts';

/** Where Links, their credentials and Leases are. */
export const LINKS_NAMESPACE = 'linkerd-multicluster';
/** The address of the gateway that a {@link link} names. */
export const GATEWAY = '203.0.113.10';

type Labels = Readonly<Record<string, string>>;

export interface ServiceOptions {
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly headless?: boolean;
  readonly selector?: Labels | null;
  readonly ports?: readonly object[];
  readonly spec?: object;
}

export const EXPORTED: Labels = { 'mirror.linkerd.io/exported': 'true' };
export const EXPORTED_FLAT: Labels = { 'mirror.linkerd.io/exported': 'remote-discovery' };

/** The selector of objects with these labels, as a Link has it. */
export const selectorOf = (matchLabels: Labels): Selector => {
  const parsed = parseSelector({ matchLabels }, 'spec.selector');
  if (!parsed.ok || parsed.value === undefined) throw new Error('not a selector');
  return parsed.value;
};

/** An object by its coordinates; without a namespace, of a kind that has none. */
export const objectRef = (apiVersion: string, kind: string, name: string, namespace?: string): ObjectRef => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});

/** A Secret by its name. */
export const secretRef = (name: string, namespace = LINKS_NAMESPACE): ObjectRef =>
  objectRef('v1', 'Secret', name, namespace);

export const namespace = (name: string): ObjectRef => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

export const service = (name: string, options: ServiceOptions = {}): ObjectRef & { readonly spec: object } => {
  const { labels, annotations, headless = false, ports = [{ name: 'http', port: 80, targetPort: 8080 }] } = options;
  const selector = options.selector === undefined ? { app: name } : options.selector;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: options.namespace ?? 'shop',
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec: {
      ports,
      ...(selector !== null && { selector }),
      ...(headless && { clusterIP: 'None' }),
      ...options.spec,
    },
  };
};

export interface SliceOptions {
  readonly namespace?: string;
  /** Labels besides the Service's name, as Kubernetes copies the Service's. @default exported */
  readonly labels?: Labels;
  readonly endpoints?: readonly { readonly hostname?: string; readonly ready?: boolean; readonly ip?: string }[];
  readonly ports?: readonly object[] | null;
  readonly name?: string;
}

/** An EndpointSlice of a Service, as Kubernetes' controller writes it. */
export const slice = (of: string, options: SliceOptions = {}): ObjectRef => {
  const { endpoints = [{}], ports = [{ name: 'http', port: 8080, protocol: 'TCP' }], labels = EXPORTED } = options;
  const manifest = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: options.name ?? `${of}-abcde`,
      namespace: options.namespace ?? 'shop',
      labels: {
        ...labels,
        'kubernetes.io/service-name': of,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
    },
    addressType: 'IPv4',
    endpoints: endpoints.map(({ hostname, ready = true, ip }, index) => ({
      addresses: [ip ?? `10.244.0.${index + 1}`],
      conditions: { ready },
      ...(hostname !== undefined && { hostname }),
    })),
    ports,
  };
  return manifest;
};

/** The slice of a StatefulSet's headless Service: one endpoint for each of the hostnames. */
export const statefulSlice = (
  of: string,
  hostnames: readonly string[],
  options: Omit<SliceOptions, 'endpoints'> & { readonly notReady?: readonly string[] } = {},
): ObjectRef =>
  slice(of, {
    ...options,
    endpoints: hostnames.map((hostname) => ({ hostname, ready: options.notReady?.includes(hostname) !== true })),
  });

/** A Link as `linkerd multicluster link` writes it, in v1alpha3. */
export const link = (
  name: string,
  spec: object = {},
  metadata: object = {},
): ObjectRef & { readonly spec: object } => ({
  apiVersion: 'multicluster.linkerd.io/v1alpha3',
  kind: 'Link',
  metadata: { name, namespace: LINKS_NAMESPACE, ...metadata },
  spec: {
    targetClusterName: name,
    targetClusterDomain: 'cluster.local',
    targetClusterLinkerdNamespace: 'linkerd',
    clusterCredentialsSecret: `cluster-credentials-${name}`,
    gatewayAddress: GATEWAY,
    gatewayPort: '4143',
    gatewayIdentity: 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local',
    probeSpec: { path: '/ready', port: '4191', period: '100ms', timeout: '1s', failureThreshold: '3' },
    selector: { matchLabels: { 'mirror.linkerd.io/exported': 'true' } },
    remoteDiscoverySelector: { matchLabels: { 'mirror.linkerd.io/exported': 'remote-discovery' } },
    ...spec,
  },
});

/** The credentials of a target, as `linkerd multicluster link` writes them. */
export const credentials = (cluster: string, kubeconfig: string): ObjectRef => {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'mirror.linkerd.io/remote-kubeconfig',
    metadata: { name: `cluster-credentials-${cluster}`, namespace: LINKS_NAMESPACE },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  };
  return manifest;
};
