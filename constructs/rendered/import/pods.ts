/**
 * The pods of a headless ServiceImport that are reached through the gateway of their cluster (rule K3). A Service of its
 * own stands for each of them, and leads to the gateway like an endpoint mirror; the slices that DNS reads list the
 * addresses of these Services. They are not mirrors, and have none of the labels of mirrors.
 *
 * Clients of a headless Service connect to the port that a pod listens on, whatever the port of the Service. So that is
 * the port of these Services too, and the one in the slices, by which DNS answers for SRV records.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { podServiceName } from '../../../crds/mcs/derived-name.ts';
import { Annotation, Default, Label, remoteFqName } from '../../../crds/wire.ts';
import { oncePerNumber } from '../mirror/endpoint-mirror.ts';
import { endpointsObjects, type EndpointsSubset } from '../mirror/endpoints.ts';
import { gatewaySubset } from '../mirror/gateway-endpoints.ts';
import { addressSpec } from './ports.ts';
import type { ImportedCluster, ImportedPod, ServiceImportProps } from './props.ts';
import { crossesGateway, type EndpointPort, servicePorts } from '../mirror/ports.ts';

/** What clients call a pod: its hostname, or else its address with dashes, as in DNS. */
export const podHostname = ({ hostname, address = '' }: Pick<ImportedPod, 'hostname' | 'address'>): string =>
  hostname ?? address.replace(/[.:]/g, '-');

/** Objects of the pods of one cluster. */
export interface PodObjects {
  readonly services: readonly ApiObject[];
  /** The slices of these Services, which lead to the gateway. */
  readonly endpoints: readonly ApiObject[];
  /** What DNS answers: the addresses of these Services, by the ports that the pods listen on. */
  readonly subsets: readonly EndpointsSubset[];
}

/**
 * Renders the Services of the pods of one cluster. Of a pod whose Service has no address yet, and of a cluster without a
 * gateway, no endpoints are rendered.
 * @param ports those of the ServiceImport that the cluster has, and that cross a gateway; a pod with none is left out
 * @param labels those of everything that belongs to the ServiceImport
 */
export function podObjects(
  scope: Construct,
  props: ServiceImportProps,
  cluster: ImportedCluster,
  ports: readonly EndpointPort[],
  labels: Readonly<Record<string, string>>,
): PodObjects {
  const pods = (cluster.pods ?? [])
    .map((pod) => ({ pod, ports: portsOf(pod, ports) }))
    .filter((each) => each.ports.length > 0);
  const rendered = pods.map((each) => podObjectsOf(scope, props, cluster, each, labels));
  return {
    services: rendered.map(({ service }) => service),
    endpoints: rendered.flatMap(({ endpoints }) => endpoints),
    subsets: cluster.endpoints === undefined ? [] : subsetsOf(pods),
  };
}

/** A pod, and its ports as the ServiceImport calls them. */
interface Exposed {
  readonly pod: ImportedPod;
  readonly ports: readonly EndpointPort[];
}

const portsOf = (pod: ImportedPod, ports: readonly EndpointPort[]): readonly EndpointPort[] =>
  ports.flatMap(({ name, appProtocol }) => {
    const found = pod.ports.find((each) => crossesGateway(each) && (each.name ?? '') === (name ?? ''));
    return found === undefined ? [] : [{ name, port: found.port, protocol: 'TCP' as const, appProtocol }];
  });

function podObjectsOf(
  scope: Construct,
  { service, namespace, ipFamilies, opaquePorts, static: isStatic }: ServiceImportProps,
  { targetCluster = '', targetClusterDomain = Default.clusterDomain, endpoints }: ImportedCluster,
  { pod, ports: all }: Exposed,
  common: Readonly<Record<string, string>>,
): { readonly service: ApiObject; readonly endpoints: readonly ApiObject[] } {
  const hostname = podHostname(pod);
  const name = podServiceName(service, targetCluster, hostname);
  const of = new Construct(scope, `Pod-${hostname}`);
  const labels = { ...common, [Label.importedFrom]: targetCluster, [Label.importedPod]: hostname };
  const ports = oncePerNumber(all);
  // Without a hostname, a pod has no name of its own: the gateway chooses one of the Service's.
  const remote = pod.hostname === undefined ? service : `${pod.hostname}.${service}`;
  const { ips = [] } = pod;
  return {
    service: new ApiObject(of, 'Resource', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name,
        namespace,
        labels,
        annotations: { ...(opaquePorts && { [Annotation.opaquePorts]: opaquePorts }) },
      },
      spec: { type: 'ClusterIP', ...addressSpec(ips, ipFamilies), ports: servicePorts(ports) },
    }),
    endpoints:
      endpoints === undefined || ips.length === 0
        ? []
        : endpointsObjects(of, {
            name,
            namespace,
            labels,
            annotations: {
              [Annotation.remoteSvcFqName]: remoteFqName(remote, namespace, targetClusterDomain),
              ...(endpoints.identity && { [Annotation.remoteGatewayIdentity]: endpoints.identity }),
            },
            kind: 'slices',
            static: isStatic,
            subsets: [gatewaySubset(endpoints, ports)],
          }),
  };
}

/** Pods that listen on the same ports, in an order that does not depend on that of the pods. */
function subsetsOf(pods: readonly Exposed[]): readonly EndpointsSubset[] {
  const byPorts = Map.groupBy(pods, ({ ports }) => JSON.stringify(ports));
  return [...byPorts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, alike]) => ({
      addresses: alike.flatMap(({ pod }) =>
        (pod.ips ?? []).map((ip) => ({ ip, hostname: podHostname(pod), ready: pod.ready ?? true })),
      ),
      ports: alike[0]?.ports ?? [],
      state: 'ready' as const,
    }));
}
