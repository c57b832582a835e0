/**
 * What federated Services must be when all is quiet: the rules I1 to I9 as test/operator/federation/statement.ts says
 * them, asked about each name over the last state of all clusters; and what the statement leaves open, that labels, ports
 * and addresses are exactly those of the member or the gateway that they are from.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ObservedFederation, TargetParty } from '../../operator/federation/observed.ts';
import type { EndpointSlice, Service } from '../../operator/kube/objects.ts';
import type { MirrorStatus } from '../../operator/mirror/status.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { brokenRules } from '../operator/federation/statement.ts';
import { LINKS_NAMESPACE } from '../support/builders.ts';
import type { Content } from './cluster.ts';
import { type LinkName, TARGET_OF } from './command.ts';
import { HERE, isDiscovered } from './federation-users.ts';
import {
  isFederated,
  isKeptByKubernetes,
  isMember,
  joinedBy,
  leadsThroughGateways,
  LOCAL_MEMBER,
  membersIn,
  OWNER_LABEL,
} from './members.ts';
import {
  copiedAnnotations,
  copiedLabels,
  FORBIDDEN,
  isTcp,
  type LinkState,
  portsOf,
  selects,
  slicesBehind,
  sorted,
  specOf,
} from './oracle.ts';
import { isLeftToKubernetes } from './strays.ts';

const REMOTE = 'multicluster.linkerd.io/remote-discovery';
const LOCAL = 'multicluster.linkerd.io/local-discovery';
const OPERATOR = 'linkspan.dev/operator';

/** Where it is, as far as it is not told. */
interface Place {
  readonly east: Content;
  /** A Link as it is now. */
  linkOf(name: LinkName): KubeObject | undefined;
  /** @default - nobody takes from what is ours what it is known by */
  readonly judge?: { isWritten(object: KubeObject): boolean };
}

