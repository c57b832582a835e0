/** Keeps the Endpoints of every Service with a selector: the addresses of its Pods, ready or not. */
import type { KubeObject } from '../storage/object.ts';
import type { Registry } from '../storage/registry.ts';
import { ENDPOINTS, idOf, SERVICES } from '../kinds/resources.ts';
import { isSelecting, podsBehind, targetPortOf, type PodEndpoint, type ServiceSpec } from './pods.ts';
import { put, remove } from './writes.ts';

interface Subset {
  addresses?: object[];
  notReadyAddresses?: object[];
  readonly ports: readonly object[];
}

const addressOf = ({ ip, hostname, nodeName, name, namespace, uid }: PodEndpoint): object => ({
  ip,
  ...(hostname === undefined ? {} : { hostname }),
  ...(nodeName === undefined ? {} : { nodeName }),
  targetRef: { kind: 'Pod', namespace, name, uid },
});

function portsOf(service: KubeObject, pod: PodEndpoint): readonly object[] {
  const { ports = [] } = service.spec as ServiceSpec;
  return ports.flatMap((port) => {
    const number = targetPortOf(port, pod);
    const { name, protocol, appProtocol } = port;
    if (number === undefined) return [];
    return [
      {
        ...(name === undefined ? {} : { name }),
        port: number,
        protocol,
        ...(appProtocol === undefined ? {} : { appProtocol }),
      },
    ];
  });
}

function subsetsOf(registry: Registry, service: KubeObject): readonly Subset[] {
  const { publishNotReadyAddresses = false } = service.spec as ServiceSpec;
  const subsets = new Map<string, Subset>();
  for (const pod of podsBehind(registry, service)) {
    if (pod.terminating && !publishNotReadyAddresses) continue;
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const subset = subsets.get(key) ?? { ports };
    subsets.set(key, subset);
    const list = pod.ready || publishNotReadyAddresses ? 'addresses' : 'notReadyAddresses';
    (subset[list] ??= []).push(addressOf(pod));
  }
  return [...subsets.values()];
}

/** Reconciles the Endpoints of one Service. */
export function reconcileEndpoints(registry: Registry, key: string): void {
  const service = registry.storage.collection(idOf(SERVICES)).get(key);
  if (service === undefined) {
    const [namespace = '', name = ''] = key.split('/');
    remove(registry, ENDPOINTS, namespace, name);
    return;
  }
  if (!isSelecting(service)) return;
  const { namespace, name, labels } = service.metadata;
  const headless = (service.spec as ServiceSpec).clusterIP === 'None';
  put(registry, ENDPOINTS, {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...labels,
        'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
        ...(headless ? { 'service.kubernetes.io/headless': '' } : {}),
      },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': triggerTime(registry, service) },
    },
    subsets: subsetsOf(registry, service),
  });
}

/** When the endpoints last had cause to change: kept as it is while there is one already. */
const triggerTime = (registry: Registry, service: KubeObject): string => {
  const live = registry.storage
    .collection(idOf(ENDPOINTS))
    .get(`${service.metadata.namespace ?? ''}/${service.metadata.name}`);
  return (
    live?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'] ??
    service.metadata.creationTimestamp ??
    ''
  );
};
