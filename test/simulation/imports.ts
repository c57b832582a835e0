/**
 * What must be there of ServiceImports when all is quiet (rules K1 to K6): what there is, and what all clusters export, is
 * held against the rules as test/operator/mcs/statement.ts says them, and against the gateways as they are now.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ServiceImport } from '../../operator/mcs/objects.ts';
import type { LocalExporter, ObservedImport, TargetExporter } from '../../operator/mcs/observed.ts';
import type { EndpointSlice, Service } from '../../operator/kube/objects.ts';
import type { ServiceExport } from '../../operator/target/read/mcs-objects.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { brokenRules, byAge, conflictsOf, type Seniority } from '../operator/mcs/statement.ts';
import type { Content } from './cluster.ts';
import { CLUSTER_OF, type LinkName, TARGET_OF, type TargetName } from './command.ts';
import type { History } from './history.ts';
import {
  all,
  CLUSTER_PROPERTY,
  clustersIn,
  derivedName,
  FROM,
  gatewayOf,
  ID,
  importOf,
  keyOf,
  one,
  OF_IMPORT,
  operatorOf,
  POD,
  SERVICE_EXPORT,
  SERVICE_IMPORT,
  SERVICE_NAME,
} from './import-objects.ts';
import { verdictOn } from './import-policy.ts';
import { ours } from './import-users.ts';
import { LINK_API } from './link-users.ts';
import type { LinkState, SourceState } from './oracle.ts';
import { SECOND_NAMESPACE } from './operators.ts';

/** Where it is. */
interface Place {
  readonly east: Content;
  readonly targets: Readonly<Record<TargetName, Content>>;
  readonly history: Pick<History, 'commands' | 'maxEndpointMirrors' | 'failover'>;
}

/** Most pods of one target in a ServiceImport. */
const MAX_PODS = 500;
/** What the names of the Services of pods start with. */
const POD_SERVICE = 'clusterset-';
/** What a cluster is called that claims nothing. */
const LOCAL = 'local';
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

type Condition = { readonly type: string; readonly status: string; readonly reason: string };

/**
 * Returns what is wrong with ServiceImports.
 * @param links those that are served
 * @param strictIn the namespace in which all exports were known before anything was imported, so that the oldest decides for
 *   certain; undefined: none
 */
export function importProblems(
  stage: Place,
  links: readonly LinkState[],
  source: SourceState,
  strictIn: string | undefined,
): readonly string[] {
  const { east, targets } = stage;
  const keys = new Set(
    [
      ...[east, ...links.map(({ name }) => targets[TARGET_OF[name as LinkName]])].flatMap((each) =>
        all(each, SERVICE_EXPORT).map(keyOf),
      ),
      ...(['ServiceImport', 'Service', 'EndpointSlice'] as const).flatMap((kind) => ours(east, kind)).map(importOf),
    ].filter((key) => key !== undefined),
  );
  return [...keys]
    .sort()
    .flatMap((key) => problemsOf(key, stage, links, source, strictIn).map((each) => `${key}: ${each}`));
}

