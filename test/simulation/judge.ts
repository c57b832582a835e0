/**
 * Looks on while a history happens: whatever the operator writes in the source cluster must be its own, where it may
 * write, of a kind it may write. Judged on storage, in the step in which a write takes effect, so that nothing that is
 * answered with an error counts, and nothing that took effect unseen is missed.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { Resource } from '../cluster/simulated/kinds/resources.ts';
import type { StorageEvent } from '../cluster/simulated/storage/storage.ts';
import type { HistoryCluster } from './cluster.ts';
import { appliedGeneration, unapplied } from './applied.ts';
import { exportedBy, Guard, keyOfMirror, notTaken } from './guard.ts';
import { type Choosy, verdictOn } from './import-policy.ts';
import { importOf, one, operatorOf, SERVICE_IMPORT } from './import-objects.ts';
import { Marks } from './marks.ts';
import { Lost } from './lost.ts';
import { LostMembers } from './lost-members.ts';
import { clusterOf as clusterOfLink, isServable } from './link-state.ts';
import { keptMirror, MIRRORS } from './lost-mirrors.ts';
import { LostPods } from './lost-pods.ts';
import { Readings, serviceBehind } from './strays.ts';
import {
  isFederated,
  isKeptByKubernetes,
  isMadeByKubernetes,
  leadsThroughGateways,
  LOCAL_MEMBER,
  membersIn,
} from './members.ts';
import { SECOND_NAMESPACE } from './operators.ts';
import type { Part } from './parts/part.ts';
import { EXPORT_LABEL } from './target-users.ts';
import type { Sender } from './world/internet.ts';
import type { SimulatedProcess } from './world/world.ts';
import { CLUSTER_OF, type LinkName, LINKS, NAMESPACES, OTHER_CLUSTER, TARGET_OF } from './command.ts';

const SERVICE_IMPORTS = 'serviceimports';

const versionOf = ({ metadata: { uid, resourceVersion } }: KubeObject): string => `${uid} ${resourceVersion}`;

const LINK_API = 'multicluster.linkerd.io/v1alpha3';
const OPERATOR_NAMESPACE = 'linkerd-multicluster';
/** Lease of the replica that leads. */
const LEADER = 'linkspan-operator';
/** Lease of whoever writes local memberships of federated Services. */
const LOCAL_LEASE = 'local-service-mirror-write';
const CLUSTERS: ReadonlySet<string> = new Set([...Object.values(CLUSTER_OF), OTHER_CLUSTER]);

/** After a restore of the source cluster, in this time a holder of a Lease that the backup lacks notices. */
const RESTORED_MS = 60_000;

/** How fast the clock of a process may run. */
const FASTEST = 1.04;

/** In this time, by any clock, the answer to a write is waited for. */
const ANSWERED_MS = 10_000 / FASTEST;

const clusterOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.['mirror.linkerd.io/cluster-name'];

/** Events of local members (I8), and of exports, imports and ServiceFailovers, are beside them. */
const isElsewhere = ({ involvedObject }: KubeObject): boolean =>
  ['Service', 'ServiceExport', 'ServiceImport', 'ServiceFailover'].includes(
    (involvedObject as { readonly kind?: string } | undefined)?.kind ?? '',
  );

export interface JudgeFacts {
  readonly nowMs: () => number;
  /** From when on nothing is in the way of operators. */
  readonly undisturbedMs: () => number;
  /** What a target cluster name stands for now. */
  readonly targetsOf: (cluster: string) => readonly HistoryCluster[];
  /** Whether the Secret of a Link leads to another cluster than its target. */
  readonly isAstray: (name: LinkName) => boolean;
  /** Whether Services join federated Services. */
  readonly hasMembers: boolean;
}

/** The longest time after which an operator may learn of a change of a Link: its watch is silent, then it is paused. */
const READ_LATE_MS = 150_000 + 90_000;

