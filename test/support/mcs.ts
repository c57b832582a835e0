/** Exports and imports of the MCS API: what users and Kubernetes write of them, and what an operator makes of it. */
import { mcsCrds } from '../../crds/index.ts';
import type { TestCluster } from '../cluster/index.ts';
import {
  type Api,
  eventually,
  installCrd,
  type KubeObject,
  type ObjectRef,
  uninstallCrd,
} from '../cluster/workload/index.ts';
import { objectRef } from './builders.ts';
import type { ServiceObject } from './objects.ts';

const MCS = 'multicluster.x-k8s.io/v1beta1';
const SERVICE_NAME = 'kubernetes.io/service-name';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface ServiceExportObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface ServiceImportObject extends KubeObject {
  readonly spec: {
    readonly type: string;
    readonly ports: readonly {
      readonly name?: string;
      readonly port: number;
      readonly protocol?: string;
      readonly appProtocol?: string;
    }[];
    readonly ips?: readonly string[];
    readonly ipFamilies?: readonly string[];
    readonly sessionAffinity?: string;
    readonly sessionAffinityConfig?: object;
    readonly internalTrafficPolicy?: string;
    readonly trafficDistribution?: string;
  };
  readonly status?: {
    readonly clusters?: readonly { readonly cluster: string }[];
    readonly conditions?: readonly Condition[];
    readonly endpointSliceObjects?: string;
  };
}

export interface McsSlice extends KubeObject {
  readonly addressType: string;
  readonly ports?: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null;
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly hostname?: string;
    readonly conditions?: { readonly ready?: boolean };
  }[];
}

/** Puts the CRDs of the MCS API and the About API in place. */
export const installMcs = async (cluster: TestCluster): Promise<void> => {
  for (const crd of mcsCrds) await installCrd(cluster, crd);
};

/** Takes them away: a cluster is lent with the kinds that others have installed. */
export const uninstallMcs = async (cluster: Api): Promise<void> => {
  for (const crd of mcsCrds) await uninstallCrd(cluster, crd);
};

/** The id that a cluster claims. */
export const clusterId = (value: string): ObjectRef =>
  ({
    ...objectRef('about.k8s.io/v1beta1', 'ClusterProperty', 'cluster.clusterset.k8s.io'),
    spec: { value },
  }) as ObjectRef;

/** The export of the Service of that name. */
export const serviceExport = (name: string, namespace = 'shop', spec?: object): ObjectRef => ({
  ...objectRef(MCS, 'ServiceExport', name, namespace),
  ...(spec && { spec }),
});

export const serviceImportRef = (name: string, namespace = 'shop'): ObjectRef =>
  objectRef(MCS, 'ServiceImport', name, namespace);

export interface Pod {
  readonly ip: string;
  readonly hostname?: string;
  readonly ready?: boolean;
}

