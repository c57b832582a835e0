/**
 * The slices of a ServiceImport, each of one cluster (rules K3, K4). Those of the gateway shape belong to the derived
 * Service, so that Linkerd sends its requests there. All others are for DNS and other readers of the MCS API: they are no
 * Service's, and so never those of the exported Service in its own cluster.
 */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { derivedName } from '../../crds/mcs/derived-name.ts';
import { Annotation, Default, Label, remoteFqName } from '../../crds/wire.ts';
import { copiedSlice, type CopiedSlice } from './copied-slice.ts';
import { endpointsObjects, type EndpointsSubset } from './endpoints.ts';
import { sharedPorts } from './federated-members.ts';
import { gatewaySubset } from './gateway-endpoints.ts';
import type { HeadlessMirrorSubset } from './headless-mirror.ts';
import { derivedPortName } from './import-ports.ts';
import type { ImportedCluster, ServiceImportProps } from './import-props.ts';
import { crossesGateway, type EndpointPort } from './ports.ts';

/** Renders the slices of all clusters; `own` are the labels of everything that belongs to the ServiceImport. */
export const importSlices = (
  scope: Construct,
  props: ServiceImportProps,
  own: Readonly<Record<string, string>>,
): readonly ApiObject[] =>
  (props.clusters ?? []).flatMap((cluster) =>
    slicesOf(new Construct(scope, `Cluster-${cluster.id}`), props, cluster, {
      ...own,
      [Label.importedService]: props.service,
      [Label.sourceCluster]: cluster.id,
      ...(cluster.targetCluster !== undefined && { [Label.importedFrom]: cluster.targetCluster }),
    }),
  );

const slicesOf = (
  scope: Construct,
  props: ServiceImportProps,
  cluster: ImportedCluster,
  labels: Readonly<Record<string, string>>,
): readonly ApiObject[] => {
  const { type, mode = 'gateway', ports } = props;
  const shared = cluster.ports === undefined ? ports : sharedPorts(ports, cluster.ports);
  if (shared.length === 0 && ports.length > 0) return [];
  if (mode === 'remote-discovery' || cluster.targetCluster === undefined)
    return (cluster.slices ?? []).map((slice) => copy(scope, props, cluster, slice, labels, shared));
  const crossing = shared.filter(crossesGateway);
  if (crossing.length === 0 && ports.length > 0) return [];
  if (type === 'Headless') {
    const names = new Set(crossing.map(({ name = '' }) => name));
    const subsets = (cluster.endpointMirrors ?? [])
      .map((subset) => mirrored(subset, names))
      .filter((subset) => subset.ports.length > 0 || ports.length === 0);
    return objects(scope, props, cluster, labels, subsets);
  }
  const nameOf = derivedPortName(ports);
  const named = crossing.map((port) => ({ ...port, name: nameOf(port.name ?? '') }));
  return cluster.endpoints === undefined
    ? []
    : objects(scope, props, cluster, labels, [gatewaySubset(cluster.endpoints, named)]);
};

/** Pods by their endpoint mirrors, on the ports that are imported. */
const mirrored = ({ addresses, ports }: HeadlessMirrorSubset, names: ReadonlySet<string>): EndpointsSubset => ({
  addresses,
  ports: ports.filter(({ name = '' }) => names.has(name)),
  state: 'ready',
});

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

/** What the names of a cluster's slices start with. No Service has a dot in its name, and no cluster in its own. */
export const importSlicePrefix = (service: string, targetCluster: string | undefined): string =>
  `${derivedName(service)}.${targetCluster === undefined ? 'local' : `from-${targetCluster}`}`;
