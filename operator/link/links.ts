/**
 * Decides which Link has which target cluster (rule E9), and what must be done for each cluster and its mirrors. At
 * most one Link has a cluster, and mirrors of the cluster are written only for that Link. Pure: the results depend only
 * on all Links, valid or not, and on the cluster that the Lease of each Link records.
 */
import { formatFieldErrors, type LinkSettings, readLink } from '../../crds/index.ts';
import { Annotation, Value } from '../../crds/wire.ts';
import { type Verdict, verdict } from '../kube/conditions.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Seniority } from '../mirror/names.ts';
import { formerCluster, isExchanged } from './exchanged.ts';
import { type ServedSpec, servedSpecOf } from './lease/served-spec.ts';

/** A Link as it was read. */
export interface LinkRead {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Creation time, RFC 3339. */
  readonly createdAt: string;
  /** `spec.targetClusterName`, even if the Link is invalid; undefined if it is missing, empty or not a string. */
  readonly named: string | undefined;
  /** Undefined if the Link is invalid. */
  readonly settings: LinkSettings | undefined;
  /** `spec` as it was read, not validated. */
  readonly spec: unknown;
  /** Whether the Link and its mirrors are left to another controller (rule H9). @default false */
  readonly isSuspended?: boolean;
  /**
   * Value of the annotation that confirms held deletions (rule E6). It is read even if the Link is invalid. Undefined
   * if the Link does not have the annotation.
   */
  readonly confirmPrune?: string | undefined;
  /** Condition `Accepted`, judged only by whether the Link is valid. */
  readonly accepted: Verdict;
}

/**
 * The target cluster that the Lease of each Link records, or will record once this operator holds the Lease. The key is
 * the name of the Link, which might be deleted. The Link was last served for this cluster, or keeps the cluster's
 * mirrors.
 */
export type Served = ReadonlyMap<string, string>;

/** What must be done for one target cluster. */
export type Assignment =
  /** A valid Link has the cluster, and must be served. */
  | { readonly do: 'serve'; readonly settings: LinkSettings; readonly served: ServedSpec }
  /**
   * The Link that has the cluster is invalid, or counts as invalid because it exchanges clusters ({@link isExchanged}).
   * The operator continues to serve the Link by the spec by which it was last served, if that spec is known (rule E7).
   */
  | { readonly do: 'continue'; readonly link: LinkRead }
  /**
   * No Link has the cluster, but this invalid Link names it, and its Lease records no cluster: the Link keeps the
   * mirrors that another Link left (rule E9).
   */
  | { readonly do: 'keep'; readonly link: string }
  /**
   * No Link has the cluster or keeps its mirrors: the mirrors that were written under this Link's Lease are removed
   * (rule E5).
   */
  | { readonly do: 'remove'; readonly link: string }
  /**
   * The cluster must have no session in each of these cases (rule H9). In the first three, `suspended` is the name of
   * the suspended Link.
   * - A suspended Link has the cluster.
   * - No Link has the cluster, and a suspended Link names it while the Lease of that Link records no cluster.
   * - No Link has the cluster or keeps its mirrors, and the Lease of a suspended Link records the cluster.
   * - No Link has the cluster, and no Lease records it.
   */
  | { readonly do: 'nothing'; readonly suspended?: string };

export function readLinkObject(object: KubeObject & { readonly spec?: unknown }): LinkRead {
  const { name, namespace = '', uid = '', creationTimestamp = '' } = object.metadata;
  const named = (object.spec as { readonly targetClusterName?: unknown } | null | undefined)?.targetClusterName;
  const checked = readLink(object);
  return {
    name,
    namespace,
    uid,
    createdAt: creationTimestamp,
    named: typeof named === 'string' && named !== '' ? named : undefined,
    settings: checked.ok ? checked.value : undefined,
    spec: object.spec,
    isSuspended: object.metadata.annotations?.[Annotation.suspended] === Value.true,
    confirmPrune: object.metadata.annotations?.[Annotation.confirmPrune],
    accepted: checked.ok
      ? verdict('True', 'Accepted', '')
      : verdict('False', 'InvalidLink', formatFieldErrors(checked.errors)),
  };
}