function problemsOf(
  key: string,
  stage: Place,
  links: readonly LinkState[],
  source: SourceState,
  strictIn: string | undefined,
): readonly string[] {
  const observed = observe(key, stage, links, source);
  const { namespace, name, live, derived, podServices, imported } = observed;
  const left = [live, derived, ...podServices, ...imported].filter(
    (each) => each !== undefined && each.metadata.labels?.[OF_IMPORT] === name,
  );
  if (!source.namespaces.has(namespace))
    return left.map(() => 'something is left in a namespace that is not there (K2)');
  if (mayBeUnrecorded(observed, stage)) return [];
  const isForeign = live !== undefined && importOf({ ...SERVICE_IMPORT, ...live } as KubeObject) === undefined;
  const exported = exportProblems(observed, stage);
  // What there is beside somebody's own stays as it is.
  if (isForeign) return exported;
  const isTaken = derived !== undefined && derived.metadata.labels?.[OF_IMPORT] !== name;
  if (isTaken && live !== undefined && live.spec?.type !== 'Headless') {
    const ready = conditionOf(live, 'Ready');
    const isSaid = ready?.status === 'False' && ready.reason === 'Pending';
    return [
      ...exported,
      ...(isSaid ? [] : [`Ready is ${ready?.status} (${ready?.reason}), though the name of its Service is taken (K3)`]),
      ...imported.map(
        ({ metadata }) => `slice ${metadata.name} is there, though the name of its Service is taken (K3)`,
      ),
    ];
  }
  const isStrict = namespace === strictIn;
  const given = {
    ...{ ...observed, isSettled: !isStrict, ...(isTaken && { derived: undefined }) },
    imported: imported.filter((each) => !isNobodys(each, observed, stage)),
  };
  const orders = isStrict ? [byAge] : anyOrder(given);
  const found = orders.map((seniority) => brokenRules(given, given, seniority));
  const broken = found.some((each) => each.length === 0) ? [] : found[0]!;
  return [...broken, ...exported, ...(live === undefined ? [] : importedProblems(given, live))];
}

/**
 * Whether all that is there may be of clusters of which nothing tells whether they have a Link: there is no Link at all, and the
 * Leases of theirs were those of Linkerd's controllers, so that no record of ours is left. It stays (K5).
 */
function mayBeUnrecorded({ live, derived, podServices, imported, local }: ObservedImport, { east, history }: Place) {
  if (east.list(LINK_API, 'Link').length > 0 || local.serviceExport !== undefined) return false;
  const linkerds = history.commands.flatMap((command) =>
    command.do === 'linkerd' && command.act === 'start' ? [CLUSTER_OF[command.link]] : [],
  );
  const clusters = [live, derived, ...podServices, ...imported].flatMap((each) =>
    each === undefined ? [] : clustersIn(each as unknown as KubeObject),
  );
  return clusters.length > 0 && clusters.every((cluster) => linkerds.includes(cluster));
}

/**
 * Whether a slice is all there is under a name that somebody has given it by a label, and is of a cluster that no Link has: nothing
 * tells who has made it, and it is left alone (K7).
 */
function isNobodys(slice: EndpointSlice, { live, derived, targets }: ObservedImport, { history }: Place): boolean {
  const isLabelled = history.commands.some(
    (command) => command.do === 'edit import' && command.kind === 'EndpointSlice' && command.how === 'label',
  );
  const from = slice.metadata.labels?.[FROM];
  const isLinked = from === undefined || targets.some(({ link }) => link.cluster === from);
  return isLabelled && live === undefined && derived === undefined && !isLinked;
}

/** Whose export decides may depend on which was seen first. */
function anyOrder(given: ObservedImport): readonly Seniority[] {
  const parties = [given.local, ...given.targets].filter(({ serviceExport }) => serviceExport !== undefined);
  const orders = permutations(parties).map(
    (order): Seniority =>
      (a, b) =>
        order.indexOf(a.party) - order.indexOf(b.party),
  );
  return [byAge, ...orders];
}

const permutations = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((others) => [item, ...others]));

