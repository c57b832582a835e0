/** Who writes for a Link, read from the source cluster: Linkerd's controller, this operator, or nobody. */
import { Annotation, Label, OPERATOR_LEASE, OPERATOR_NAME, Value, writeLeaseName } from '../../../crds/wire.ts';
import { keyOf, type KubeObject, type Lease, LEASES, type Service, SERVICES } from '../../../operator/kube/objects.ts';
import { DEPLOYMENTS, LINKS } from '../common/kinds.ts';
import { holderOf, unserved } from '../common/lease.ts';
import { isOperator } from '../common/link-served.ts';
import type { LinkObject } from '../common/link-object.ts';
import { type ClusterReader, selected } from '../common/reader.ts';
import type { SelectorTerms } from '../common/selectors.ts';

/** A Deployment, as far as it is scaled, and what its containers are started with. */
export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly args?: readonly string[] }[] };
    };
  };
  readonly status?: { readonly availableReplicas?: number };
}

/** Who writes under a Lease that Linkerd's controllers take too. */
export interface Writing {
  /** Holder of the Lease; undefined if nobody holds it. */
  readonly holder: string | undefined;
  /** `operator`: its own Lease is held by the same. */
  readonly writer: 'operator' | 'another' | 'nobody';
}

/** One Link, and who writes for it. */
export interface LinkState extends Writing {
  readonly link: LinkObject;
  readonly name: string;
  /** Deployments of Linkerd's controller for this Link. */
  readonly controllers: readonly Deployment[];
  /** Whether the operator leaves the Link to others (rule H9). */
  readonly isSuspended: boolean;
  /** What its mirrors are known by, by `namespace/name`: uid and ClusterIP. */
  readonly mirrors: ReadonlyMap<string, string>;
}

/** Reads one Link's state; undefined if the Link does not exist. */
export const readState = async (
  reader: ClusterReader,
  namespace: string,
  name: string,
): Promise<LinkState | undefined> => {
  const link = await reader.find<LinkObject>(LINKS, { namespace, name });
  if (link === undefined) return undefined;
  const cluster = link.spec?.targetClusterName ?? '';
  const [lease, operators, controllers, services] = await Promise.all([
    reader.find<Lease>(LEASES, { namespace, name: writeLeaseName(name) }),
    reader.find<Lease>(LEASES, { namespace, name: OPERATOR_LEASE }),
    controllersOf(reader, namespace, name),
    selected<Service>(reader, SERVICES, mirrorsOf(cluster)),
  ]);
  return {
    link,
    name,
    controllers,
    ...writingUnder(lease, (holder) => isOperator(holder, operators, link)),
    isSuspended: isSuspended(link),
    mirrors: identitiesOf(services),
  };
};

/** Whether the operator leaves a Link to others (rule H9). */
export const isSuspended = (link: LinkObject): boolean =>
  link.metadata.annotations?.[Annotation.suspended] === Value.true;

/** What Services are known by, by `namespace/name`: uid and ClusterIP. */
export const identitiesOf = (services: readonly Service[]): ReadonlyMap<string, string> =>
  new Map(
    services.map((service) => [keyOf(service), `${service.metadata.uid ?? ''} ${service.spec?.clusterIP ?? ''}`]),
  );

/** Who writes under a Lease; nobody under one that its holder has not renewed for long. */
export const writingUnder = (lease: Lease | undefined, isOurs: (holder: string) => boolean): Writing => {
  const holder = holderOf(lease);
  return holder === '' || unserved(lease, Date.now()) !== undefined
    ? { holder: undefined, writer: 'nobody' }
    : { holder, writer: isOurs(holder) ? 'operator' : 'another' };
};

/** Charts since 2.18 name it `controller-<link>`; `linkerd multicluster link` before them `linkerd-service-mirror-<link>`. */
const controllersOf = async (
  reader: ClusterReader,
  namespace: string,
  link: string,
): Promise<readonly Deployment[]> => {
  const found = await Promise.all([
    ...[`controller-${link}`, `linkerd-service-mirror-${link}`].map((name) =>
      reader.find<Deployment>(DEPLOYMENTS, { namespace, name }),
    ),
  ]);
  const labelled = await selected<Deployment>(reader, DEPLOYMENTS, ofLink(link), namespace);
  const named = found.filter((each) => each !== undefined).filter(isOfLinkerd);
  // Ours has the labels by which `linkerd multicluster check` finds a controller.
  const all = [...named, ...labelled].filter(({ metadata }) => metadata.name !== OPERATOR_NAME);
  return [...new Map(all.map((each) => [each.metadata.name, each])).values()];
};

/** Whether a Deployment is Linkerd's, and not another of such a name. */
const isOfLinkerd = ({ metadata: { labels }, spec }: Deployment): boolean =>
  labels?.[Label.extension] === Value.extension ||
  labels?.[Label.clusterName] !== undefined ||
  (spec?.template?.spec?.containers ?? []).some(({ args }) => args?.includes('service-mirror') === true);

const ofLink = (link: string): SelectorTerms => ({
  matchLabels: { [Label.clusterName]: link },
  matchExpressions: [{ key: Label.component, operator: 'In', values: [Value.component, 'linkerd-service-mirror'] }],
});

const mirrorsOf = (cluster: string): SelectorTerms => ({
  matchLabels: { [Label.clusterName]: cluster, [Label.mirroredService]: Value.true },
});

/** Number of replicas that a Deployment asks for. */
export const replicasOf = ({ spec }: Deployment): number => spec?.replicas ?? 1;

/** Replicas that it had when `migrate` stopped it; undefined if it did not. */
export const replicasBefore = ({ metadata }: Deployment): number | undefined => {
  const text = metadata.annotations?.[Annotation.replicasBefore] ?? '';
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined;
};
