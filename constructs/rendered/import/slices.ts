/**
 * The slices of a ServiceImport, each of one cluster (rules K3, K4). Those of the gateway shape belong to the derived
 * Service, or to those of pods, so that Linkerd sends their requests there. All others are for DNS and other readers of
 * the MCS API: they are no Service's, and so never those of the exported Service in its own cluster.
 */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { derivedName, importSlicePrefix } from '../../../crds/mcs/derived-name.ts';
import { Annotation, Default, Label, remoteFqName } from '../../../crds/wire.ts';
import { copiedSlice, type CopiedSlice } from '../mirror/copied-slice.ts';
import { endpointsObjects, type EndpointsSubset } from '../mirror/endpoints.ts';
import { sharedPorts } from '../federated/members.ts';
import { gatewaySubset } from '../mirror/gateway-endpoints.ts';
import { podObjects } from './pods.ts';
import { derivedPortName } from './ports.ts';
import type { ImportedCluster, ServiceImportProps } from './props.ts';
import { crossesGateway, type EndpointPort } from '../mirror/ports.ts';

/** What a ServiceImport has of its clusters. */
interface ImportObjects {
  /** Services of pods. */
  readonly pods: readonly ApiObject[];
  readonly endpoints: readonly ApiObject[];
}

/** Renders what there is of all clusters; `own` are the labels of everything that belongs to the ServiceImport. */
export function importObjects(
  scope: Construct,
  props: ServiceImportProps,
  own: Readonly<Record<string, string>>,
): ImportObjects {
  const all = (props.clusters ?? []).map((cluster) =>
    objectsOf(new Construct(scope, `Cluster-${cluster.id}`), props, cluster, own),
  );
  return { pods: all.flatMap(({ pods }) => pods), endpoints: all.flatMap(({ endpoints }) => endpoints) };
}

const NOTHING: ImportObjects = { pods: [], endpoints: [] };

function objectsOf(
  scope: Construct,
  props: ServiceImportProps,
  cluster: ImportedCluster,
  own: Readonly<Record<string, string>>,
): ImportObjects {
  const { type, mode = 'gateway', ports, service } = props;
  const shared = cluster.ports === undefined ? ports : sharedPorts(ports, cluster.ports);
  if (shared.length === 0 && ports.length > 0) return NOTHING;
  const labels = {
    ...own,
    [Label.importedService]: service,
    [Label.sourceCluster]: cluster.id,
    ...(cluster.targetCluster !== undefined && { [Label.importedFrom]: cluster.targetCluster }),
  };
  if (mode === 'remote-discovery' || cluster.targetCluster === undefined) {
    const copies = (cluster.slices ?? []).map((slice) => copy(scope, props, cluster, slice, labels, shared));
    return { ...NOTHING, endpoints: copies };
  }
  const crossing = shared.filter(crossesGateway);
  if (crossing.length === 0) return NOTHING;
  if (type === 'Headless') {
    const pods = podObjects(scope, props, cluster, crossing, own);
    return {
      pods: pods.services,
      endpoints: [...pods.endpoints, ...objects(scope, props, cluster, labels, pods.subsets)],
    };
  }
  if (cluster.endpoints === undefined) return NOTHING;
  const nameOf = derivedPortName(ports);
  const named = crossing.map((port) => ({ ...port, name: nameOf(port.name ?? '') }));
  const subsets = [gatewaySubset(cluster.endpoints, named)];
  return { ...NOTHING, endpoints: objects(scope, props, cluster, labels, subsets) };
}

const objects = (
  scope: Construct,
  { service, namespace, type, static: isStatic }: ServiceImportProps,
  { targetCluster, targetClusterDomain = Default.clusterDomain, endpoints }: ImportedCluster,
  labels: Readonly<Record<string, string>>,
  subsets: readonly EndpointsSubset[],
): readonly ApiObject[] => {
  const name = derivedName(service);
  const isOfService = type !== 'Headless';
  return endpointsObjects(scope, {
    name,
    namespace,
    slicePrefix: importSlicePrefix(service, targetCluster),
    isOfService,
    labels,
    annotations: {
      ...(isOfService && { [Annotation.remoteSvcFqName]: remoteFqName(service, namespace, targetClusterDomain) }),
      ...(isOfService && endpoints?.identity ? { [Annotation.remoteGatewayIdentity]: endpoints.identity } : {}),
    },
    kind: 'slices',
    static: isStatic,
    subsets,
  });
};

/** A copy of a slice: hostnames only for a headless ServiceImport, and pods and nodes only of the same cluster. */
const copy = (
  scope: Construct,
  { service, namespace, type, mode = 'gateway', ports, static: isStatic }: ServiceImportProps,
  { targetCluster }: ImportedCluster,
  slice: CopiedSlice,
  labels: Readonly<Record<string, string>>,
  shared: readonly EndpointPort[],
): ApiObject => {
  const names = new Set(shared.map(({ name = '' }) => name));
  const isHeadless = type === 'Headless';
  const nameOf = isHeadless ? (name: string) => name : derivedPortName(ports);
  return copiedSlice(
    new Construct(scope, `Slice-${slice.name}`),
    {
      ...slice,
      endpoints: slice.endpoints.map(({ hostname, targetRef, nodeName, ...endpoint }) => ({
        ...endpoint,
        ...(isHeadless && { hostname }),
        ...(targetCluster === undefined && { targetRef, nodeName }),
      })),
      ports: slice.ports
        .filter(({ name = '' }) => names.has(name))
        .map((port) => ({ ...port, name: nameOf(port.name ?? '') })),
    },
    {
      name: copyName(service, targetCluster, slice.name),
      namespace,
      labels: {
        ...labels,
        ...(!isHeadless && mode === 'gateway' && { [Label.serviceName]: derivedName(service) }),
      },
      static: isStatic,
    },
  );
};

/** Name of the copy of a slice. */
export const copyName = (service: string, targetCluster: string | undefined, slice: string): string =>
  `${importSlicePrefix(service, targetCluster)}.${slice}`;
