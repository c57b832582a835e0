/** What both clusters have of one Service and its mirror, as one plain value. */
import { Label, mirrorName, OPERATOR_LEASE, Value, writeLeaseName } from '../../../crds/wire.ts';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Lease,
  LEASES,
  NAMESPACES,
  type Resource,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import type { OwnedObjects } from '../../../operator/mirror/observed.ts';
import type { Cluster } from '../common/cluster.ts';
import type { LinkObject } from '../common/link-object.ts';
import { unservedLink } from '../common/link-served.ts';
import { type LinkReport, reportOf } from '../common/link-status.ts';
import type { NamedCluster } from '../common/command-text.ts';
import { ifAllowed, readable } from '../common/readable.ts';
import { liveReader, selected } from '../common/reader.ts';
import type { Place } from '../common/remedies.ts';

/** A Service by its namespace and name. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
}

/** The target Service, and what is behind it. */
export interface TargetFacts extends NamedCluster {
  /** Undefined if there is none. */
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
}

export interface Facts {
  /** The source, and the namespace of the extension in it. */
  readonly source: Place;
  readonly link: LinkObject;
  readonly report: LinkReport;
  /** What could not be read. */
  readonly unread: readonly string[];
  /** Why what the Link reports may be old; undefined if it is not, or that is not known. */
  readonly unserved: string | undefined;
  /** The Service in the target. */
  readonly ref: ServiceRef;
  /** Undefined if the target is not read, or cannot be. */
  readonly target: TargetFacts | undefined;
  /** Why the target cannot be read, though it was to be. */
  readonly away?: { readonly context: string; readonly obstacle: string } | undefined;
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
  // An invalid Link may name a cluster by what no label can have.
  const ours = <T extends KubeObject>(of: Resource) =>
    selected<T>(liveReader(source), of, { matchLabels: { [Label.clusterName]: cluster } }, namespace);
  const leaseOf = (name: string) => ifAllowed(() => source.find<Lease>(LEASES, { namespace: report.namespace, name }));
  const [found, lease, operators, services, endpoints, slices] = await Promise.all([
    ifAllowed(() => source.find(NAMESPACES, { name: namespace })),
    leaseOf(writeLeaseName(report.name)),
    leaseOf(OPERATOR_LEASE),
    source.list<Service>(SERVICES, { namespace }),
    ours<Endpoints>(ENDPOINTS),
    ours<EndpointSlice>(ENDPOINT_SLICES),
  ]);
  const mirrors = services.filter((service) => isMirrorOf(service, cluster));
  const name = await remoteName(given, report, mirrors, target);
  const ref = { namespace, name };
  const obstacles = [lease, operators].flatMap((each) => ('obstacle' in each ? [each.obstacle] : []));
  const behind = target && (await readable(() => targetFactsOf(target, ref)));
  return {
    source: { kubeconfig: source.kubeconfig, context: source.context, namespace: report.namespace },
    link,
    report,
    unread: [
      ...obstacles.slice(0, 1).map((obstacle) => `whether an operator serves the Link is not known: ${obstacle}`),
      // Where there is a Service, there is the namespace.
      ...('obstacle' in found && services.length === 0
        ? [`whether namespace ${namespace} exists is not known: ${found.obstacle}`]
        : []),
    ],
    unserved: 'obstacle' in lease ? undefined : unservedLink(link, { link: lease, operators }, Date.now())?.message,
    ref,
    target: behind && 'found' in behind ? behind.found : undefined,
    away: target && behind && 'obstacle' in behind ? { context: target.context, obstacle: behind.obstacle } : undefined,
    linkerdNamespace,
    hasNamespace: 'obstacle' in found || found.found !== undefined,
    owned: { services: mirrors, endpoints, slices },
    local: services.find(({ metadata }) => metadata.name === mirrorName(name, cluster)),
    foreign: new Set(services.filter((service) => !isMirrorOf(service, cluster)).map(({ metadata }) => metadata.name)),
  };
};

/** Reports whether a name may be that of a mirror of a cluster. */
export const isMirrorName = (name: string, cluster: string): boolean =>
  cluster !== '' && name.endsWith(mirrorName('', cluster)) && name !== mirrorName('', cluster);

/** The name of a mirror stands for that of its Service, also of one that could not be made. */
const remoteName = async (
  { namespace, name }: ServiceRef,
  { cluster, services }: LinkReport,
  mirrors: readonly Service[],
  target: Cluster | undefined,
): Promise<string> => {
  if (!isMirrorName(name, cluster)) return name;
  const withoutCluster = (each: string): string => each.slice(0, -mirrorName('', cluster).length);
  const mirror = mirrors.find(({ metadata }) => metadata.name === name);
  if (mirror !== undefined) {
    const headless = mirror.metadata.labels?.[Label.headlessMirrorSvcName];
    return withoutCluster(headless !== undefined && isMirrorName(headless, cluster) ? headless : name);
  }
  const isReported = (each: string): boolean =>
    services.some((service) => service.namespace === namespace && service.name === each);
  if (isReported(name)) return name;
  const exported = withoutCluster(name);
  if (isReported(exported) || target === undefined) return exported;
  // A Service of the target may have such a name by itself.
  const found = await readable(() => target.find(SERVICES, { namespace, name }));
  return 'found' in found && found.found !== undefined ? name : exported;
};

const targetFactsOf = async (target: Cluster, { namespace, name }: ServiceRef): Promise<TargetFacts> => {
  const [service, slices] = await Promise.all([
    target.find<Service>(SERVICES, { namespace, name }),
    target.list<EndpointSlice>(ENDPOINT_SLICES, { namespace, labelSelector: `${Label.serviceName}=${name}` }),
  ]);
  return { kubeconfig: target.kubeconfig, context: target.context, service, slices };
};