export interface PodSliceOptions {
  readonly namespace?: string;
  readonly ports?: readonly object[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** The slices that Kubernetes makes of a Service with these pods: one for each family that they have addresses of. */
export const podSlices = (
  service: string,
  pods: readonly Pod[],
  { namespace = 'shop', ports = [{ name: 'http', port: 8080, protocol: 'TCP' }], labels = {} }: PodSliceOptions = {},
): readonly ObjectRef[] => {
  const isV6 = ({ ip }: Pod): boolean => ip.includes(':');
  const sliceOf = (addressType: string, of: readonly Pod[]) => ({
    ...objectRef('discovery.k8s.io/v1', 'EndpointSlice', `${service}-${addressType.toLowerCase()}`, namespace),
    metadata: {
      name: `${service}-${addressType.toLowerCase()}`,
      namespace,
      labels: {
        ...labels,
        [SERVICE_NAME]: service,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
    },
    addressType,
    endpoints: of.map(({ ip, hostname, ready = true }) => ({
      addresses: [ip],
      conditions: { ready },
      ...(hostname !== undefined && { hostname }),
    })),
    ports,
  });
  const v6 = pods.filter(isV6);
  return [
    sliceOf(
      'IPv4',
      pods.filter((pod) => !isV6(pod)),
    ),
    ...(v6.length > 0 ? [sliceOf('IPv6', v6)] : []),
  ];
};

/** One cluster, as a client of the MCS API sees it. */
export class McsView {
  readonly api: Api;

  constructor(api: Api) {
    this.api = api;
  }

  serviceImport(name: string, namespace = 'shop'): Promise<ServiceImportObject | undefined> {
    return this.api.get<ServiceImportObject>(serviceImportRef(name, namespace));
  }

  async exportCondition(type: string, name: string, namespace = 'shop'): Promise<Condition | undefined> {
    const found = await this.api.get<ServiceExportObject>(serviceExport(name, namespace));
    return found?.status?.conditions?.find((each) => each.type === type);
  }

  /** The Service behind an import of type ClusterSetIP. */
  derived(name: string, namespace = 'shop'): Promise<ServiceObject | undefined> {
    return this.api.get<ServiceObject>(objectRef('v1', 'Service', `${name}-clusterset`, namespace));
  }

  /** The slices of an import, by name. */
  async slices(name: string, namespace = 'shop'): Promise<readonly McsSlice[]> {
    const found = await this.api.list<McsSlice>({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace,
      labelSelector: `multicluster.kubernetes.io/service-name=${name}`,
    });
    return found.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** The ready addresses of an import, each after the id of its cluster, sorted. */
  async addresses(name: string, namespace = 'shop'): Promise<readonly string[]> {
    return (await this.slices(name, namespace)).flatMap((slice) => readyIn(slice)).sort();
  }

  /** The ids of the clusters that the status names. */
  async clusters(name: string, namespace = 'shop'): Promise<string | undefined> {
    const found = await this.serviceImport(name, namespace);
    return found?.status?.clusters?.map(({ cluster }) => cluster).join();
  }

  /**
   * Where Linkerd sends requests to one port of an import of type ClusterSetIP: the addresses of slices of its derived
   * Service that list the port, or, on a flat network, the members that are named to it.
   */
  async routes(name: string, port: number, namespace = 'shop'): Promise<readonly string[] | undefined> {
    const [found, derived, slices] = await Promise.all([
      this.serviceImport(name, namespace),
      this.derived(name, namespace),
      this.slices(name, namespace),
    ]);
    const derivedPort = derived?.spec.ports.find((each) => each.port === port);
    if (found === undefined || derived === undefined || derivedPort === undefined) return undefined;
    const { annotations = {} } = derived.metadata;
    const local = annotations['multicluster.linkerd.io/local-discovery'];
    const remote = annotations['multicluster.linkerd.io/remote-discovery'];
    if (local !== undefined || remote !== undefined)
      return [...(local === undefined ? [] : ['(local)']), ...(remote ?? '').split(',').filter((each) => each !== '')];
    return slices
      .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === derived.metadata.name)
      .filter(({ ports }) => ports?.some((each) => (each.name ?? '') === (derivedPort.name ?? '')))
      .flatMap((slice) => readyIn(slice))
      .sort();
  }

  /** Waits until the import is as wanted. */
  untilImport(
    what: string,
    name: string,
    isSo: (found: ServiceImportObject) => boolean,
    namespace = 'shop',
  ): Promise<ServiceImportObject> {
    return eventually(`the import of ${name} ${what}`, async () => {
      const found = await this.serviceImport(name, namespace);
      return found !== undefined && isSo(found) && found;
    });
  }

  /** Waits until an import leads to these ready addresses and no others, each after the id of its cluster, sorted. */
  async untilAddresses(name: string, ...addresses: readonly string[]): Promise<void> {
    await untilJoined(`${name} leads to ${addresses.join()}`, addresses.join(), async () =>
      (await this.addresses(name)).join(),
    );
  }

  /** Waits until the status of an import names these clusters: their ids, separated by commas. */
  async untilClusters(name: string, clusters: string): Promise<void> {
    await untilJoined(`${name} is of ${clusters}`, clusters, () => this.clusters(name));
  }

  /** Waits until neither the import nor anything of it is left. */
  async untilGone(name: string, namespace = 'shop'): Promise<void> {
    await eventually(`nothing of the import of ${name} is left`, async () => {
      const [found, derived, slices] = await Promise.all([
        this.serviceImport(name, namespace),
        this.derived(name, namespace),
        this.slices(name, namespace),
      ]);
      return found === undefined && derived === undefined && slices.length === 0;
    });
  }

  /** Waits until an export has a condition. */
  untilCondition(type: string, reason: string, name: string, namespace = 'shop'): Promise<Condition> {
    return eventually(`the export of ${name} has ${type} ${reason}`, async () => {
      const found = await this.exportCondition(type, name, namespace);
      return found?.reason === reason && found;
    });
  }
}

/** Waits for a text; what is found instead is in the error. */
const untilJoined = (what: string, wanted: string, find: () => Promise<string | undefined>): Promise<unknown> =>
  eventually(what, async () => {
    const found = await find();
    if (found === wanted) return true;
    throw new Error(found);
  });

const readyIn = ({ metadata, endpoints }: McsSlice): readonly string[] =>
  (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) =>
      addresses.map((address) => `${metadata.labels?.['multicluster.kubernetes.io/source-cluster']} ${address}`),
    );
