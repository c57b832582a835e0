/** What both clusters have of one Service and its mirror, as one plain value. */
import { Label, mirrorName, Value, writeLeaseName } from '../../../crds/wire.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type Endpoints,
  type EndpointSlice,
  type Lease,
  LEASES,
  NAMESPACES,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import type { Cluster } from '../common/cluster.ts';
import { unserved } from '../common/lease.ts';
import type { LinkObject } from '../common/link-object.ts';
import { type LinkReport, reportOf } from '../common/link-status.ts';
import { ifAllowed } from '../common/readable.ts';

/** A Service by its namespace and name. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
}

/** The target Service, and what is behind it. */
export interface TargetFacts {
  /** Name of the context. */
  readonly context: string;
  /** Undefined: there is none. */
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
}

export interface Facts {
  /** Name of the source's context. */
  readonly source: string;
  readonly link: LinkObject;
  readonly report: LinkReport;
  /** What could not be read: it is taken to be as it should be. */
  readonly unread: readonly string[];
  /** Why nobody serves the Link; undefined if somebody does. */
  readonly unserved: string | undefined;
  /** The Service in the target. */
  readonly ref: ServiceRef;
  /** Undefined: the target is not read. */
  readonly target: TargetFacts | undefined;
  /** Namespace of Linkerd's control plane in the source, which has no mirrors. */
  readonly linkerdNamespace: string;
  readonly hasNamespace: boolean;
  /** Ours, of the whole namespace. */
  readonly owned: OwnedObjects;
  /** The Service that has the name of the mirror, whoever made it. */
  readonly local: Service | undefined;
  /** Names of Services in the namespace that are not ours. */
  readonly foreign: ReadonlySet<string>;
}

/** Reports whether a Service of the source is the mirror of a Service of a cluster. */
export const isMirrorOf = ({ metadata: { labels = {} } }: Service, cluster: string): boolean =>
  labels[Label.mirroredService] === Value.true && labels[Label.clusterName] === cluster;

/** Reads all that is known of a Service by one Link. */
export const factsOf = async (
  source: Cluster,
  target: Cluster | undefined,
  link: LinkObject,
  given: ServiceRef,
  linkerdNamespace: string,
): Promise<Facts> => {
  const report = reportOf(link);
  const { namespace } = given;
  const { cluster } = report;
  const ours = { namespace, labelSelector: `${Label.clusterName}=${cluster}` };
  const [found, lease, services, endpoints, slices] = await Promise.all([
    ifAllowed(() => source.find(NAMESPACES, { name: namespace })),
    ifAllowed(() => source.find<Lease>(LEASES, { namespace: report.namespace, name: writeLeaseName(report.name) })),
    source.list<Service>(SERVICES, { namespace }),
    source.list<Endpoints>(ENDPOINTS, ours),
    source.list<EndpointSlice>(ENDPOINT_SLICES, ours),
  ]);
  const mirrors = services.filter((service) => isMirrorOf(service, cluster));
  const name = remoteName(given.name, cluster, mirrors);
  const ref = { namespace, name };
  return {
    source: source.context,
    link,
    report,
    unread: [
      ...('obstacle' in lease ? [`whether an operator serves the Link is not known: ${lease.obstacle}`] : []),
      ...('obstacle' in found ? [`whether namespace ${namespace} exists is not known: ${found.obstacle}`] : []),
    ],
    unserved: 'obstacle' in lease ? undefined : unserved(lease.found, Date.now()),
    ref,
    target: target && (await targetFactsOf(target, ref)),
    linkerdNamespace,
    hasNamespace: 'obstacle' in found || found.found !== undefined,
    owned: { services: mirrors, endpoints, slices },
    local: services.find(({ metadata }) => metadata.name === mirrorName(name, cluster)),
    foreign: new Set(services.filter((service) => !isMirrorOf(service, cluster)).map(({ metadata }) => metadata.name)),
  };
};

/** The name of a mirror stands for that of its Service. */
const remoteName = (name: string, cluster: string, mirrors: readonly Service[]): string => {
  const suffix = `-${cluster}`;
  const mirror = mirrors.find(({ metadata }) => metadata.name === name);
  if (mirror === undefined || !name.endsWith(suffix)) return name;
  const headless = mirror.metadata.labels?.[Label.headlessMirrorSvcName];
  return (headless?.endsWith(suffix) ? headless : name).slice(0, -suffix.length);
};

const targetFactsOf = async (target: Cluster, { namespace, name }: ServiceRef): Promise<TargetFacts> => {
  const [service, slices] = await Promise.all([
    target.find<Service>(SERVICES, { namespace, name }),
    target.list<EndpointSlice>(ENDPOINT_SLICES, { namespace, labelSelector: `${Label.serviceName}=${name}` }),
  ]);
  return { context: target.context, service, slices };
};