/** What there is of one name in all clusters, of which everything is known. */
function observe(key: string, stage: Place, links: readonly LinkState[], source: SourceState): ObservedImport {
  const { east, history } = stage;
  const [namespace = '', name = ''] = key.split('/');
  const ids = idsOf(stage, links);
  const mine = (object: KubeObject): boolean =>
    object.metadata.namespace === namespace && object.metadata.labels?.[OF_IMPORT] === name;
  const in_ = (of: readonly KubeObject[], wanted: string): KubeObject | undefined =>
    of.find(({ metadata }) => metadata.namespace === namespace && metadata.name === wanted);
  const local: LocalExporter = {
    ...{ id: ids.local, isKnown: true },
    serviceExport: one(east, SERVICE_EXPORT, namespace, name) as ServiceExport | undefined,
    service: in_(source.services, name) as Service | undefined,
    // Also those that Kubernetes has made of Endpoints: a Service without selector may have Endpoints from when it had one.
    slices: behind(east.list('discovery.k8s.io/v1', 'EndpointSlice'), namespace, name),
  };
  return {
    ...{ namespace, name, namespaceState: 'exists', families: ['IPv4'], isReadable: true, isAddressTaken: false },
    isSettled: true,
    operators: { own: '', isGone: () => false },
    local,
    targets: links.map((link) => targetOf(link, stage, { namespace, name, id: ids.targets.get(link.name) })),
    live: one(east, SERVICE_IMPORT, namespace, name) as ServiceImport | undefined,
    derived: in_(source.services, derivedName(name)) as Service | undefined,
    podServices: source.services.filter(
      (each) => mine(each) && each.metadata.labels?.[POD] !== undefined,
    ) as unknown as Service[],
    isForeign: (service) =>
      service.startsWith(POD_SERVICE) &&
      source.services.some((each) => each.metadata.name.startsWith(POD_SERVICE) && importOf(each) === undefined),
    maxPods: Math.min(history.maxEndpointMirrors ?? Infinity, MAX_PODS),
    imported: source.slices.filter(mine) as unknown as EndpointSlice[],
  };
}

const behind = (slices: readonly KubeObject[], namespace: string, name: string): readonly EndpointSlice[] =>
  slices.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[SERVICE_NAME] === name,
  ) as unknown as EndpointSlice[];

/** What cannot be a hostname is none (E1). */
const withSoundHostnames = (slice: EndpointSlice): EndpointSlice => ({
  ...slice,
  endpoints: (slice.endpoints ?? []).map(({ hostname, ...endpoint }) => ({
    ...endpoint,
    ...(hostname !== undefined && DNS_LABEL.test(hostname) && { hostname }),
  })),
});

function targetOf(
  link: LinkState,
  { targets }: Place,
  { namespace, name, id }: { readonly namespace: string; readonly name: string; readonly id: string | undefined },
): TargetExporter {
  const { spec, gatewayAlive } = link;
  const { targetClusterName: cluster, targetClusterDomain: clusterDomain, gatewayIdentity, gatewayPort } = spec;
  const target = targets[TARGET_OF[link.name as LinkName]];
  const isTaken = takesExports(link);
  const service = link.services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  // What its policy does not admit is not exported to it (N1).
  const there = target.get('v1', 'Service', namespace, name);
  const isAdmitted = there === undefined || verdictOn(spec, there).isAdmitted;
  const serviceExport = isTaken && isAdmitted ? one(target, SERVICE_EXPORT, namespace, name) : undefined;
  const slices = behind(link.slices, namespace, name).map(withSoundHostnames);
  const isPublished = (service?.spec as { readonly publishNotReadyAddresses?: boolean } | undefined)
    ?.publishNotReadyAddresses;
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  return {
    ...{ id, isKnown: id !== undefined, linkedAt: link.createdAt, isAdmitted: true, departed: new Map() },
    link: { cluster, clusterDomain },
    mode: spec.federation === 'flat' ? 'remote-discovery' : 'gateway',
    gateway: {
      port: Number(gatewayPort),
      identity: gatewayIdentity === '' ? undefined : gatewayIdentity,
      addresses: spec.gatewayAddress.split(',').sort(),
      alive: gatewayAlive || spec.probeSpec === undefined,
    },
    serviceExport: serviceExport as ServiceExport | undefined,
    service: serviceExport === undefined ? undefined : (service as Service | undefined),
    slices: serviceExport === undefined ? [] : slices,
    anyReady: endpoints.some(({ conditions }) => isPublished === true || conditions?.ready !== false),
  };
}

export const takesExports = ({ spec }: LinkState): boolean =>
  (spec as { readonly serviceExports?: boolean }).serviceExports !== false;