/**
 * Returns the Link that has a cluster; undefined if no Link has it. A Link that exchanges clusters with other Links
 * ({@link isExchanged}) counts as invalid here.
 * - A Link whose Lease records the cluster keeps it, even while the Link is invalid, until the Link is valid and names
 *   another cluster.
 * - If no Link keeps the cluster, the oldest valid Link that names it has it, or the first by name if several are
 *   equally old. A Link that must not be served yet, because a suspended Link keeps it from leaving its former cluster,
 *   has the cluster only if no other Link can be served for it.
 * - An invalid Link has no other cluster than the one that its Lease records.
 */
export function ownerOf(cluster: string, links: Iterable<LinkRead>, served: Served): LinkRead | undefined {
  const all = [...links];
  const wanting = (of: string): LinkRead | undefined => bestOf(of, all, served);
  const isPart = ({ name, settings }: LinkRead): boolean =>
    settings !== undefined && (settings.cluster === cluster || served.get(name) === cluster);
  const effective = all.map((link) => (isPart(link) && isExchanged(link, served, wanting) ? asInvalid(link) : link));
  const owner = bestOf(cluster, effective, served);
  const isKeptFrom = (link: LinkRead): boolean => {
    const former = link.isSuspended === true ? undefined : formerCluster(link, served);
    return former !== undefined && suspendedAmong(former, wanting(former), all, served) !== undefined;
  };
  if (owner === undefined || !isKeptFrom(owner)) return owner;
  const others = effective.filter((link) => link.isSuspended !== true && !isKeptFrom(link));
  return bestOf(cluster, others, served) ?? owner;
}

const invalid = new WeakMap<LinkRead, LinkRead>();

/**
 * Returns a copy of a Link without its settings. The copy counts as an invalid Link, which can have only the cluster
 * that its Lease records. Each call for a Link returns the same copy.
 */
function asInvalid(link: LinkRead): LinkRead {
  const known = invalid.get(link) ?? { ...link, settings: undefined };
  invalid.set(link, known);
  return known;
}

/**
 * Returns the best candidate for a cluster among some Links. Candidates are valid Links that name the cluster, and
 * invalid Links whose Leases record it. Links whose Leases record the cluster come first, then older Links, then the
 * first by name.
 */
function bestOf(cluster: string, links: Iterable<LinkRead>, served: Served): LinkRead | undefined {
  let owner: LinkRead | undefined;
  for (const link of links) {
    const isServed = served.get(link.name) === cluster;
    const isCandidate = link.settings === undefined ? isServed : link.settings.cluster === cluster;
    if (isCandidate && (owner === undefined || goesBefore(link, owner, cluster, served))) owner = link;
  }
  return owner;
}

/**
 * Returns the age and the name of the Link that has a cluster. If no Link has the cluster, returns those of the oldest
 * Link that names it, even if that Link is invalid. Undefined if no Link has or names the cluster.
 */
export function seniorityOf(cluster: string, links: Iterable<LinkRead>, served: Served): Seniority | undefined {
  const all = [...links];
  const [oldest] = all.filter(({ named }) => named === cluster).sort((a, b) => (isOlder(a, b) ? -1 : 1));
  const link = ownerOf(cluster, all, served) ?? oldest;
  return link && { createdAt: link.createdAt, name: link.name };
}

/**
 * A former cluster that prevents a valid Link from being served for the Link's present cluster. A suspended Link leaves
 * the mirrors of the former cluster to another controller. The Lease of the valid Link might be the only record of
 * these mirrors, so it must go on recording the former cluster.
 */
export interface Former {
  readonly cluster: string;
  /** Name of the suspended Link that leaves the mirrors of the former cluster to another controller. */
  readonly suspended: string;
}