/** The source cluster, as far as federated Services are concerned. */
interface Source {
  readonly services: readonly KubeObject[];
  readonly slices: readonly KubeObject[];
  readonly namespaces: ReadonlySet<string>;
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;

/**
 * Returns what is wrong with federated Services, and with what Links say of them.
 * @param links those that are served
 */
export function federationProblems(stage: Place, links: readonly LinkState[], source: Source): readonly string[] {
  const federated = [...source.services, ...source.slices].filter(isFederated);
  const locals = source.services.filter((service) => isMember(service) && !isFederated(service));
  const keys = new Set([
    ...federated.map(joinedBy),
    ...locals.map(keyOf),
    ...links.flatMap((link) => link.services.filter((service) => selectsMember(link, service)).map(keyOf)),
  ]);
  return [...keys].sort().flatMap((key) => problemsOf(key, stage, links, source));
}

const selectsMember = ({ spec }: LinkState, { metadata: { labels = {} } }: KubeObject): boolean =>
  selects(spec.federatedServiceSelector, labels);

function problemsOf(key: string, stage: Place, links: readonly LinkState[], source: Source): readonly string[] {
  const observed = observe(key, stage, links, source);
  const { namespace, name, live, slices, targets, local } = observed;
  const joining = targets.flatMap((target) => (target.service === undefined ? [] : [target]));
  const at = (problem: string): string => `${namespace}/${name}-federated: ${problem}`;
  const statuses = new Map(
    links.flatMap((link) => {
      const status = statusOf(stage, link.name as LinkName, key);
      return status === undefined ? [] : [[link.spec.targetClusterName, status] as const];
    }),
  );
  const problems = targets
    .filter(({ service, link: { cluster } }) => (service === undefined) !== (statuses.get(cluster) === undefined))
    .map(({ link: { cluster } }) => at(`${cluster} is ${statuses.has(cluster) ? '' : 'not '}reported (I8)`));

  const isThere = source.namespaces.has(namespace);
  const mayBe = !FORBIDDEN.includes(namespace) && `${name}-federated`.length <= 63;
  // No Service comes to be over somebody else's Endpoints (A6).
  const isTaken = live === undefined && stage.east.get('v1', 'Endpoints', namespace, `${name}-federated`) !== undefined;
  if (!isThere || !mayBe || isTaken) {
    const isFlat = joining.every(({ mode }) => mode === 'remote-discovery');
    const isWanted = joining.some(
      ({ link, service }) => link.createNamespaces && mayJoin(service) && (isFlat || crossesGateway(service)),
    );
    if (mayBe && !isThere && isWanted) problems.push(`Namespace ${namespace} is missing`);
    const left = [live, ...slices].filter((object) => object !== undefined && isFederated(object));
    problems.push(...left.map(() => at('should not be there')));
    for (const [cluster, { mirrored }] of statuses)
      if (mirrored) problems.push(at(`${cluster} is reported as a member`));
    return problems;
  }
  // What becomes of the local Service is an Event of it, and no status.
  const broken = brokenRules(observed, { live, slices }, statuses).filter(
    (each) => !each.startsWith(`I8: ${LOCAL_MEMBER}`),
  );
  problems.push(...broken.map(at));
  if (live === undefined || !isFederated(live)) {
    if (slices.length > 0) problems.push(at('has slices of ours, and is not ours (I8)'));
    return problems;
  }
  problems.push(...serviceProblems(live as KubeObject, local.service, observed, links).map(at));
  const isMarked = live.metadata.annotations?.[OPERATOR] !== undefined;
  const isEachServed = links.length === stage.east.list('multicluster.linkerd.io/v1alpha3', 'Link').length;
  if (isMarked && joining.length === 0 && isEachServed)
    problems.push(at('names its operator, though no target has such a Service (I9)'));
  for (const target of joining) problems.push(...gatewayProblems(target, slices).map(at));
  problems.push(...localProblems(observed).map(at));
  return problems;
}

/** What there is of one name in all clusters, of which everything is known. */
function observe(key: string, stage: Place, links: readonly LinkState[], source: Source): ObservedFederation {
  const [namespace = '', name = ''] = key.split('/');
  const named = (of: readonly KubeObject[], wanted: string): Service | undefined =>
    of.find(({ metadata }) => metadata.namespace === namespace && metadata.name === wanted) as Service | undefined;
  const here = named(source.services, name);
  const isLocal = here !== undefined && isMember(here);
  const { east, judge } = stage;
  // Also those that Kubernetes has made of Endpoints: a Service without selector may have Endpoints from when it had one.
  const behind = east.list('discovery.k8s.io/v1', 'EndpointSlice');
  const isLeft = (slice: KubeObject): boolean =>
    judge !== undefined && isLeftToKubernetes(east, slice, (object) => judge.isWritten(object));
  return {
    ...{ namespace, name, namespaceState: 'exists', operators: { own: LINKS_NAMESPACE, isGone: () => false } },
    local: {
      ...{ knowledge: 'known', isHeld: true, service: isLocal ? here : undefined },
      slices: isLocal ? (slicesBehind(behind, MEMBERS, here as KubeObject) as unknown as EndpointSlice[]) : undefined,
    },
    targets: links.map((link) => partyOf(link, named(link.services, name), stage)),
    live: named(source.services, `${name}-federated`),
    slices: source.slices.filter(
      (slice) => isFederated(slice) && joinedBy(slice) === key && !isLeft(slice) && !isUnseen(slice),
    ) as unknown as EndpointSlice[],
  };
}

/** Whether no watch shows a slice of ours (C3): somebody has marked it as one of Kubernetes', and taken the label of mirrors from it. */
const isUnseen = (slice: KubeObject): boolean =>
  isKeptByKubernetes(slice) && !('mirror.linkerd.io/mirrored-service' in (slice.metadata.labels ?? {}));

const MEMBERS = { matchLabels: { 'mirror.linkerd.io/federated': 'member' } };

function partyOf(link: LinkState, service: Service | undefined, stage: Place): TargetParty {
  const { spec, createdAt, name, gatewayAlive } = link;
  const { targetClusterName: cluster, targetClusterDomain: clusterDomain, federatedServiceSelector } = spec;
  const joins = service !== undefined && selectsMember(link, service as KubeObject) ? service : undefined;
  const identity = spec.gatewayIdentity === '' ? undefined : spec.gatewayIdentity;
  return {
    ...{ knowledge: 'known', service: joins, isAdmitted: true, seniority: { createdAt, name } },
    link: {
      ...{ cluster, clusterDomain, excludedLabels: [], excludedAnnotations: spec.excludedAnnotations ?? [] },
      createNamespaces: spec.enableNamespaceCreation === true,
    },
    mayHaveMember: Object.keys(federatedServiceSelector ?? {}).length > 0,
    mode: spec.federation === 'gateway' ? 'gateway' : 'remote-discovery',
    isDiscoverable: isDiscovered(stage.east, cluster),
    gateway: {
      ...{ port: Number(spec.gatewayPort), identity, addresses: [...spec.gatewayAddress.split(',')].sort() },
      alive: gatewayAlive || spec.probeSpec === undefined,
    },
    anyReady: joins && anyReady(link, joins as KubeObject),
  };
}

function anyReady({ slices, spec }: LinkState, service: KubeObject): boolean {
  const { publishNotReadyAddresses = false } = specOf(service);
  return slicesBehind(slices, spec.federatedServiceSelector, service)
    .flatMap((slice) => (slice['endpoints'] ?? []) as readonly { readonly conditions?: { readonly ready?: boolean } }[])
    .some(({ conditions }) => publishNotReadyAddresses || conditions?.ready !== false);
}

/** Whether a Service can be a member by itself. */
const mayJoin = (service: Service | undefined): boolean => {
  const { type, clusterIP, ports = [] } = specOf(service as KubeObject);
  return type !== 'ExternalName' && clusterIP !== 'None' && ports.length > 0;
};

/** Whether a Service has a port that can be reached through a gateway. */
const crossesGateway = (service: Service | undefined): boolean =>
  (specOf(service as KubeObject).ports ?? []).some(({ protocol = 'TCP' }) => protocol === 'TCP');

/** What the status of a Link says of a Service. */
function statusOf(stage: Place, name: LinkName, key: string): MirrorStatus | undefined {
  const { federatedServices = [] } = (stage.linkOf(name)?.status ?? {}) as {
    readonly federatedServices?: readonly {
      readonly remoteRef: { readonly namespace: string; readonly name: string };
      readonly conditions: readonly { readonly status: string; readonly reason: string; readonly message: string }[];
    }[];
  };
  const entry = federatedServices.find(({ remoteRef }) => `${remoteRef.namespace}/${remoteRef.name}` === key);
  const [condition] = entry?.conditions ?? [];
  if (entry === undefined || condition === undefined) return undefined;
  const { status, reason, message } = condition;
  return {
    remote: entry.remoteRef,
    local: `${entry.remoteRef.name}-federated`,
    mirrored: status === 'True',
    reason,
    message,
  };
}

/** Labels, annotations and ports are all those of the Service that they are from, and no others (I3, B1 to B3). */
function serviceProblems(
  live: KubeObject,
  here: Service | undefined,
  { targets }: ObservedFederation,
  links: readonly LinkState[],
): readonly string[] {
  const { labels = {}, annotations = {} } = live.metadata;
  const owner = labels[OWNER_LABEL];
  const link = links.find(({ name }) => TARGET_OF[name as LinkName] === owner);
  const of = targets.find((target) => target.link.cluster === link?.spec.targetClusterName)?.service;
  const source = (owner === HERE ? here : of) as KubeObject | undefined;
  if (source === undefined) return [`its labels are those of ${owner}, which has no member (I3)`];
  const isGateways = leadsThroughGateways(live);
  const { [REMOTE]: _, [LOCAL]: __, [OPERATOR]: operator = LINKS_NAMESPACE, ...others } = annotations;
  if (operator !== LINKS_NAMESPACE) return [`it is served by the operator in ${operator} (I9)`];
  const excluded = owner === HERE ? [] : (link?.spec.excludedAnnotations ?? []);
  const ports = (specOf(source).ports ?? []).filter((port) => !isGateways || isTcp(port));
  const wanted = {
    labels: sorted({
      ...copiedLabels(source),
      ...{ 'mirror.linkerd.io/mirrored-service': 'true', ...(isGateways && { 'linkspan.dev/federation': 'gateway' }) },
    }),
    annotations: sorted(copiedAnnotations(source, excluded)),
    ports: portsOf(ports),
  };
  const found = { labels: sorted(labels), annotations: sorted(others), ports: portsOf(specOf(live).ports ?? []) };
  return isDeepStrictEqual(found, wanted)
    ? []
    : [`is\n    ${JSON.stringify(found)}\n  and should be\n    ${JSON.stringify(wanted)}`];
}

/** The slices of a target lead to its gateway, wherever it is now (C2, C4). */
function gatewayProblems({ link, gateway }: TargetParty, all: readonly EndpointSlice[]): readonly string[] {
  const slices = all.filter((slice) => membersIn(slice).includes(link.cluster));
  return slices.flatMap(({ endpoints = [], ports = [] }) => {
    const found = (endpoints ?? []).flatMap(({ addresses }) => addresses).sort();
    const isEmpty = found.length === 0;
    if (!isEmpty && !isDeepStrictEqual(found, gateway?.addresses))
      return [`the slices of ${link.cluster} lead to ${found.join()}, not ${gateway?.addresses.join()}`];
    const others = (ports ?? []).filter(({ port }) => port !== gateway?.port);
    return others.map(({ port }) => `the slices of ${link.cluster} lead to port ${port}, not ${gateway?.port}`);
  });
}

/** The slices of the local Service are copied, without the hostnames of pods (I5). */
function localProblems({ name, live, local, slices }: ObservedFederation): readonly string[] {
  const own = slices.filter((slice) => membersIn(slice).includes(LOCAL_MEMBER));
  const joins = leadsThroughGateways(live) && mayJoin(local.service ?? { metadata: { name } });
  const found = own.map((slice) => [slice.metadata.name.replace(`${name}-federated.local.`, ''), ...inShort(slice)]);
  const wanted = joins ? (local.slices ?? []).map((slice) => [slice.metadata.name, ...inShort(slice)]) : [];
  const [is, should] = [found, wanted].map((all) => JSON.stringify(all.map((each) => JSON.stringify(each)).sort()));
  return own.length === 0 || is === should ? [] : [`the local slices are ${is}, and should be ${should}`];
}

const inShort = ({ endpoints, ports }: EndpointSlice): readonly unknown[] => [
  (endpoints ?? []).map(({ addresses, conditions }) => [addresses, conditions?.ready !== false]),
  (ports ?? []).map(({ name = '', port, protocol = 'TCP' }) => [name, port, protocol]),
];
