/**
 * What {@link Lost} judges of federated Services (rules E5, I5, I6): no member goes that stays one, not even for a moment
 * while the shape changes; and the Service itself stays while a target has a member, whatever its cluster is called (L68).
 * Memberships are judged of names under which no Service that joins has ever had other ports, in any cluster, so that no
 * member keeps another from joining; nor a federated Service, by somebody who edited it: its ports may be those of a first
 * member that is not known, and count as long as it is not (I3, I4).
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster } from './cluster.ts';
import { GATEWAY_NAME, type LinkName, LINKS, PORTS, TARGET_OF, TARGETS } from './command.ts';
import { isDiscovered } from './federation-users.ts';
import { Guard, type Lack } from './guard.ts';
import { clusterOf, isServable, NO_GATEWAY } from './link-state.ts';
import { type Kept, Lost, type LostOptions } from './lost.ts';
import { isFederated, isKeptByKubernetes, isMember, joinedBy, leadsThroughGateways, membersIn } from './members.ts';
import { portsOf, specOf } from './oracle.ts';

const EVEN_PORTS = portsOf((PORTS[0] ?? []) as Parameters<typeof portsOf>[0]);

/** Whether a Service may join whatever others of its name there are, if these are such, too. */
export const isEven = (service: KubeObject): boolean => {
  const { type, clusterIP, ports } = specOf(service);
  const hasPorts = Array.isArray(ports) && isDeepStrictEqual(portsOf(ports), EVEN_PORTS);
  return hasPorts && type !== 'ExternalName' && clusterIP !== 'None';
};

/** The terms on which a Link has members join; undefined: none, or it may be that they cannot. */
export function termsOf(east: HistoryCluster, link: KubeObject | undefined): string | undefined {
  const { federatedServiceSelector, federation, targetClusterName, importPolicy } = (link?.spec ?? {}) as {
    readonly importPolicy?: object;
    readonly federatedServiceSelector?: object;
    readonly federation?: string;
    readonly targetClusterName?: string;
  };
  const gatewayAddress = gatewayAddressOf(link);
  const isSelecting = Object.keys(federatedServiceSelector ?? {}).length > 0;
  // What it excludes goes (N4).
  if (importPolicy !== undefined) return undefined;
  // Whom a gateway is to lead to joins only if there is one (I5).
  if (federation === 'gateway' && gatewayAddress === NO_GATEWAY) return undefined;
  return isSelecting && isDiscovered(east, targetClusterName ?? '') ? `${federation} ${gatewayAddress}` : undefined;
}

/**
 * Terms on which members stay. The name of a gateway may have no address for a while. A member on a flat network whose
 * Link has no gateway leaves once another is to be reached through one (I5).
 */
const lastingTermsOf = (east: HistoryCluster, link: KubeObject | undefined): string | undefined =>
  [GATEWAY_NAME, NO_GATEWAY].includes(gatewayAddressOf(link)) ? undefined : termsOf(east, link);

const gatewayAddressOf = (link: KubeObject | undefined): string =>
  (link?.spec as { readonly gatewayAddress?: string } | undefined)?.gatewayAddress ?? NO_GATEWAY;

type Options = Omit<LostOptions, 'clusterOf' | 'isExported' | 'isCertain' | 'termsOf'>;

export class LostMembers {
  /** E6. */
  readonly guard: Guard;
  readonly #east: HistoryCluster;
  readonly #linkOf: LostOptions['linkOf'];
  readonly #members: Lost;
  /** Of the federated Services themselves; the clusters of this are targets. */
  readonly #services: Lost;
  /** Keys of which a Service that joins, or what somebody made of a federated one, has ever been another than an even one. */
  readonly #uneven = new Set<string>();
  /** Members that each federated Service has, by its key. */
  readonly #shown = new Map<string, ReadonlySet<string>>();
  /** Whose slices somebody took away, which the lists of the Service may hide. */
  readonly #undone = new Set<string>();
  /** Tells memberships apart that came one after another. */
  #count = 0;
  readonly #ids = new Map<string, string>();