/**
 * Returns the {@link Former} cluster of a valid Link, if it prevents the Link from being served for the Link's present
 * cluster. Undefined in all other cases, for example if the Link is invalid.
 */
export function formerOf(link: LinkRead, links: ReadonlyMap<string, LinkRead>, served: Served): Former | undefined {
  const cluster = formerCluster(link, served);
  if (cluster === undefined) return undefined;
  const suspended = suspendedOf(cluster, links, served);
  return suspended && { cluster, suspended: suspended.name };
}

/**
 * Returns the suspended Link that has a cluster. If no Link has the cluster, returns a suspended Link that names the
 * cluster and whose Lease records no cluster. Undefined in all other cases.
 */
function suspendedOf(cluster: string, links: ReadonlyMap<string, LinkRead>, served: Served): LinkRead | undefined {
  const all = [...links.values()];
  return suspendedAmong(cluster, ownerOf(cluster, all, served), all, served);
}

const suspendedAmong = (
  cluster: string,
  owner: LinkRead | undefined,
  links: readonly LinkRead[],
  served: Served,
): LinkRead | undefined =>
  (owner === undefined ? namingOf(cluster, links, served) : [owner]).find(({ isSuspended }) => isSuspended === true);

/**
 * Returns the Links that name a cluster and whose Leases record no cluster. If no Link has the cluster, each of these
 * Links could keep the cluster's mirrors. A Link whose Lease records another cluster could not keep them, because a
 * Lease records only one cluster.
 */
const namingOf = (cluster: string, links: readonly LinkRead[], served: Served): readonly LinkRead[] =>
  links.filter(({ name, named }) => named === cluster && !served.has(name));

/** Returns what must be done for a cluster. */
export function assignmentOf(cluster: string, links: ReadonlyMap<string, LinkRead>, served: Served): Assignment {
  const owner = ownerOf(cluster, links.values(), served);
  // The controller that a suspended Link is left to might need the mirrors.
  const suspended = suspendedOf(cluster, links, served);
  if (suspended !== undefined) return { do: 'nothing', suspended: suspended.name };
  if (owner !== undefined) {
    return owner.settings === undefined
      ? { do: 'continue', link: owner }
      : { do: 'serve', settings: owner.settings, served: servedSpecOf(owner.settings, owner) };
  }
  const recording = [...served].flatMap(([name, of]) => (of === cluster ? [name] : [])).sort();
  const [link] = recording;
  if (link === undefined) return { do: 'nothing' };
  const [keeper] = namingOf(cluster, [...links.values()], served)
    .map(({ name }) => name)
    .sort();
  if (keeper !== undefined) return { do: 'keep', link: keeper };
  const left = recording.find((name) => links.get(name)?.isSuspended === true);
  return left === undefined ? { do: 'remove', link } : { do: 'nothing', suspended: left };
}

/**
 * Returns the names of other valid Links whose mirrors might need the same names as the mirrors of this Link. Two
 * mirrors can need the same name if one of the two cluster names ends in `-` followed by the other: for example,
 * `eu-west` and `west` (rule A7). Returns none if this Link is invalid.
 */
export function overlapping({ name, settings }: LinkRead, links: Iterable<LinkRead>): readonly string[] {
  const isSuffix = (whole: string, end: string): boolean => whole.endsWith(`-${end}`);
  return [...links].flatMap((other) => {
    const [own, its] = [settings?.cluster, other.settings?.cluster];
    if (own === undefined || its === undefined || other.name === name) return [];
    return isSuffix(own, its) || isSuffix(its, own) ? [other.name] : [];
  });
}

/**
 * Returns condition `Accepted` of a Link.
 * @param owner the Link that has the cluster that this Link names; undefined if no Link has it, or if this Link is
 *   invalid
 * @param overlaps names of the {@link overlapping} Links
 * @param former what {@link formerOf} returns for the Link
 */
