/**
 * The rules I1 to I8, said a second time, of what there is before and after: nothing here is taken from the operator's
 * own code. Each broken rule is a sentence.
 */
import type { LocalParty, ObservedFederation, TargetParty } from '../../../operator/federation/observed.ts';
import type { EndpointSlice, Service, ServicePort } from '../../../operator/kube/objects.ts';
import type { MirrorStatus } from '../../../operator/mirror/status.ts';
import type { Standing } from './observed.ts';

const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';
const HERE = '(local)';

/** Who the members of a federated Service are, as its readers find out. */
interface Shown {
  readonly isFlat: boolean;
  readonly members: readonly string[];
}

/** A user's Service, or a mirror, has no members, whatever it is called. */
function shown({ live, slices }: Standing, name: string): Shown | undefined {
  const { labels = {}, annotations = {} } = live?.metadata ?? {};
  if (labels['mirror.linkerd.io/mirrored-service'] !== 'true') return undefined;
  if (labels['mirror.linkerd.io/cluster-name'] !== undefined) return undefined;
  const [remote, local] = [annotations[REMOTE], annotations[LOCAL]];
  if (remote !== undefined || local !== undefined) {
    const clusters = (remote ?? '').split(',').filter((entry) => entry !== '');
    return {
      isFlat: true,
      members: [
        ...clusters.map((entry) => (entry.startsWith(`${name}@`) ? entry.slice(name.length + 1) : entry)),
        ...(local === name ? [HERE] : []),
      ],
    };
  }
  if (labels['linkspan.dev/federation'] !== 'gateway') return undefined;
  return { isFlat: false, members: [...new Set(slices.map(clusterOf))] };
}

const clusterOf = (slice: EndpointSlice): string => slice.metadata.labels?.['linkspan.dev/federation-member'] ?? HERE;

const isTcp = ({ protocol }: ServicePort): boolean => protocol === undefined || protocol === 'TCP';
const numberOf = ({ port, protocol = 'TCP' }: ServicePort): string => `${port}/${protocol}`;
const exactly = (port: ServicePort): string => `${port.name ?? ''} ${numberOf(port)}`;

/** A cluster that may have a member, the local one like the others. */
interface Cluster {
  readonly name: string;
  readonly party: LocalParty | TargetParty;
  readonly target: TargetParty | undefined;
  /** Its place in the order of rule I3. */
  readonly rank: string;
}

/** Whether Linkerd can find the pods of a cluster; while that is not known, those of a member still. */
const isFound = ({ isDiscoverable, link }: TargetParty, before: Shown | undefined): boolean =>
  isDiscoverable ?? before?.members.includes(link.cluster) === true;

const mayJoin = (service: Service | undefined): service is Service => {
  if (service === undefined) return false;
  const { labels = {}, annotations = {} } = service.metadata;
  const { type, clusterIP, ports = [] } = service.spec ?? {};
  const isCopy =
    labels['mirror.linkerd.io/mirrored-service'] === 'true' || REMOTE in annotations || LOCAL in annotations;
  return !isCopy && type !== 'ExternalName' && clusterIP !== 'None' && ports.length > 0;
};

