/** What the endpoint controllers need to know of a Pod, and of the Service that selects it. */
import type { KubeObject } from '../storage/object.ts';
import type { Registry } from '../storage/registry.ts';
import { idOf, PODS } from '../kinds/resources.ts';
import { matchesLabels } from '../storage/selectors.ts';

/** A port of a Service. */
export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
  readonly targetPort: number | string;
  readonly appProtocol?: string;
}

/** The part of a Service's spec that endpoints follow from. */
export interface ServiceSpec {
  readonly type: string;
  readonly clusterIP?: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly ports?: readonly ServicePort[];
  readonly publishNotReadyAddresses?: boolean;
}

/** A Pod as an endpoint. */
export interface PodEndpoint {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly ip: string;
  readonly nodeName: string | undefined;
  /** Set if the Pod has a name of its own under the Service. */
  readonly hostname: string | undefined;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** The container ports by name. */
  readonly ports: ReadonlyMap<string, number>;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly containers: readonly {
    readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  }[];
}

interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

const isReady = ({ conditions = [] }: PodStatus): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

function endpointOf(pod: KubeObject, service: string): PodEndpoint | undefined {
  const [spec, status] = [pod.spec as PodSpec, pod.status as PodStatus];
  if (!status.podIP || status.phase === 'Succeeded' || status.phase === 'Failed') return undefined;
  const named = spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, containerPort }) => (name === undefined ? [] : [[name, containerPort] as const])),
  );
  return {
    name: pod.metadata.name,
    namespace: pod.metadata.namespace!,
    uid: pod.metadata.uid!,
    ip: status.podIP,
    nodeName: spec.nodeName,
    hostname: spec.hostname && spec.subdomain === service ? spec.hostname : undefined,
    ready: isReady(status),
    terminating: pod.metadata.deletionTimestamp !== undefined,
    ports: new Map(named),
  };
}

/** The Pods behind a Service that have an address and have not ended, by name. */
export function podsBehind(registry: Registry, service: KubeObject): readonly PodEndpoint[] {
  const { selector = {} } = service.spec as ServiceSpec;
  const { namespace, name } = service.metadata;
  return registry.storage
    .collection(idOf(PODS))
    .entries()
    .filter(([, { metadata }]) => metadata.namespace === namespace && matchesLabels(selector, metadata.labels))
    .flatMap(([, pod]) => endpointOf(pod, name) ?? []);
}

/** The port of a Pod that a Service port leads to; undefined if the Pod has none of that name. */
export const targetPortOf = ({ targetPort }: ServicePort, { ports }: PodEndpoint): number | undefined =>
  typeof targetPort === 'number' ? targetPort : ports.get(targetPort);

/** Whether Kubernetes makes the endpoints of a Service. */
export const isSelecting = (service: KubeObject): boolean => {
  const { type, selector } = service.spec as ServiceSpec;
  return type !== 'ExternalName' && selector !== undefined && Object.keys(selector).length > 0;
};