/** K2: what clusters are called, by the names of their Links; the cluster itself has its id before all others. */
function idsOf(stage: Place, links: readonly LinkState[]) {
  const claimed = (cluster: Content): string | undefined => {
    const { value } = (one(cluster, CLUSTER_PROPERTY, undefined, ID)?.spec ?? {}) as { readonly value?: string };
    return value !== undefined && DNS_LABEL.test(value) ? value : undefined;
  };
  const local = claimed(stage.east) ?? LOCAL;
  const clusters = links.map(({ spec }) => spec.targetClusterName);
  const taken = new Set([local]);
  const targets = new Map<string, string>();
  for (const link of links.toSorted((a, b) => (`${a.createdAt} ${a.name}` < `${b.createdAt} ${b.name}` ? -1 : 1))) {
    const cluster = link.spec.targetClusterName;
    if (cluster === local) continue;
    const wanted = takesExports(link) ? claimed(stage.targets[TARGET_OF[link.name as LinkName]]) : undefined;
    const mayHave = wanted !== undefined && !taken.has(wanted) && (wanted === cluster || !clusters.includes(wanted));
    const id = mayHave ? wanted : cluster;
    taken.add(id);
    targets.set(link.name, id);
  }
  return { local, targets };
}

/** K1. */
function exportProblems(observed: ObservedImport, { east, history }: Place): readonly string[] {
  const { serviceExport } = observed.local;
  if (serviceExport === undefined || !east.has(SERVICE_IMPORT)) return [];
  const alone = conflictsOf({ ...observed, targets: [] });
  const wanted = servedWithoutLinks(observed) ? alone : conflictsOf(observed);
  const status = (type: string): string | undefined => conditionOf(serviceExport, type)?.status;
  if (wanted === undefined) return status('Valid') === 'False' ? [] : [`the export is Valid=${status('Valid')} (K1)`];
  const reasons = conditionOf(serviceExport, 'Conflict')?.reason.split(',') ?? [];
  const had = status('Conflict') === 'True' ? reasons.filter((each) => STATED.has(each)) : [];
  // Beside somebody's own ServiceImport nobody serves it: each operator says what it knows, the one without Links too.
  const isFree = observed.live !== undefined && operatorOf(observed.live) === undefined;
  const isStated =
    isDeepStrictEqual(had, wanted) || (isFree && history.failover?.second === true && isDeepStrictEqual(had, alone));
  const isRight = status('Valid') === 'True' && status('Ready') === 'True' && isStated;
  const isSaid = status('Conflict') !== undefined;
  return isRight && isSaid
    ? []
    : [`the export is Valid=${status('Valid')}, with ${had.join()}, not ${wanted.join()} (K1)`];
}

/** Whether the operator serves it that has no Link, and compares no targets: those have nothing that is imported (K7). */
const servedWithoutLinks = ({ live }: ObservedImport): boolean =>
  live !== undefined && operatorOf(live) === SECOND_NAMESPACE;

/** What the statement says of conflicts. */
const STATED: ReadonlySet<string> = new Set([
  ...['PortConflict', 'TypeConflict', 'SessionAffinityConflict', 'LabelsConflict', 'InternalTrafficPolicyConflict'],
]);