export class Judge {
  readonly #east: HistoryCluster;
  readonly #nowMs: () => number;
  readonly #complaints: string[] = [];
  readonly #writes: string[] = [];
  /** Each version that a Link has had, and until when. */
  readonly #formerLinks: { readonly link: KubeObject; readonly untilMs: number }[] = [];
  /** Whether any Link has ever asked for namespaces to be made. */
  namespacesMayBeMade = false;

  /** Whether everything of all targets has been decided so far: what is not keeps what a former Link gave it. */
  appliesAtOnce = true;

  /** Who led before the replica that leads, and let the Lease run out: it writes no more, under whichever Lease. */
  #predecessor: string | undefined;

  /** When the source cluster was restored from a backup last. */
  #restoredMs = -Infinity;

  /** Kinds, by their plurals, whose writes a part of the history judges. */
  readonly judgedElsewhere = new Set<string>();
  /** Of the features that the history has. */
  parts: readonly Part[] = [];

  /** E6. */
  readonly guard: Guard;
  /** Of mirrors, and of memberships in federated Services. */
  readonly lost: Lost;
  readonly lostMembers: LostMembers | undefined;
  readonly #marks: Marks;
  /** Versions that objects of ours have had. After a restore other content may come to have one: no precondition tells them apart. */
  readonly #ours = new Set<string>();
  readonly lostPods: LostPods;
  /** C3. */
  readonly #readings: Readings;

  /** By Lease of a Link: who holds it, and since when by true time. */
  readonly #holders = new Map<
    string,
    { readonly identity: string; readonly sinceMs: number; readonly untilMs: number }
  >();