/** Returns what is wrong with what there is afterwards. */
export function brokenRules(
  given: ObservedFederation,
  after: Standing,
  statuses: ReadonlyMap<string, MirrorStatus>,
): readonly string[] {
  const broken: string[] = [];
  const must = (holds: boolean, rule: string): void => {
    if (!holds) broken.push(rule);
  };
  const before = shown(given, given.name);
  const { isHeld } = given.local;
  // Without the Lease, an annotation about the local member is another's; slices are only ever ours.
  const isAnothers = !isHeld && before?.isFlat !== false;
  const observed = isAnothers ? { ...given, local: { ...given.local, knowledge: 'anothers' as const } } : given;
  const clusters: readonly Cluster[] = [
    { name: HERE, party: observed.local, target: undefined, rank: '' },
    ...observed.targets.map((target) => ({
      name: target.link.cluster,
      party: target,
      target,
      rank: `${target.seniority.createdAt} ${target.seniority.name}`,
    })),
  ].sort((a, b) => (a.rank < b.rank ? -1 : 1));

  if (observed.live !== undefined && before === undefined) {
    must(after.live === observed.live, 'I8: what is not ours is not written');
    must(after.slices.length === observed.slices.length, 'I8: nor does it get slices');
    for (const { name, party, target } of clusters) {
      if (party.knowledge !== 'known' || !mayJoin(party.service) || target?.isAdmitted === false) continue;
      must(statuses.get(name)?.reason === 'NameConflict', `I8: ${name} reports the conflict`);
    }
    return broken;
  }

  const now = shown(after, given.name) ?? { isFlat: true, members: [] };
  const stays = clusters.filter(({ name, party }) => party.knowledge !== 'known' && before?.members.includes(name));
  const selected = clusters.filter(
    ({ target, party }) => party.knowledge === 'known' && mayJoin(party.service) && target?.isAdmitted !== false,
  );
  const isFlat = isFlatAfter(before, isHeld, stays, selected);
  if (before?.isFlat === true && !isFlat && now.isFlat) {
    must(selected.some(hasUnknownEndpoints), 'I5: the shape waits for endpoints that are not known only');
    must(after.live === observed.live, 'I5: an annotation stays as it is until slices can take over');
    must(same(after.slices, observed.slices), 'I5: nothing is written before');
    return broken;
  }
  // An annotation is not begun without the Lease either, when slices give way to it.
  const asks = isFlat && !isHeld ? selected.filter(({ target }) => target !== undefined) : selected;
  must(new Set(now.members).size === now.members.length, 'I2: each member once');
  for (const each of clusters) {
    const isIn = now.members.includes(each.name);
    if (each.party.knowledge !== 'known') must(isIn === stays.includes(each), `I6, I7: ${each.name} stays as it was`);
    else if (!asks.includes(each)) {
      must(!isIn, `I1, E10: ${each.name} has no Service that may join`);
      must(statuses.get(each.name)?.mirrored !== true, `I8: ${each.name} is not reported as a member`);
    }
  }
  for (const name of now.members) {
    must(
      clusters.some((each) => each.name === name),
      `I6: ${name} has no Link`,
    );
  }

  if (now.isFlat) must(after.slices.length === 0, 'I4: no endpoints on a flat network');

  // Who is the first, and what the others need.
  const couldBeIn = ({ target, party }: Cluster): boolean => {
    if (isFlat && target?.mode === 'gateway')
      return isHeld && isUnresolved(target) && before?.members.includes(target.link.cluster) === true && hasTcp(party);
    return isFlat ? target === undefined || isFound(target, before) : couldLead({ target, party }, before);
  };
  const [first] = clusters.filter((each) => stays.includes(each) || (asks.includes(each) && couldBeIn(each)));
  if (first === undefined) {
    must(after.slices.length === 0, 'I1: nobody can be in, so there are no slices');
    const isKept = observed.live !== undefined && clusters.some((each) => mayStillJoin(each, given));
    must((after.live !== undefined) === isKept, 'I1, I6: it stays while, and only while, somebody may still join');
    if (!isKept) return broken;
    must(now.members.length === 0, 'I6: it stays without members');
    must(now.isFlat === (before?.isFlat !== false || !isHeld), 'I6, I7: in its shape, or flat without the Lease');
    must(same(after.live?.spec?.ports, observed.live?.spec?.ports), 'I6: its ports stay');
    must(ownerOf(after) === ownerOf(observed), 'I6: its labels stay');
    return broken;
  }
  must(after.live !== undefined, 'I1: there while somebody can be in');
  must(now.isFlat === isFlat, 'I5: through gateways if, and only if, a member wants it');
  const ports = after.live?.spec?.ports ?? [];
  if (stays.includes(first)) {
    must(
      same(ports.map(exactly), (observed.live?.spec?.ports ?? []).map(exactly)),
      'I3: ports stay with a first that stays',
    );
    must(ownerOf(after) === ownerOf(observed), 'I3: labels stay with a first that stays');
  } else {
    const its = (first.party.service?.spec?.ports ?? []).filter((port) => isFlat || isTcp(port));
    must(same(ports.map(exactly), its.map(exactly)), 'I3: ports are those of the first');
    must(ownerOf(after) === first.party.service?.metadata.labels?.owner, 'I3: labels are those of the first');
  }
  for (const each of asks) {
    const own = each.party.service?.spec?.ports ?? [];
    const fits = isFlat
      ? ports.every((port) => own.map(numberOf).includes(numberOf(port)))
      : ports.some((port) => own.map(exactly).includes(exactly(port)));
    const isIn = couldBeIn(each) && (each === first || fits);
    must(statuses.get(each.name)?.mirrored === isIn, `I8: ${each.name} reports ${isIn ? 'that' : 'why not'}`);
    must(
      now.members.includes(each.name) === (isIn && hasSlices(each, isFlat, observed)),
      `I4, I5: ${each.name} is ${isIn ? '' : 'not '}in`,
    );
    if (isIn && before?.isFlat === true && !isFlat)
      must(!hasUnknownEndpoints(each), `I5: the endpoints of ${each.name} are known before the annotations go`);
  }
  if (isFlat) {
    const remote = now.members.filter((name) => name !== HERE);
    must(same(remote, [...remote].sort()), 'I2: sorted by cluster name');
    return broken;
  }
  for (const each of [...stays, ...asks]) broken.push(...brokenSlices(each, observed, after));
  return broken;
}

/** Whether a cluster may have a member, or be about to join, that nobody knows of now. */
function mayStillJoin({ target, party }: Cluster, { local }: ObservedFederation): boolean {
  if (target === undefined) return local.knowledge === 'unknown' || (!local.isHeld && mayJoin(local.service));
  if (party.knowledge !== 'known') return target.mayHaveMember;
  const isUndecided =
    target.mode === 'remote-discovery'
      ? target.isDiscoverable === undefined
      : target.gateway !== undefined && hasTcp(party) && (!local.isHeld || isUnresolved(target));
  return isUndecided && target.isAdmitted && mayJoin(target.service);
}

