/** How Services are told to join federated Services, and how federated Services tell who their members are (rules I1, I4, I5). */
type Labels = Readonly<Record<string, string>>;

/** What tells whose an object is. */
interface Named {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Labels | undefined;
    readonly annotations?: Labels | undefined;
    readonly ownerReferences?: readonly object[] | undefined;
  };
}

/** By which Services join. */
export const MEMBER_LABEL = 'mirror.linkerd.io/federated';
/** Of a Service that joins: its cluster. It is copied, and so tells whose labels and annotations count (I3). */
export const OWNER_LABEL = 'owner';

/** Selector of a Link whose Services with that label join. */
export const MEMBER_SELECTOR = { matchLabels: { [MEMBER_LABEL]: 'member' } };

const MIRRORED = 'mirror.linkerd.io/mirrored-service';
const CLUSTER = 'mirror.linkerd.io/cluster-name';
const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';
const SHAPE = 'linkspan.dev/federation';
const SLICE_OF = 'linkspan.dev/federation-member';
const SUFFIX = '-federated';

export const isMember = ({ metadata: { labels = {} } }: Named): boolean => labels[MEMBER_LABEL] === 'member';

/** Labels that a Service keeps, whatever else users do with it. */
export const membershipOf = (service: Named | undefined): Labels =>
  Object.fromEntries(
    Object.entries(service?.metadata.labels ?? {}).filter(([key]) => key === MEMBER_LABEL || key === OWNER_LABEL),
  );

const isFlat = ({ metadata: { annotations = {} } }: Named): boolean => REMOTE in annotations || LOCAL in annotations;

/** Whether a federated Service leads through gateways. */
export const leadsThroughGateways = (object: Named | undefined): boolean =>
  object !== undefined && !isFlat(object) && object.metadata.labels?.[SHAPE] === 'gateway';

/** Whether Kubernetes' own controllers made a slice: they copy the labels of the Service, or of its Endpoints. */
export const isMadeByKubernetes = (object: Named): boolean =>
  object.kind === 'EndpointSlice' && object.metadata.ownerReferences !== undefined && isKeptByKubernetes(object);

/** Whether the label of a slice says that a controller of Kubernetes maintains it, whoever made it. */
export const isKeptByKubernetes = ({ metadata: { labels = {} } }: Named): boolean =>
  /^endpointslice(mirroring)?-controller\.k8s\.io$/.test(labels['endpointslice.kubernetes.io/managed-by'] ?? '');

/** Whether an object is a federated Service, or a slice of one, by its labels and annotations (I8). */
export const isFederated = (object: Named): boolean => {
  const { labels = {} } = object.metadata;
  if (isMadeByKubernetes(object)) return false;
  // Our own mark proves a slice ours.
  if (object.kind === 'EndpointSlice') return labels[SHAPE] === 'gateway';
  if (labels[MIRRORED] !== 'true' || labels[CLUSTER] !== undefined) return false;
  return object.kind === 'Service' && (isFlat(object) || labels[SHAPE] === 'gateway');
};

/** `namespace/name` of the Services that an object, which {@link isFederated}, joins. */
export function joinedBy({ kind, metadata: { name, namespace = '', labels = {} } }: Named): string {
  const service = kind === 'EndpointSlice' ? (labels['kubernetes.io/service-name'] ?? name.split('.')[0]!) : name;
  return `${namespace}/${service.slice(0, -SUFFIX.length)}`;
}

/** Stands for the local member. */
export const LOCAL_MEMBER = '(local)';

/**
 * The members that an object by itself tells of: target clusters, and {@link LOCAL_MEMBER}. A Service that leads through
 * gateways tells of none, its slices do.
 */
export function membersIn(object: Named | undefined): readonly string[] {
  if (object === undefined || !isFederated(object)) return [];
  const { labels = {}, annotations = {} } = object.metadata;
  if (object.kind === 'EndpointSlice') return [labels[SLICE_OF] ?? LOCAL_MEMBER];
  const entries = (annotations[REMOTE] ?? '').split(',').filter((entry) => entry !== '');
  return [
    ...entries.map((entry) => entry.slice(entry.indexOf('@') + 1)),
    ...(annotations[LOCAL] === undefined ? [] : [LOCAL_MEMBER]),
  ];
}