  /** The Leases that a process has given up, each with the cluster that was written for under it. */
  readonly #released: {
    readonly process: SimulatedProcess;
    readonly cluster: string | undefined;
    readonly atMs: number;
  }[] = [];

  constructor(east: HistoryCluster, { nowMs, undisturbedMs, targetsOf, isAstray, hasMembers }: JudgeFacts) {
    this.#nowMs = nowMs;
    this.#marks = new Marks(undisturbedMs);
    this.#east = east;
    this.targetsOf = targetsOf;
    this.guard = new Guard((what) => this.complain(what));
    const ofLost = {
      nowMs,
      complain: (what: string) => this.complain(what),
      linkOf: (name: LinkName) => this.#linkOf(name),
      isServed: (name: LinkName, cluster: string) => this.isServedByUs(name, cluster),
      isAstray,
    };
    this.lost = new Lost({ ...ofLost, ...MIRRORS });
    this.lostPods = new LostPods(
      nowMs,
      (what) => this.complain(what),
      () => (LINKS.some((name) => TARGET_OF[name] === 'west' && isAstray(name)) ? [] : targetsOf('west')),
      (keys) => this.#isTaken('west', keys),
    );
    if (hasMembers) this.lostMembers = new LostMembers(east, ofLost, (name) => this.isHeldByAnother(name));
    this.#readings = new Readings(east, nowMs, (object) => this.isWritten(object));
    east.onOperatorRequest((request) => this.#readings.asked(request));
    east.onOperatorWrite((sender, resource, event) => this.#saw(sender, resource, event));
    east.onWrite((sender, { plural }, event) => {
      const { type, object } = event;
      if (this.isWritten(object)) this.#ours.add(versionOf(object));
      // Linkerd's controller takes Leases too.
      if (plural === 'leases' && object.metadata.namespace === OPERATOR_NAMESPACE) this.#sawLease(sender, event);
      if (plural === 'links' || plural === 'secrets') this.lost.linksChanged();
      if (plural === 'links') {
        if (object.metadata.generation !== event.previous?.metadata.generation || type === 'DELETED') {
          this.lostPods.excuse();
          if (event.previous !== undefined) this.#formerLinks.push({ link: event.previous, untilMs: this.#nowMs() });
        }
      }
      if (plural === 'namespaces' || plural === 'secrets') this.lostPods.excuse();
      if (plural === 'services' && type === 'DELETED' && sender !== undefined) {
        // Mirrors of a Link that was deleted go (E5).
        if (LINKS.some((name) => clusterOfLink(this.#linkOf(name)) === clusterOf(object)))
          this.lostPods.deleted(object);
      } else if (plural === 'services' && (type === 'ADDED' || sender === undefined)) this.lostPods.written(object);
      // What Linkerd's control plane has credentials of counts, too.
      if (plural === 'links' || plural === 'secrets') this.lostMembers?.linksChanged();
      if (plural === 'services') this.lostMembers?.seen(object, { isByUs: sender !== undefined });
      if (plural === 'services' || plural === SERVICE_IMPORTS) this.#marks.saw(event, this.#nowMs());
      if (plural === 'services' || plural === 'endpointslices') this.#memberships(sender, event);
      if (plural !== 'services' || type === 'MODIFIED' || !this.isMirror(object)) return;
      const cluster = object.metadata.labels?.['mirror.linkerd.io/cluster-name'] ?? '';
      const kept = keptMirror(cluster, object);
      if (type === 'ADDED' && kept !== undefined) this.lost.made(kept, { isByUs: sender !== undefined });
      this.guard.counted(cluster, keyOfMirror(cluster, object), type === 'ADDED' ? 1 : -1);
    });
  }

  /** What a target cluster name stands for now. */
  readonly targetsOf: (cluster: string) => readonly HistoryCluster[];

  /** Since when the replica that leads has led; 0 where there is but one and nothing to contend for, Infinity if none leads. */
  get ledSinceMs(): number {
    return this.#holders.has(LEADER) ? this.#heldSinceMs(LEADER) : 0;
  }

  /** Since when the replica that leads has held the Lease of a Link; Infinity if it does not. */
  servedSinceMs(link: string): number {
    const lease = `service-mirror-write-${link}`;
    const { identity } = this.#holders.get(lease) ?? {};
    const isLeaders = this.isHeldByUs(link) && identity === (this.#holders.get(LEADER)?.identity ?? identity);
    return isLeaders ? Math.max(this.ledSinceMs, this.#heldSinceMs(lease)) : Infinity;
  }

  /** Whether the operator holds the Lease of a Link. */
  isHeldByUs(link: string): boolean {
    return this.#holders.get(`service-mirror-write-${link}`)?.identity.startsWith('linkspan-') === true;
  }

  /** Whether Linkerd's controller holds the Lease of a Link. */
  isHeldByAnother(link: string): boolean {
    const holder = this.#holders.get(`service-mirror-write-${link}`)?.identity ?? '';
    return holder !== '' && !this.isHeldByUs(link);
  }

  /** Whether the operator holds the Lease of a Link for a target cluster. */
  isServedByUs(link: LinkName, cluster: string): boolean {
    const name = `service-mirror-write-${link}`;
    const lease = this.#east.get('coordination.k8s.io/v1', 'Lease', OPERATOR_NAMESPACE, name);
    return this.isHeldByUs(link) && lease?.metadata.annotations?.['linkspan.dev/target-cluster'] === cluster;
  }

  /** Whether an object is a mirror of ours and no probe Service. */
  isMirror(object: KubeObject): boolean {
    return this.isOurs(object) && object.metadata.namespace !== OPERATOR_NAMESPACE;
  }

  /** The source cluster went back to a backup: who held which Lease is not what holders know. */
  restored(): void {
    this.#holders.clear();
    this.forgive();
    this.lost.restored();
    this.lostPods.excuse();
    this.lostMembers?.restored();
    for (const part of this.parts) part.restored?.();
    this.#restoredMs = this.#nowMs();
  }

  /** The source cluster can be read again. @param sinceMs when it could be read last */
  sourceBack(sinceMs: number): void {
    this.lost.sourceBack(sinceMs);
    this.lostMembers?.sourceBack(sinceMs);
    for (const part of this.parts) part.sourceBack?.(sinceMs);
  }

  /** Whatever goes from a cluster now may go (E6): its deletion was confirmed, or its Link is another. */
  forgive(cluster?: string): void {
    this.guard.forgive(cluster);
    this.lostMembers?.guard.forgive(cluster);
    for (const part of this.parts) part.forgive?.(cluster);
  }

  /**
   * A Link is about to be given another spec, which may take away what its target exports (E6). What was lost before may go,
   * but for what its present spec takes away too: that is no new loss, and stays held, or confirmed, as it was.
   */
  edited(link: KubeObject, what: string): void {
    const cluster = clusterOfLink(link);
    const isOther = ({ metadata }: KubeObject): boolean => metadata.name !== link.metadata.name;
    // Of two Links that name one cluster, the other one may be served, to which the cluster is another.
    if (cluster === undefined || this.#linksOf(cluster).some(isOther)) {
      this.forgive();
      return;
    }
    const mirrored = this.#east
      .list('v1', 'Service')
      .filter((object) => this.isMirror(object) && clusterOf(object) === cluster)
      .map((mirror) => keyOfMirror(cluster, mirror));
    // A pod that is gone may keep its endpoint mirror for a while (D11). What deleted the pod takes that away, not this.
    const exported = new Set(this.targetsOf(cluster).flatMap((target) => [...exportedBy(target)]));
    const there = mirrored.filter((key) => !key.includes('#') || exported.has(key));
    const taken = this.#takenBy(link, cluster, there);
    const former = this.#linkOf(link.metadata.name);
    const isServed = former !== undefined && clusterOfLink(former) === cluster && isServable(former);
    const takenBefore = isServed ? this.#takenBy(former, cluster, there) : new Set();
    const before = this.guard.lossesOf(cluster, (key) => taken.has(key) && takenBefore.has(key));
    this.forgive();
    this.guard.lostAlready(cluster, before);
    const isTakenNow = (key: string): boolean => taken.has(key) && !takenBefore.has(key);
    const after = new Set(mirrored.filter((key) => !isTakenNow(key)));
    this.guard.lost(what, [cluster], { before: new Set(mirrored), after, there: () => mirrored, isChosen: true });
  }

  /** Whether the Link that is served for a cluster takes away any of these keys, as it is or as it may last have been read. */
  #isTaken(cluster: string, keys: readonly string[]): boolean {
    const sinceMs = this.#nowMs() - READ_LATE_MS;
    const former = this.#formerLinks.flatMap(({ untilMs, link }) => (untilMs < sinceMs ? [] : [link]));
    const links = [...former, ...LINKS.flatMap((name) => this.#linkOf(name) ?? [])];
    return links.some((link) => {
      if (clusterOfLink(link) !== cluster || !isServable(link)) return false;
      const name = link.metadata.name as LinkName;
      return this.isServedByUs(name, cluster) && this.#takenBy(link, cluster, keys).size > 0;
    });
  }

  /** Which of these keys, of what has mirrors, a Link does not select, or not pod by pod. */
  #takenBy(link: KubeObject, cluster: string, keys: readonly string[]): ReadonlySet<string> {
    return notTaken(link, keys, (key) => {
      const [namespace = '', name = ''] = key.split('/');
      return this.targetsOf(cluster).flatMap((target) => target.get('v1', 'Service', namespace, name) ?? [])[0];
    });
  }

  /** What must not have happened, and did. */
  get complaints(): readonly string[] {
    return this.#complaints;
  }

  /** The operator's writes so far, of all that is not a Lease or an Event. */
  get writes(): readonly string[] {
    return this.#writes;
  }

  complain(what: string): void {
    this.#complaints.push(what);
  }

  /** Whether an object is a mirror, or a probe Service, of a Link of ours (rule A6). */
  isOurs(object: KubeObject): boolean {
    const { name, namespace, labels = {} } = object.metadata;
    if (isMadeByKubernetes(object)) return false;
    if (!CLUSTERS.has(labels['mirror.linkerd.io/cluster-name'] ?? '')) return false;
    if (labels['mirror.linkerd.io/mirrored-service'] === 'true') return true;
    const service = labels['kubernetes.io/service-name'] ?? name;
    return namespace === OPERATOR_NAMESPACE && service.startsWith('probe-');
  }

  /** Whether an object is the operator's to write: a mirror, a probe Service, a federated Service (rules A6, I8). */
  isWritten(object: KubeObject): boolean {
    return this.isMirrorOrMember(object) || this.parts.some((part) => part.isWritten?.(object) === true);
  }

  /** Whether an object is a mirror, a probe Service, or a federated Service. */
  isMirrorOrMember(object: KubeObject): boolean {
    return this.isOurs(object) || isFederated(object);
  }

  #saw(sender: Sender, { plural }: Resource, event: StorageEvent): void {
    const { type, object, previous } = event;
    const { namespace = '', name } = object.metadata;
    const what = `${type} ${plural} ${namespace}/${name}`;
    if (this.parts.some((part) => part.written?.(event, what) === true)) {
      if (type === 'DELETED' && this.isTerminating(object)) return;
      this.#writes.push(what);
      if (!sender.process.name.startsWith(SECOND_NAMESPACE)) this.#mustHoldLeases(sender, [], what);
      else if (this.#isAnothersImport(previous ?? object, plural, sender.sentMs))
        this.complain(`${what}: by ${sender.process.name}, though another operator serves it (K7)`);
      return;
    }
    switch (plural) {
      case 'leases':
      case 'events':
        if (namespace === OPERATOR_NAMESPACE || namespace === SECOND_NAMESPACE) return;
        if (plural === 'events' && isElsewhere(object)) return;
        this.complain(`${what}: outside the operator's namespace`);
        return;
      case 'links':
        this.#writes.push(what);
        if (type !== 'MODIFIED' || previous?.metadata.generation !== object.metadata.generation) {
          this.complain(`${what}: more than its status`);
        }
        this.#sawStatus(object, previous);
        return;
      case 'namespaces':
        // What is being deleted is emptied and removed by Kubernetes.
        if (previous?.metadata.deletionTimestamp !== undefined) return;
        this.#writes.push(what);
        if (type !== 'ADDED') this.complain(`${what}: a namespace is only ever created`);
        if (!this.namespacesMayBeMade) this.complain(`${what}: nobody asked for it`);
        if (!NAMESPACES.some((allowed) => allowed === name)) this.complain(`${what}: may not be created`);
        return;
      case 'services':
      case 'endpoints':
      case 'endpointslices':
        if (type === 'DELETED' && this.#isTerminating(namespace)) return;
        this.#writes.push(what);
        if (type === 'DELETED' && this.#isStray(sender, object)) return;
        if (previous !== undefined && !this.isWritten(previous) && !this.#ours.has(versionOf(previous)))
          this.complain(`${what}: was somebody else's`);
        if (!this.isWritten(object)) this.complain(`${what}: does not have the labels that make it ours`);
        if (isFederated(object)) this.#sawFederated(sender, { type, object, previous }, what);
        else this.#mustHoldLeases(sender, [clusterOf(object) ?? ''], what);
        if (plural === 'services') this.#sawMirror(sender, type, object);
        if (!this.#mayWrite(object)) this.complain(`${what}: outside the namespaces that may be written to`);
        return;
      default:
        if (!this.judgedElsewhere.has(plural)) this.complain(`${what}: a kind that is never written`);
        else this.#writes.push(what);
    }
  }

  /**
   * C3: whether an object is an endpoint of a Service of ours, and not ours itself, or was when the Service was read for
   * its deletion. Under which Lease it is deleted says nothing of any cluster.
   */
  #isStray(sender: Sender, object: KubeObject): boolean {
    // To an operator that starts, one that somebody has marked as maintained by Kubernetes is no slice of ours.
    if (this.isWritten(object) && !isKeptByKubernetes(object)) return false;
    const service = serviceBehind(this.#east, object);
    const mayGo = object.kind !== 'Service' && this.#readings.allow(sender, object);
    return mayGo || (service !== undefined && this.isWritten(service));
  }

  /** E5, I6. What is in a namespace goes with it. */
  #memberships(sender: Sender | undefined, event: StorageEvent): void {
    const isByUs = sender !== undefined && !this.#isTerminating(event.object.metadata.namespace ?? '');
    this.lostMembers?.changed(event, { isByUs, sentMs: sender?.sentMs ?? Infinity });
  }

  /** G1. */
  #sawStatus(link: KubeObject, previous: KubeObject | undefined): void {
    const { generation, name } = link.metadata;
    if (!this.appliesAtOnce || appliedGeneration(link) !== generation || appliedGeneration(previous) === generation)
      return;
    const cluster = this.#clusterOf(name);
    const endpoints = ['v1', 'discovery.k8s.io/v1'].flatMap((version) =>
      this.#east.list(version, version === 'v1' ? 'Endpoints' : 'EndpointSlice'),
    );
    const mirrors = endpoints.filter((object) => this.isMirror(object) && clusterOf(object) === cluster);
    for (const problem of unapplied(link, mirrors)) this.complain(problem);
  }

  /** E6. */
  #sawMirror({ sentMs }: Sender, type: StorageEvent['type'], mirror: KubeObject): void {
    const cluster = mirror.metadata.labels?.['mirror.linkerd.io/cluster-name'] ?? '';
    if (type !== 'DELETED' || !this.isMirror(mirror)) return;
    const kept = keptMirror(cluster, mirror);
    if (kept !== undefined) this.lost.deleted(kept, `mirror ${mirror.metadata.namespace}/${mirror.metadata.name}`);
    const links = this.#linksOf(cluster);
    const isExported = (key: string): boolean => {
      const [namespace = '', name = ''] = key.split('/');
      // What the Link does not select any more goes whole, whatever its pods are lost by.
      if (this.#isTaken(cluster, [key])) return false;
      return this.targetsOf(cluster).some((target) => {
        const service = target.get('v1', 'Service', namespace, name);
        const isAdmitted = links.every(({ spec }) => service && verdictOn(spec as Choosy, service).isAdmitted);
        return service?.metadata.labels?.[EXPORT_LABEL] !== undefined && isAdmitted;
      });
    };
    this.guard.deleted(cluster, keyOfMirror(cluster, mirror), isExported, sentMs);
  }

  /** H1: what is written under no Lease but that of the operator. */
  mustLead(sender: Sender, what: string): void {
    this.#mustHoldLeases(sender, [], what);
  }

  #heldSinceMs(lease: string): number {
    const { identity = '', sinceMs = Infinity } = this.#holders.get(lease) ?? {};
    return identity === '' ? Infinity : sinceMs;
  }

  #sawLease(sender: Sender | undefined, { type, object, previous }: StorageEvent): void {
    const { metadata, spec } = object;
    const { name } = metadata;
    const identity = type === 'DELETED' ? '' : ((spec as { holderIdentity?: string }).holderIdentity ?? '');
    const before = this.#holders.get(name);
    const now = this.#nowMs();
    const lease = (spec ?? {}) as { readonly leaseDurationSeconds?: number };
    const untilMs = now + ((lease.leaseDurationSeconds ?? 0) * 1000) / FASTEST;
    const isSame = identity === (before?.identity ?? '');
    const isLeaders = name !== LEADER && identity !== '' && identity === this.#holders.get(LEADER)?.identity;
    const hasCeased = isLeaders && before?.identity === this.#predecessor;
    if (name === LEADER && !isSame) this.#predecessor = before?.identity;
    if (identity === '' && sender !== undefined && !isSame) {
      this.#released.push({ process: sender.process, cluster: this.#recordedBy(previous ?? object), atMs: now });
    }
    if (!isSame && !hasCeased && identity !== '' && (before?.identity ?? '') !== '' && now < before!.untilMs) {
      this.complain(`${identity} took Lease ${name} from ${before!.identity}, which holds it (H1)`);
    }
    this.#holders.set(name, { identity, sinceMs: isSame ? (before?.sinceMs ?? now) : now, untilMs });
    if (!isSame) this.lostMembers?.linksChanged();
  }

  /**
   * H1 and I7: a federated Service is written under the Leases of those whose memberships change, and takes the shape that
   * Linkerd's local mirror deletes only under the Lease of local memberships.
   */
  #sawFederated(
    sender: Sender,
    { type, object, previous }: Pick<StorageEvent, 'type' | 'object' | 'previous'>,
    what: string,
  ): void {
    const [before, after] = [membersIn(previous), type === 'DELETED' ? [] : membersIn(object)];
    const isSlice = object.kind === 'EndpointSlice';
    if (sender.process.name.startsWith(SECOND_NAMESPACE)) {
      const service = isSlice ? serviceBehind(this.#east, object) : (previous ?? object);
      this.#sawSecond(sender, service, [before, after], what);
      return;
    }
    // Nobody's membership depends on slices that lead nowhere, and from somebody else's Service they must not lead.
    if (isSlice && type === 'DELETED' && !this.#isUsed(object)) {
      this.#mustHoldLeases(sender, [], what);
      return;
    }
    const all = [...before, ...after];
    const concerned = new Set(isSlice ? all : all.filter((each) => before.includes(each) !== after.includes(each)));
    const shapes = type !== 'DELETED' && !isSlice && leadsThroughGateways(object) && !leadsThroughGateways(previous);
    // Slices are only ever ours.
    const isLocal = shapes || (!isSlice && concerned.has(LOCAL_MEMBER));
    concerned.delete(LOCAL_MEMBER);
    this.#mustHoldLeases(sender, [...concerned, ...(isLocal ? [LOCAL_MEMBER] : [])], what);
  }

  /** K7: whether the second operator could know that another one serves the ServiceImport that an object is, or is derived from. */
  #isAnothersImport(object: KubeObject, plural: string, sentMs: number): boolean {
    if ([undefined, SECOND_NAMESPACE].includes(this.#importedBy(object))) return false;
    // The writes of a ServiceImport itself are conditional; what is derived from it goes by what is known of it.
    const live = plural === SERVICE_IMPORTS ? undefined : this.#importOf(object);
    return live === undefined || !this.#marks.isNews(live, sentMs);
  }

  /** K7: which operator serves the ServiceImport that an object is, or is derived from: that one says so, if it is there. */
  #importedBy(object: KubeObject): string | undefined {
    return operatorOf(this.#importOf(object) ?? object) ?? operatorOf(object);
  }

  #importOf(object: KubeObject): KubeObject | undefined {
    const [namespace, name = ''] = importOf(object)?.split('/') ?? [];
    return one(this.#east, SERVICE_IMPORT, namespace, name);
  }

  /** I9: the second operator has no Link, so that no membership of a target is its own, nor what another one serves. */
  #sawSecond(
    { sentMs }: Sender,
    service: KubeObject | undefined,
    [before, after]: readonly [readonly string[], readonly string[]],
    what: string,
  ): void {
    const operator = service && operatorOf(service);
    // The writes of a Service itself are conditional; a slice goes by what is known of its Service.
    const isNews = what.includes(' endpointslices ') && service !== undefined && this.#marks.isNews(service, sentMs);
    if (operator !== undefined && operator !== SECOND_NAMESPACE && !isNews)
      this.complain(`${what}: by the second operator, though another one serves it (I9)`);
    const isOfTargets = (member: string): boolean => member !== LOCAL_MEMBER;
    const concerned = [...before, ...after].filter(isOfTargets);
    const isSlice = what.includes(' endpointslices ');
    const changed = concerned.filter((each) => isSlice || before.includes(each) !== after.includes(each));
    for (const cluster of changed)
      this.complain(`${what}: by the second operator, which has no Link of ${cluster} (I9)`);
  }

  /** Whether a slice is of a federated Service that leads through gateways: lists of members hide it. */
  #isUsed({ metadata: { namespace, labels = {} } }: KubeObject): boolean {
    const service = this.#east.get('v1', 'Service', namespace, labels['kubernetes.io/service-name'] ?? '');
    return service !== undefined && isFederated(service) && leadsThroughGateways(service);
  }

  /**
   * Two never write for one cluster (H1): nothing is sent after another process has come to lead, or has taken the Lease
   * of the Link.
   * @param clusters that are written for, the local one among them
   */
  #mustHoldLeases({ process, sentMs }: Sender, clusters: readonly string[], what: string): void {
    if (this.#nowMs() < this.#restoredMs + RESTORED_MS) return;
    const leases = this.#east
      .list('coordination.k8s.io/v1', 'Lease')
      .filter(({ metadata }) => metadata.namespace === OPERATOR_NAMESPACE)
      .map(({ metadata, spec }) => ({
        name: metadata.name,
        cluster: this.#recordedBy({ metadata }),
        holder: (spec as { readonly holderIdentity?: string }).holderIdentity ?? '',
      }))
      .filter(({ holder }) => holder !== '');
    const isOurs = ({ holder }: { readonly holder: string }): boolean => process.name.startsWith(`${holder} `);
    const deciding = [
      ...leases.filter(({ name }) => name === LEADER),
      ...clusters.flatMap((cluster) => {
        const ofCluster = leases.filter((lease) => lease.cluster === cluster);
        return ofCluster.some(isOurs) ? [] : ofCluster;
      }),
    ];
    for (const { name, holder } of deciding.filter((lease) => !isOurs(lease))) {
      if (sentMs <= (this.#holders.get(name)?.sinceMs ?? 0)) continue;
      this.complain(`${what}: by ${process.name}, while ${holder} holds ${name} (H1)`);
    }
    // Nobody waits for an answer for longer than that.
    if (this.#nowMs() > sentMs + ANSWERED_MS) return;
    for (const cluster of clusters) {
      const isHeld = leases.some((lease) => lease.cluster === cluster && isOurs(lease));
      const released = this.#released.findLast((each) => each.process === process && each.cluster === cluster);
      if (isHeld || released === undefined || released.atMs <= sentMs) continue;
      this.complain(`${what}: by ${process.name}, which released the Lease of ${cluster} before it was answered (L69)`);
    }
  }

  /** The cluster that is written for under a Lease. Linkerd's controllers record none. */
  #recordedBy({ metadata: { name, annotations } }: Pick<KubeObject, 'metadata'>): string | undefined {
    if (name === LOCAL_LEASE) return LOCAL_MEMBER;
    return annotations?.['linkspan.dev/target-cluster'] ?? this.#clusterOf(name);
  }

  /** The target cluster of the Link that a Lease is of. */
  #clusterOf(lease: string): string | undefined {
    const link = this.#linkOf(lease.replace('service-mirror-write-', ''));
    return (link?.spec as { readonly targetClusterName?: string } | undefined)?.targetClusterName;
  }

  /** The Links that name a cluster. */
  #linksOf(cluster: string): readonly KubeObject[] {
    return LINKS.flatMap((name) => this.#linkOf(name) ?? []).filter((link) => clusterOfLink(link) === cluster);
  }

  #linkOf(name: string): KubeObject | undefined {
    return this.#east.get(LINK_API, 'Link', OPERATOR_NAMESPACE, name);
  }

  /** Somebody may have taken the label that names its Service from a slice of ours, which then goes. */
  #mayWrite({ metadata: { namespace, name, labels = {} } }: KubeObject): boolean {
    const service = labels['kubernetes.io/service-name'] ?? name.replace(/-ipv[46]$/, '');
    if (namespace === OPERATOR_NAMESPACE) return LINKS.some((link) => service === `probe-${link}`);
    return NAMESPACES.some((allowed) => allowed === namespace);
  }

  /** Whether the namespace of an object is going, with all that is in it. */
  isTerminating({ metadata }: KubeObject): boolean {
    return metadata.namespace !== undefined && this.#isTerminating(metadata.namespace);
  }

  #isTerminating(namespace: string): boolean {
    const found = this.#east.get('v1', 'Namespace', undefined, namespace);
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  }
}