const conditionOf = (object: { readonly status?: unknown }, type: string): Condition | undefined => {
  const { conditions = [] } = (object.status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions.find((each) => each.type === type);
};

/** K3 and K6, of an import that can be used. */
function importedProblems(observed: ObservedImport, live: ServiceImport): readonly string[] {
  const { name, imported, derived, podServices, targets, local } = observed;
  const problems: string[] = [];
  const ready = conditionOf(live, 'Ready');
  if (ready?.status !== 'True') problems.push(`Ready is ${ready?.status} (${ready?.reason})`);
  const told = live.metadata.annotations?.['multicluster.kubernetes.io/derived-service'];
  const wanted = live.spec?.type === 'Headless' ? undefined : derivedName(name);
  if (told !== wanted) problems.push(`the annotation names ${told}, not ${wanted} (K6)`);
  const isListed = imported.some(
    ({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/service-name'] === name,
  );
  if (live.status?.endpointSliceObjects !== (isListed ? 'Present' : 'Absent'))
    problems.push(`the slices are ${live.status?.endpointSliceObjects} (K2)`);
  const objects = [derived, ...podServices, ...imported].filter((each) => each !== undefined);
  const clusters = new Set(targets.map(({ link }) => link.cluster));
  for (const cluster of new Set(objects.flatMap((each) => clustersIn(each as unknown as KubeObject))))
    if (!clusters.has(cluster)) problems.push(`something is of ${cluster}, which has no Link (K2)`);
  for (const target of targets.filter(({ id }) => id !== undefined)) {
    const slices = imported.filter((each) => each.metadata.labels?.[FROM] === target.link.cluster);
    problems.push(...gatewayProblems(slices, target));
    if (target.mode === 'remote-discovery' && !slices.some(isOfGateway))
      problems.push(...copyProblems(slices, target.slices ?? [], live));
  }
  const own = imported.filter((each) => each.metadata.labels?.[FROM] === undefined);
  problems.push(...copyProblems(own, local.slices ?? [], live));
  return problems;
}

const isOfGateway = (slice: EndpointSlice): boolean =>
  gatewayOf({ ...slice, kind: 'EndpointSlice' } as unknown as KubeObject) !== undefined;

/** C1, C2, C4: slices lead to the gateway, wherever it is now, or nowhere if no pod is ready. */
function gatewayProblems(
  all: readonly EndpointSlice[],
  { link, gateway, anyReady }: TargetExporter,
): readonly string[] {
  const byService = Map.groupBy(all.filter(isOfGateway), ({ metadata }) => metadata.labels?.[SERVICE_NAME]);
  return [...byService].flatMap(([service, slices]) => {
    const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
    const found = endpoints.map(({ addresses, conditions }) => `${addresses.join()} ${conditions?.ready !== false}`);
    const wanted = anyReady === true ? gateway!.addresses.map((each) => `${each} ${gateway!.alive}`) : [];
    const ports = endpoints.length === 0 ? [] : slices.flatMap((slice) => (slice.ports ?? []).map(({ port }) => port));
    const identities = slices.map(
      ({ metadata }) => metadata.annotations?.['mirror.linkerd.io/remote-gateway-identity'],
    );
    const isRight =
      isDeepStrictEqual(found.sort(), wanted.sort()) &&
      ports.every((port) => port === gateway!.port) &&
      identities.every((each) => each === gateway!.identity);
    return isRight
      ? []
      : [
          `${service} leads to ${found.join('; ')} at ${ports.join()} in ${link.cluster}, not to ${wanted.join('; ')} (C2)`,
        ];
  });
}

/** The slices of a Service whose pods can be reached are copied, with hostnames only for DNS of a headless one (K4). */
function copyProblems(
  copies: readonly EndpointSlice[],
  origins: readonly EndpointSlice[],
  { spec }: ServiceImport,
): readonly string[] {
  const isHeadless = spec?.type === 'Headless';
  const listed = (slices: readonly EndpointSlice[]): readonly string[] =>
    slices
      .filter(({ addressType }) => addressType === 'IPv4')
      .flatMap(({ endpoints }) => endpoints ?? [])
      .map(({ addresses, hostname, conditions }) =>
        [addresses.join(), isHeadless ? (hostname ?? '') : '', conditions?.ready !== false].join(' '),
      )
      .sort();
  const [is, should] = [listed(copies), listed(origins)];
  return copies.length === 0 || isDeepStrictEqual(is, should)
    ? []
    : [`the copied slices are ${is.join('; ')}, and should be ${should.join('; ')} (K3)`];
}
