/**
 * The rules K1 to K5 and those of KEP-1645, said a second time, of what there is before and after: nothing here is taken
 * from the operator's own code. Each broken rule is a sentence.
 */
import { createHash } from 'node:crypto';
import type { EndpointSlice, Service, ServicePort } from '../../../operator/kube/objects.ts';
import type { LocalExporter, ObservedImport, TargetExporter } from '../../../operator/mcs/observed.ts';
import type { Standing } from './observed.ts';
import { brokenPods, isOfPod } from './statement-pods.ts';

/** A cluster, the one of the ServiceImport like the others. */
export interface Cluster {
  readonly id: string;
  readonly party: LocalExporter | TargetExporter;
  readonly target: TargetExporter | undefined;
}

const clustersOf = ({ local, targets, imported }: ObservedImport): readonly Cluster[] => [
  { id: local.id ?? '', party: local, target: undefined },
  ...targets.map((target) => ({ id: target.id ?? formerId(target, imported), party: target, target })),
];

/** What a cluster is called whose id is not known: as its slices say, or else as its Link does. */
function formerId({ link }: TargetExporter, imported: readonly EndpointSlice[]): string {
  const of = imported.filter(({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'] === link.cluster);
  return of.map(sourceOf).find((id) => id !== '') ?? link.cluster;
}

const numberOf = ({ port, protocol = 'TCP' }: ServicePort): string => `${port}/${protocol}`;
const nameOf = ({ name = '' }: ServicePort): string => name;
const exactly = (port: ServicePort): string => `${nameOf(port)} ${numberOf(port)} ${port.appProtocol ?? ''}`;
const isHeadless = (service: Service | undefined): boolean => service?.spec?.clusterIP === 'None';

/** An export that counts: known, admitted, and of a Service that can be exported. */
const counts = ({ party, target }: Cluster): boolean => {
  if (!party.isKnown || party.serviceExport === undefined || target?.isAdmitted === false) return false;
  const { service } = party;
  if (service === undefined || service.spec?.type === 'ExternalName') return false;
  const marks = Object.keys(service.metadata.labels ?? {});
  if (marks.includes('mirror.linkerd.io/mirrored-service') || marks.includes('linkspan.dev/service-import'))
    return false;
  return isHeadless(service) || (service.spec?.ports ?? []).length > 0;
};

/** A target can report any age, so it counts at most back to its Link; of two of one age, the uid counts (K2). */
const ageOf = ({ party, id, target }: Cluster): string => {
  const { creationTimestamp = '', uid = '' } = party.serviceExport?.metadata ?? {};
  const { linkedAt = '' } = target ?? {};
  return `${creationTimestamp > linkedAt ? creationTimestamp : linkedAt} ${uid} ${id}`;
};

/** Which of two exports counts as the older. */
export type Seniority = (a: Cluster, b: Cluster) => number;

export const byAge: Seniority = (a, b) => (ageOf(a) < ageOf(b) ? -1 : 1);

/** The exports that the ServiceImport was made of, in their order, go before the others (K2). */
const standingOf = ({ live, isSettled }: ObservedImport, { party, target }: Cluster): number => {
  const hash = createHash('sha256').update(party.serviceExport?.metadata.uid ?? '');
  const entry = `${target?.link.cluster ?? ''}/${hash.digest('hex').slice(0, 12)}`;
  const entries = live?.metadata.annotations?.['linkspan.dev/exports']?.split(',') ?? [];
  return isSettled && entries.includes(entry) ? entries.indexOf(entry) : entries.length;
};

/** What the exports come to, by KEP-1645. */
interface Kep {
  readonly oldest: Cluster;
  readonly isHeadless: boolean;
  readonly backing: readonly Cluster[];
  readonly ports: readonly ServicePort[];
  readonly reasons: readonly string[];
}

const kepOf = (given: ObservedImport, all: readonly Cluster[], seniority: Seniority = byAge): Kep | undefined => {
  const senior = all.filter(counts).sort(seniority);
  const exports = senior.toSorted((a, b) => standingOf(given, a) - standingOf(given, b));
  const [oldest] = exports;
  if (oldest === undefined) return undefined;
  const backing = exports.filter(({ party }) => isHeadless(party.service) === isHeadless(oldest.party.service));
  const ports: ServicePort[] = [];
  for (const { party } of backing) {
    for (const port of party.service?.spec?.ports ?? []) {
      const isTaken = ports.some((each) => nameOf(each) === nameOf(port) || numberOf(each) === numberOf(port));
      if (!isTaken) ports.push(port);
    }
  }
  const differs = (of: (cluster: Cluster) => unknown): boolean =>
    exports.some((each) => JSON.stringify(of(each)) !== JSON.stringify(of(oldest)));
  const spec = (each: Cluster): Record<string, unknown> => each.party.service?.spec ?? {};
  const labels = (each: Cluster) => sorted(each.party.serviceExport?.spec?.exportedLabels);
  const aspects: readonly (readonly [string, boolean])[] = [
    ['PortConflict', differs(({ party }) => (party.service?.spec?.ports ?? []).map(exactly).sort())],
    ['TypeConflict', differs(({ party }) => isHeadless(party.service))],
    ['SessionAffinityConflict', differs((each) => spec(each).sessionAffinity ?? 'None')],
    ['LabelsConflict', differs(labels)],
    ['InternalTrafficPolicyConflict', differs((each) => spec(each).internalTrafficPolicy ?? 'Cluster')],
  ];
  const reasons = aspects.filter(([, isThere]) => isThere).map(([reason]) => reason);
  return { oldest, isHeadless: isHeadless(oldest.party.service), backing, ports, reasons };
};

const SOURCE = 'multicluster.kubernetes.io/source-cluster';
const sourceOf = ({ metadata }: EndpointSlice): string => metadata.labels?.[SOURCE] ?? '';
const idsIn = ({ live }: Pick<Standing, 'live'>): readonly string[] =>
  (live?.status?.clusters ?? []).map(({ cluster }) => cluster);
/** Reports whether a ServiceImport is made of a cluster, by what there is of it. */
const isPartOf = (given: ObservedImport, { id, target }: Cluster): boolean => {
  const { name, derived, podServices, imported } = given;
  const order = given.live?.metadata.annotations?.['linkspan.dev/exports'] ?? '';
  if (order.split(',').some((entry) => entry.startsWith(`${target?.link.cluster ?? ''}/`))) return true;
  if (idsIn(given).includes(id) || imported.some((each) => sourceOf(each) === id)) return true;
  const { annotations = {} } = derived?.metadata ?? {};
  if (target === undefined) return annotations['multicluster.linkerd.io/local-discovery'] === name;
  const { cluster } = target.link;
  const told = annotations['multicluster.linkerd.io/remote-discovery'] ?? '';
  const pods = podServices.some(({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'] === cluster);
  return pods || told.split(',').includes(`${name}@${cluster}`);
};

/** Reports whether what is left of a ServiceImport that was deleted is that of one of the type that there must be. */
const fits = ({ name, derived, podServices, imported }: ObservedImport, { isHeadless }: Kep): boolean => {
  const of = imported.map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name']);
  if (isHeadless) return derived === undefined && !of.includes(`${name}-clusterset`);
  const hostnames = imported.flatMap(({ endpoints }) => (endpoints ?? []).map(({ hostname }) => hostname));
  return podServices.length === 0 && hostnames.every((each) => each === undefined);
};

/** What is left of a ServiceImport that was deleted, but for what clusters have that are known to export nothing. */
function leftOf(given: ObservedImport, all: readonly Cluster[]): Standing {
  const gone = all.filter((each) => each.party.isKnown && !counts(each)).map(({ target }) => target?.link.cluster);
  const stays = ({ metadata }: { readonly metadata: Service['metadata'] }): boolean =>
    !gone.includes(metadata.labels?.['linkspan.dev/imported-from']);
  const { live, derived, podServices, imported, name } = given;
  const {
    'multicluster.linkerd.io/remote-discovery': remote,
    'multicluster.linkerd.io/local-discovery': local,
    ...others
  } = derived?.metadata.annotations ?? {};
  const annotations = {
    ...others,
    ...(remote !== undefined && {
      'multicluster.linkerd.io/remote-discovery': remote
        .split(',')
        .filter((entry) => !gone.includes(entry.slice(`${name}@`.length)))
        .join(','),
    }),
    ...(local !== undefined && !gone.includes(undefined) && { 'multicluster.linkerd.io/local-discovery': local }),
  };
  return {
    live,
    derived: derived && { ...derived, metadata: { ...derived.metadata, annotations } },
    podServices: podServices.filter(stays),
    imported: imported.filter(stays),
  };
}

/** What tells two of them apart. */
const standing = ({ live, derived, podServices, imported }: Standing) => ({
  live,
  derived: derived && [derived.spec, sorted(derived.metadata.labels), sorted(derived.metadata.annotations)],
  rest: [podServices, imported.map(({ metadata }) => metadata.name).sort()],
});

/** Whether a slice says that a gateway that is dead is ready. */
const leadsToDead = ({ targets }: ObservedImport, { metadata, endpoints }: EndpointSlice): boolean =>
  targets.some(
    ({ link, gateway }) =>
      gateway?.alive === false &&
      metadata.labels?.['linkspan.dev/imported-from'] === link.cluster &&
      endpoints?.some(
        ({ addresses, conditions }) =>
          conditions?.ready !== false && addresses.some((each) => gateway.addresses.includes(each)),
      ),
  );

const sorted = (labels: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort();

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The reasons of the condition `Conflict` of the local export; undefined if it is not valid, or not there. */
export const conflictsOf = (given: ObservedImport, seniority = byAge): readonly string[] | undefined => {
  const all = clustersOf(given);
  const [own] = all;
  return own !== undefined && counts(own) ? kepOf(given, all, seniority)?.reasons : undefined;
};

/**
 * Returns what is wrong with what there is afterwards.
 * @param seniority which of two exports counts as the older
 */
export function brokenRules(given: ObservedImport, after: Standing, seniority = byAge): readonly string[] {
  const broken: string[] = [];
  const must = (holds: boolean, rule: string): void => {
    if (!holds) broken.push(rule);
  };
  const { live, derived, podServices, imported } = after;
  const all = clustersOf(given);
  if (!given.isReadable || given.namespaceState === 'unreadable') {
    const { live, derived, podServices, imported } = given;
    must(same(after, { live, derived, podServices, imported }), 'K5: all stays');
    return broken;
  }
  const kep = kepOf(given, all, seniority);
  const stays = all.filter((each) => !each.party.isKnown && isPartOf(given, each));
  if (kep === undefined && stays.length === 0) {
    must(
      [live, derived, ...podServices, ...imported].every((each) => each === undefined),
      'K2: nothing is left of the last export',
    );
    return broken;
  }
  const isDeleted = given.live === undefined && stays.length > 0;
  if (isDeleted && (kep === undefined || !fits(given, kep))) {
    must(same(standing(after), standing(leftOf(given, all))), 'K5: what is left of a deleted one stays');
    must(
      !imported.some((each) => leadsToDead(given, each)),
      'F3: what stays is not ready behind a gateway that is dead',
    );
    return broken;
  }
  must(live !== undefined, 'K2: there is a ServiceImport while there is an export');
  const headless = live?.spec?.type === 'Headless';
  const expected = stays.length > 0 ? given.live?.spec : undefined;
  if (expected !== undefined) must(same(live?.spec, expected), 'K5: fields stay while not all exports are known');
  const backing = all.filter((each) => counts(each) && isHeadless(each.party.service) === headless);
  must(same(idsIn(after), [...stays, ...backing].map(({ id }) => id).sort()), 'K2: the status names the clusters');
  must(!imported.some((each) => leadsToDead(given, each)), 'F3: nothing is ready behind a gateway that is dead');
  if (kep !== undefined && (stays.length === 0 || isDeleted)) {
    must(headless === kep.isHeadless, 'KEP: the type is that of the oldest');
    const ports = (live?.spec?.ports ?? []).map(exactly);
    must(
      same(isDeleted ? ports.slice(0, kep.ports.length) : ports, kep.ports.map(exactly)),
      'KEP: ports are joined, the older first',
    );
    const lost = (given.derived?.spec?.ports ?? []).filter(
      (port) => !(live?.spec?.ports ?? []).some((each) => numberOf(each) === numberOf(port) || each.name === port.name),
    );
    must(!isDeleted || lost.length === 0, 'K5: ports of a cluster that is not known stay');
    const service = kep.oldest.party.service?.spec;
    must(live?.spec?.sessionAffinity === (service?.sessionAffinity ?? 'None'), 'KEP: affinity is that of the oldest');
    must(live?.spec?.internalTrafficPolicy === service?.internalTrafficPolicy, 'KEP: policy is that of the oldest');
    const { 'linkspan.dev/service-import': _, ...labels } = live?.metadata.labels ?? {};
    must(
      same(sorted(labels), sorted(kep.oldest.party.serviceExport?.spec?.exportedLabels)),
      'KEP: labels are those of the oldest',
    );
  }
  broken.push(...taken(given, after, all));
  if (headless) {
    must(live?.spec?.ips === undefined && derived === undefined, 'K3: a headless one has no address');
  } else {
    must(same(live?.spec?.ips, derived?.spec?.clusterIPs), 'K3: its address is that of the derived Service');
    const before = isDeleted ? given.derived?.spec?.clusterIPs : given.live?.spec?.ips;
    if ((isDeleted || given.live?.spec?.type === 'ClusterSetIP') && before !== undefined)
      must(same(live?.spec?.ips, before), 'K3: it keeps its address for life');
  }
  for (const slice of imported.filter((each) => !isOfPod(each))) broken.push(...brokenSlice(given, after, slice, all));
  broken.push(...brokenPods(given, after, { stays, backing, headless }));
  for (const { id } of stays) {
    const of = (slices: readonly EndpointSlice[]) =>
      slices.filter((each) => sourceOf(each) === id).map(({ metadata }) => metadata.name);
    must(same(of(imported).sort(), of(given.imported).sort()), `K5: the slices of ${id} stay`);
  }
  const gateways = backing.filter(({ target }) => target !== undefined && target.mode === 'gateway');
  if (!headless && stays.length === 0 && gateways.length > 0) {
    for (const { id, party } of gateways) {
      const shares = (live?.spec?.ports ?? []).some(
        (port) => (port.protocol ?? 'TCP') === 'TCP' && hasPort(party.service, port),
      );
      must(imported.some((each) => sourceOf(each) === id) === shares, `K3: ${id} is reached through its gateway`);
    }
  }
  return broken;
}

/** What is newly seen takes nothing from those that a ServiceImport was made of, and that still export it (K2). */
function taken(given: ObservedImport, after: Standing, all: readonly Cluster[]): readonly string[] {
  const { live, isSettled } = given;
  const entries = live?.metadata.annotations?.['linkspan.dev/exports']?.split(',') ?? [];
  if (!isSettled || live?.spec === undefined || after.live?.spec === undefined) return [];
  const old = all.filter((each) => counts(each) && standingOf(given, each) < entries.length);
  const { type, ports } = live.spec;
  if (old.length === 0 || !old.every(({ party }) => isHeadless(party.service) === (type === 'Headless'))) return [];
  if (after.live.spec.type !== type) return ['K2: the type is taken by one that is newly seen'];
  return ports.flatMap((each) => {
    const port = each as ServicePort;
    const of = old.flatMap(({ party }) => party.service?.spec?.ports ?? []);
    const rivals = of.filter((other) => nameOf(other) === nameOf(port) || numberOf(other) === numberOf(port));
    const isGiven = rivals.length > 0 && rivals.every((other) => exactly(other) === exactly(port));
    const isThere = (after.live?.spec?.ports ?? []).some((other) => exactly(other) === exactly(port));
    return isGiven && !isThere ? [`K2: port ${exactly(port)} is taken by one that is newly seen`] : [];
  });
}

const hasPort = (service: Service | undefined, port: ServicePort): boolean =>
  (service?.spec?.ports ?? []).some((each) => nameOf(each) === nameOf(port) && numberOf(each) === numberOf(port));

function brokenSlice(
  { name: service, local, targets }: ObservedImport,
  { live, derived, imported }: Standing,
  slice: EndpointSlice,
  all: readonly Cluster[],
): readonly string[] {
  const broken: string[] = [];
  const labels = slice.metadata.labels ?? {};
  const must = (holds: boolean, rule: string): void => {
    if (!holds) broken.push(`${slice.metadata.name}: ${rule}`);
  };
  const headless = live?.spec?.type === 'Headless';
  const source = all.find(({ id }) => id === sourceOf(slice));
  must(
    (live?.status?.clusters ?? []).some(({ cluster }) => cluster === sourceOf(slice)),
    'K2: a slice of no exporter',
  );
  must(labels['multicluster.kubernetes.io/service-name'] === service, 'K3: DNS does not find it');
  must(labels['endpointslice.kubernetes.io/managed-by'] === 'linkspan.dev', 'K3: Kubernetes takes it for its own');
  const of = labels['kubernetes.io/service-name'];
  must(of === undefined || of === derived?.metadata.name, 'K4: it is the slice of another Service');
  must(!headless || of === undefined, 'K4: one of a headless ServiceImport is of no Service');
  const hostnames = (slice.endpoints ?? []).filter(({ hostname }) => hostname !== undefined);
  if (!headless) must(hostnames.length === 0, 'K4: it has a hostname');
  if (!headless && source?.party.isKnown === true) {
    const isFlat = 'multicluster.linkerd.io/remote-discovery' in (derived?.metadata.annotations ?? {});
    must(isFlat === (of === undefined), 'K3: Linkerd finds members by annotations, or by slices');
    for (const { name } of slice.ports ?? []) {
      // Linkerd and Kubernetes find the port of the derived Service by its name.
      const called = (derived?.spec?.ports ?? []).find((each) => nameOf(each) === name);
      const port = (live?.spec?.ports ?? []).find(
        (each) => called !== undefined && numberOf(each as ServicePort) === numberOf(called),
      );
      must(port !== undefined && hasPort(source.party.service, port), `KEP: its cluster lacks port ${name}`);
    }
  }
  must(targets.length > 0 || imported.every((each) => sourceOf(each) === local.id), 'K2: a cluster without a Link');
  return broken;
}