  /** @param isAnothers whether another holds the Lease of a Link */
  constructor(east: HistoryCluster, options: Options, isAnothers: (name: LinkName) => boolean) {
    const { linkOf } = options;
    this.#east = east;
    this.#linkOf = linkOf;
    this.guard = new Guard(options.complain, 'memberships');
    const common = { ...options, isExported: isMember, isCertain: isEven };
    this.#members = new Lost({ ...common, clusterOf, termsOf: (link) => lastingTermsOf(east, link) });
    this.#services = new Lost({
      ...common,
      isServed: () => true,
      clusterOf: targetOf,
      termsOf: (link) => {
        if (link === undefined || !isServable(link) || isAnothers(link.metadata.name as LinkName)) return undefined;
        // Which of two targets has the cluster is not certain.
        const isShared = LINKS.some((name) => {
          const other = linkOf(name);
          return clusterOf(other) === clusterOf(link) && other !== undefined && targetOf(other) !== targetOf(link);
        });
        return isShared ? undefined : termsOf(east, link);
      },
    });
  }

  /** A Service of a target was written or deleted, with an event. */
  targetChanged(...of: Parameters<Lost['targetChanged']>): void {
    for (const lost of [this.#members, this.#services]) lost.targetChanged(...of);
  }

  /** A target is another, or was restored. */
  targetReplaced(...of: Parameters<Lost['targetReplaced']>): void {
    for (const lost of [this.#members, this.#services]) lost.targetReplaced(...of);
  }

  /** A target lost members that it had before, without anybody deleting them. */
  lost(what: string, clusters: readonly string[], of: Omit<Lack, 'there'>): void {
    const there = (cluster: string): readonly string[] =>
      [...this.#shown].flatMap(([key, members]) => (members.has(cluster) ? [key] : []));
    this.guard.lost(what, clusters, { ...of, there });
    this.#forgive();
  }

  /** A Link came, changed or went, or who holds its Lease, or what Linkerd's control plane has credentials of. */
  linksChanged(): void {
    for (const lost of [this.#members, this.#services]) lost.linksChanged();
    this.#forgive();
  }

  /** Without credentials of its cluster nobody is a member on a flat network (I4), whatever its target has lost before. */
  #forgive(): void {
    for (const name of LINKS) {
      const link = this.#linkOf(name);
      const { federation } = (link?.spec ?? {}) as { readonly federation?: string };
      const cluster = clusterOf(link);
      if (cluster !== undefined && federation !== 'gateway' && !isDiscovered(this.#east, cluster))
        this.guard.forgive(cluster);
    }
  }

  /** A Service of any cluster was written. */
  seen(service: KubeObject, { isByUs }: { readonly isByUs: boolean }): void {
    if (isEven(service)) return;
    if (isMember(service)) this.#uneven.add(keyOf(service));
    if (isFederated(service) && !isByUs) this.#uneven.add(joinedBy(service));
  }

  /** The source cluster can be read again. */
  sourceBack(sinceMs: number): void {
    for (const lost of [this.#members, this.#services]) lost.sourceBack(sinceMs);
  }

  /** The source cluster was restored from a backup. */
  restored(): void {
    for (const lost of [this.#members, this.#services]) lost.restored();
    const before = [...this.#shown.keys()];
    this.#shown.clear();
    for (const key of before) this.#shown.set(key, this.#membersOf(key));
  }

  /**
   * A federated Service or a slice of one was written or deleted, by whomever.
   * @param sentMs when the operator asked for that, if it did
   */
  changed(
    { type, object, previous }: StorageEvent,
    { isByUs, sentMs }: { readonly isByUs: boolean; readonly sentMs: number },
  ): void {
    const subject = isFederated(object) ? object : previous;
    if (subject === undefined || !isFederated(subject)) return;
    const key = joinedBy(subject);
    const isThere = type !== 'DELETED' && isFederated(object) && !isKeptByKubernetes(object);
    if (subject.kind === 'EndpointSlice') this.#sawSlice(key, subject, { isThere, isByUs });
    const before = this.#shown.get(key) ?? new Set();
    const after = this.#membersOf(key);
    this.#shown.set(key, after);
    for (const cluster of after) {
      if (before.has(cluster)) continue;
      this.#ids.set(`${key} ${cluster}`, String(++this.#count));
      this.#members.made(this.#kept(key, cluster), { isByUs });
      this.guard.counted(cluster, key, 1);
    }
    for (const cluster of before) {
      if (after.has(cluster)) continue;
      const kept = this.#kept(key, cluster);
      const isUndone = this.#undone.has(`${key} ${cluster}`);
      // A slice that was asked for while a Lease was lost may be made late. A list of members that hides it may have been
      // asked for by then: its precondition is of the Service, and does not tell that there is a slice.
      const isUnseen = this.#members.wasMadeAfter(kept, sentMs);
      if (isByUs && !isUndone && !isUnseen && !this.#uneven.has(key) && !this.#isTaken(key))
        this.#members.deleted(kept, `the membership of ${cluster} in ${key}-federated`);
      this.#members.went(kept);
      this.guard.counted(cluster, key, -1);
      if (!isByUs) this.guard.forgive(cluster, key);
      else if (!isUnseen) this.guard.deleted(cluster, key, () => true, sentMs);
    }
    // Who gives a Service another shape has it anew: whoever serves it then may know of none of its members.
    const isReshaped = previous !== undefined && leadsThroughGateways(previous) !== leadsThroughGateways(object);
    if (!isByUs && subject.kind === 'Service' && isReshaped) this.#reckonAnew(subject, key);
    this.#sawService(subject, key, type === 'DELETED' && isByUs);
  }

  #reckonAnew({ metadata: { uid } }: KubeObject, key: string): void {
    for (const target of TARGETS) this.#services.went({ id: `${uid} ${target}`, cluster: target, key });
  }

  #sawSlice(key: string, slice: KubeObject, { isThere, isByUs }: { isThere: boolean; isByUs: boolean }): void {
    for (const cluster of membersIn(slice)) {
      if (isThere) this.#undone.delete(`${key} ${cluster}`);
      else if (!isByUs) this.#undone.add(`${key} ${cluster}`);
    }
  }

  #sawService({ kind, metadata: { uid } }: KubeObject, key: string, isDeleted: boolean): void {
    const id = kind === 'Service' ? uid : this.#serviceOf(key)?.metadata.uid;
    const clusters = this.#shown.get(key);
    for (const target of TARGETS) {
      const kept = { id: `${id} ${target}`, cluster: target, key };
      const names = LINKS.flatMap((link) => (TARGET_OF[link] === target ? (clusterOf(this.#linkOf(link)) ?? []) : []));
      if (names.some((cluster) => clusters?.has(cluster))) this.#services.made(kept, { isByUs: true });
      if (isDeleted && kind === 'Service') this.#services.deleted(kept, `Service ${key}-federated`);
    }
  }

  /** Whether somebody else's Service has the name. */
  #isTaken(key: string): boolean {
    const there = this.#serviceOf(key);
    return there !== undefined && !isFederated(there);
  }

  #kept(key: string, cluster: string): Kept {
    return { id: this.#ids.get(`${key} ${cluster}`) ?? '', cluster, key };
  }

  /** The clusters that a federated Service leads to: by its lists, which hide its slices, or by its slices. */
  #membersOf(key: string): ReadonlySet<string> {
    const service = this.#serviceOf(key);
    if (service === undefined || !isFederated(service)) return new Set();
    if (!leadsThroughGateways(service)) return new Set(membersIn(service));
    const slices = this.#east
      .list('discovery.k8s.io/v1', 'EndpointSlice')
      // One that somebody has marked as maintained by Kubernetes is none of ours to an operator that starts (C3).
      .filter((slice) => isFederated(slice) && joinedBy(slice) === key && !isKeptByKubernetes(slice));
    return new Set(slices.flatMap(membersIn));
  }

  /** The Service of a federated Service's name. */
  #serviceOf(key: string): KubeObject | undefined {
    const [namespace, name] = key.split('/');
    return this.#east.get('v1', 'Service', namespace, `${name}-federated`);
  }
}

const targetOf = ({ metadata: { name } }: KubeObject): string => TARGET_OF[name as LinkName];

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;