/** Which shape there must be. */
function isFlatAfter(
  before: Shown | undefined,
  isHeld: boolean,
  stays: readonly Cluster[],
  selected: readonly Cluster[],
): boolean {
  // A shape that nobody can be in is no reason to be without members.
  const isUsable = stays.length > 0 || selected.some((each) => couldLead(each, before));
  const wants = selected.some(
    ({ target, party }) =>
      target?.mode === 'gateway' &&
      target.gateway !== undefined &&
      hasTcp(party) &&
      (!isUnresolved(target) || (before?.isFlat === false && isUsable)),
  );
  if (isHeld && (stays.length === 0 || before === undefined)) return !wants;
  return (before?.isFlat ?? true) || !isUsable;
}

/** What is wrong with the slices of one cluster, if it has any. */
function brokenSlices(
  { name, party, target }: Cluster,
  observed: ObservedFederation,
  after: Standing,
): readonly string[] {
  const of = (slices: readonly EndpointSlice[]) => slices.filter((slice) => clusterOf(slice) === name);
  const [before, now] = [of(observed.slices), of(after.slices)];
  if (party.knowledge === 'anothers' || (target === undefined && party.knowledge === 'unknown')) {
    return same(before, now) ? [] : [`I7: the slices of ${name} stay`];
  }
  const broken: string[] = [];
  const listed = now.flatMap(({ endpoints }) => endpoints ?? []);
  if (target === undefined) {
    const pods = listed.filter(({ targetRef }) => (targetRef as { kind?: string } | undefined)?.kind === 'Pod');
    if (pods.length !== listed.length) broken.push('I5: local endpoints name their pods');
    return broken;
  }
  if (now.length === 0) return broken;
  const were = before.flatMap(({ endpoints }) => endpoints ?? []);
  const ready = listed.some(({ conditions }) => conditions?.ready === true);
  const alive = target.gateway?.alive ?? were.every(({ conditions }) => conditions?.ready !== false);
  const hasPods = (party.knowledge === 'known' ? target.anyReady : undefined) ?? were.length > 0;
  const isResolved = (target.gateway?.addresses.length ?? 0) > 0;
  if (isResolved && ready !== (alive && hasPods))
    broken.push(
      `I5: ${name} is ${ready ? '' : 'not '}ready, its gateway is ${alive ? '' : 'not '}alive, its pods are ${hasPods ? '' : 'not '}there`,
    );
  if (!alive && target.gateway !== undefined && isResolved && ready) broken.push(`I5: ${name} is dead and ready`);
  for (const { metadata, ports } of now) {
    if (metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'] !== fqNameOf(target, observed))
      broken.push(`I5: ${name} has another name`);
    if (isResolved && metadata.annotations?.['mirror.linkerd.io/remote-gateway-identity'] !== target.gateway?.identity)
      broken.push(`I5: ${name} has another identity`);
    if (party.knowledge !== 'known') continue;
    const shared = (after.live?.spec?.ports ?? []).filter((port) =>
      (party.service?.spec?.ports ?? []).map(exactly).includes(exactly(port)),
    );
    if (
      isResolved &&
      !same(
        shared.map((port) => port.name ?? ''),
        (ports ?? []).map((port) => port.name),
      )
    )
      broken.push(`I5: ${name} has other ports than its own`);
  }
  return broken;
}

const ownerOf = ({ live }: Pick<Standing, 'live'>): string | undefined => live?.metadata.labels?.owner;

const fqNameOf = ({ link }: TargetParty, { name, namespace }: ObservedFederation): string =>
  `${name}.${namespace}.svc.${link.clusterDomain}`;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether a cluster's member can be reached through a gateway, or has been, or is in the cluster itself. */
const couldLead = ({ target, party }: Pick<Cluster, 'target' | 'party'>, before: Shown | undefined): boolean => {
  if (target === undefined) return hasTcp(party);
  const hasSlices = before?.isFlat === false && before.members.includes(target.link.cluster);
  return target.gateway !== undefined && (!isUnresolved(target) || hasSlices) && hasTcp(party);
};

const hasTcp = ({ service }: Cluster['party']): boolean => (service?.spec?.ports ?? []).some(isTcp);

/** Whether a cluster's gateway has a name that was not resolved yet. */
const isUnresolved = ({ gateway }: TargetParty): boolean => gateway?.addresses.length === 0;

/** Whether slices of a member, written now, would be empty for no reason. */
const hasUnknownEndpoints = ({ target, party }: Cluster): boolean =>
  target === undefined ? 'slices' in party && party.slices === undefined : target.anyReady === undefined;

/** The local member shows in gateway shape by its slices only. */
const hasSlices = ({ target }: Cluster, isFlat: boolean, { local, slices }: ObservedFederation): boolean =>
  isFlat ||
  target !== undefined ||
  (local.slices === undefined ? slices.some((each) => clusterOf(each) === HERE) : local.slices.length > 0);