export function acceptedOf(
  { name, settings, accepted, isSuspended }: LinkRead,
  owner: LinkRead | undefined,
  overlaps: readonly string[] = [],
  former?: Former,
): Verdict {
  if (isSuspended === true) {
    return verdict(
      'False',
      'Suspended',
      `annotation ${Annotation.suspended} leaves this Link and its mirrors to another controller; remove it to have the Link served`,
    );
  }
  if (settings === undefined || owner === undefined || owner.name === name) {
    if (former !== undefined) return verdict('False', 'FormerClusterSuspended', formerText(former));
    return settings === undefined || overlaps.length === 0 ? accepted : { ...accepted, message: overlapText(overlaps) };
  }
  // An owner that is valid but has no settings is a copy made by `asInvalid`: the owner exchanges clusters with other
  // Links.
  const isExchange = owner.settings === undefined && owner.accepted.status === 'True';
  const remedy = isExchange
    ? `, which waits for another Link to leave cluster "${owner.named ?? ''}": clusters cannot be exchanged between Links at once. Let each name its former cluster again; or delete one of them, and create it anew once the other is served`
    : '; give this one another name or remove it';
  const { cluster } = settings;
  const message = `spec.targetClusterName: "${cluster}" is already served by Link ${owner.name}${remedy}`;
  return verdict('False', 'DuplicateCluster', message);
}

const formerText = ({ cluster, suspended }: Former): string =>
  `the mirrors of cluster "${cluster}", which the Link named before, are left to another controller by Link ${suspended}, which is suspended, and are recorded by the Lease of this Link alone. To have this Link served, remove annotation ${Annotation.suspended} from Link ${suspended}; or delete that Link, which removes these mirrors; or name "${cluster}" in spec.targetClusterName again`;

const overlapText = (links: readonly string[]): string =>
  `a mirror of this Link and one of Link ${links.toSorted().join(', ')} can want the same name, since one of their cluster names ends in "-" and the other; the older Link has it then`;

function goesBefore(a: LinkRead, b: LinkRead, cluster: string, served: Served): boolean {
  const [isServedA, isServedB] = [a, b].map(({ name }) => served.get(name) === cluster);
  if (isServedA !== isServedB) return isServedA === true;
  return isOlder(a, b);
}

const isOlder = (a: LinkRead, b: LinkRead): boolean =>
  a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt;

/**
 * Returns the clusters with a Link that selects members of federated Services and is to be served by its present spec.
 */
export const selectingClusters = (links: ReadonlyMap<string, LinkRead>, served: Served): readonly string[] =>
  clustersOf(links, served, ({ federatedServiceSelector }) => federatedServiceSelector !== undefined);

/**
 * Returns the clusters with a Link that imports the target's ServiceExports and is to be served by its present spec.
 */
export const importingClusters = (links: ReadonlyMap<string, LinkRead>, served: Served): readonly string[] =>
  clustersOf(links, served, ({ serviceExports }) => serviceExports);

/**
 * Returns the clusters of Links whose settings fulfil a condition. Leaves out Links that are not accepted, because no
 * session will read their targets by these settings.
 */
const clustersOf = (
  links: ReadonlyMap<string, LinkRead>,
  served: Served,
  is: (settings: LinkSettings) => boolean,
): readonly string[] =>
  [...links.values()].flatMap((link) => {
    const { name, settings } = link;
    if (settings === undefined || !is(settings)) return [];
    const assignment = assignmentOf(settings.cluster, links, served);
    const isServed = assignment.do === 'serve' && assignment.settings.name === name;
    return isServed && formerOf(link, links, served) === undefined ? [settings.cluster] : [];
  });

/**
 * Returns the clusters that are named by Links that import the target's ServiceExports, or by invalid Links, which
 * might import them. Suspended Links count like others.
 */
export const exportingClusters = (links: Iterable<LinkRead>): readonly string[] =>
  [...links].flatMap(({ named, settings }) =>
    named === undefined || settings?.serviceExports === false ? [] : [named],
  );
