/**
 * What K3 to K5 say of the pods of a headless ServiceImport behind gateways, said a second time; see statement.ts.
 */
import type { EndpointSlice, KubeObject, Service, ServicePort } from '../../../operator/kube/objects.ts';
import type { ObservedImport, TargetExporter } from '../../../operator/mcs/observed.ts';
import type { Standing } from './observed.ts';
import type { Cluster } from './statement.ts';

const POD = 'linkspan.dev/imported-pod';
const FROM = 'linkspan.dev/imported-from';
const IMPORTED = 'multicluster.kubernetes.io/service-name';

const label = ({ metadata }: KubeObject, key: string): string => metadata.labels?.[key] ?? '';
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Reports whether a slice is that of the Service of a pod. */
export const isOfPod = (slice: EndpointSlice): boolean => label(slice, POD) !== '';

/** A pod of a target, as DNS must have it. */
interface Expected {
  readonly ready: boolean;
  readonly authority: string;
  /** By name, the number that it listens on; undefined: that of a pod that is gone for now. */
  readonly ports: ReadonlyMap<string, number> | undefined;
}

/** The pods behind a Service whose hostnames or addresses DNS can have, and those that are gone for now, by name. */
function expectedPods(
  { name: of, namespace, podServices }: ObservedImport,
  after: Standing,
  target: TargetExporter,
): ReadonlyMap<string, Expected> {
  const portsOfGone = (name: string): readonly ServicePort[] =>
    podServices.find((each) => label(each, POD) === name && label(each, FROM) === link.cluster)?.spec?.ports ?? [];
  const { slices = [], link, service, departed } = target;
  const all = new Map<string, Expected>();
  const domain = `${of}.${namespace}.svc.${link.clusterDomain}`;
  const shared = sharedPorts(after, target);
  for (const slice of slices) {
    const listed = (slice.ports ?? []).filter((each) => (each.protocol ?? 'TCP') === 'TCP');
    for (const { hostname = '', addresses, conditions } of slice.endpoints ?? []) {
      const name = hostname === '' ? (addresses[0] ?? '').replaceAll('.', '-') : hostname;
      if (!/^[a-z0-9-]{1,63}$/.test(name) || name.startsWith('-') || name.endsWith('-')) continue;
      const known = all.get(name);
      const isElsewhere = ({ name: port = '', port: number }: ServicePort): boolean =>
        hostname === '' && (service?.spec?.ports ?? []).some((each) => each.port === number && each.name !== port);
      const had = listed.filter((each) => shared.has(each.name ?? '') && !isElsewhere(each as ServicePort));
      const ports = new Map([
        ...had.map((each) => [each.name ?? '', each.port ?? 0] as const),
        ...(known?.ports ?? []),
      ]);
      if (ports.size === 0) continue;
      const isPublished = service?.spec?.publishNotReadyAddresses === true || conditions?.ready !== false;
      const authority = hostname === '' ? domain : `${hostname}.${domain}`;
      all.set(name, { ready: known?.ready === true || isPublished, authority, ports });
    }
  }
  for (const name of departed.keys())
    if (!all.has(name) && portsOfGone(name).some((port) => shared.has(port.name ?? '')))
      all.set(name, { ready: false, authority: `${name}.${domain}`, ports: undefined });
  return all;
}

/** Names of the ports that are imported from a cluster and cross a gateway. */
const sharedPorts = ({ live }: Standing, { service }: TargetExporter): ReadonlySet<string> =>
  new Set(
    (live?.spec?.ports ?? [])
      .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
      .map(({ name = '', port }) => ({ name, port }))
      .filter(({ name, port }) =>
        (service?.spec?.ports ?? []).some(
          (each) => (each.name ?? '') === name && each.port === port && (each.protocol ?? 'TCP') === 'TCP',
        ),
      )
      .map(({ name }) => name),
  );

/** What holds of the ServiceImport as a whole. */
interface Whole {
  /** Clusters that are not known, and stay. */
  readonly stays: readonly Cluster[];
  /** Clusters that are known, and whose Services are imported. */
  readonly backing: readonly Cluster[];
  readonly headless: boolean;
}

/** Returns what is wrong with the Services of pods, their slices, and what DNS says of them. */
export function brokenPods(given: ObservedImport, after: Standing, whole: Whole): readonly string[] {
  const broken: string[] = [];
  const must = (holds: boolean, rule: string): void => {
    if (!holds) broken.push(rule);
  };
  const { podServices } = after;
  if (!whole.headless) {
    must(podServices.length === 0, 'K3: one with an address has no Services of pods');
    return broken;
  }
  const clusters = new Set([...whole.stays, ...whole.backing].map(({ target }) => target?.link.cluster));
  must(
    podServices.every((each) => clusters.has(label(each, FROM))),
    'K2: a pod of a cluster that exports nothing',
  );
  for (const each of podServices) {
    const keys = Object.keys(each.metadata.labels ?? {});
    must(
      keys.every((key) => !key.startsWith('mirror.linkerd.io/')),
      `K3: ${each.metadata.name} passes for a mirror`,
    );
    const was = given.podServices.find(({ metadata }) => metadata.name === each.metadata.name);
    must(was === undefined || same(was.spec?.clusterIPs, each.spec?.clusterIPs), 'K3: a pod keeps its address');
    must(was !== undefined || !given.isForeign(each.metadata.name), 'K3: a name is taken that another has');
  }
  for (const slice of after.imported.filter(isOfPod)) {
    must(label(slice, IMPORTED) === '', 'K4: DNS answers with the address of a gateway');
    const isThere = podServices.some(({ metadata }) => metadata.name === label(slice, 'kubernetes.io/service-name'));
    must(isThere, 'K3: a slice is left of a Service that is gone');
  }
  for (const { id, target } of whole.stays)
    if (target !== undefined) broken.push(...brokenStay(given, after, id, target));
  // All are reached as one Link wants it that has a gateway.
  const isThroughGateways = whole.backing.some(({ target }) => target?.mode === 'gateway');
  for (const { id, target } of whole.backing) {
    if (target === undefined) continue;
    const isKnown = target.slices !== undefined;
    if (!isKnown) broken.push(...brokenStay(given, after, id, target));
    else if (isThroughGateways) broken.push(...brokenCluster(given, after, id, target));
    else must(of(after.podServices, target).length === 0, `K3: ${id} is on a flat network`);
  }
  return broken;
}

const sortedPorts = (ports: readonly (readonly [string, number])[]): readonly string[] =>
  ports.map(([name, number]) => `${name} ${number}`).sort();

const of = <T extends KubeObject>(objects: readonly T[], { link }: TargetExporter): readonly T[] =>
  objects.filter((each) => label(each, FROM) === link.cluster);

/** What DNS lists of a cluster: hostname, address, readiness and port. */
const listed = ({ imported }: Pick<Standing, 'imported'>, target: TargetExporter) =>
  of(imported, target)
    .filter((slice) => label(slice, IMPORTED) !== '')
    .flatMap(({ endpoints, ports }) =>
      (endpoints ?? []).map(({ hostname = '', addresses, conditions }) => ({
        hostname,
        address: addresses[0] ?? '',
        ready: conditions?.ready,
        ports,
      })),
    );

/** A cluster that is not known: nothing comes, goes or moves, but the gateway is as it is now. */
function brokenStay(given: ObservedImport, after: Standing, id: string, target: TargetExporter): readonly string[] {
  const services = (all: readonly Service[]) =>
    of(all, target)
      .map(({ metadata }) => metadata.name)
      .sort();
  // Of what had an address, slices of a flat network alone may stay: statement.ts says so.
  const wasHeadless = given.live?.spec?.type === 'Headless';
  // While only the pods are not known, ports that are not imported any more go.
  const shared = sharedPorts(after, target);
  const had = listed(given, target).flatMap(({ ports }) => (ports ?? []).map(({ name = '' }) => name));
  const isLess = target.isKnown && had.some((name) => !shared.has(name));
  const endpoints = (standing: Pick<Standing, 'imported'>) =>
    listed(standing, target).map(({ hostname, address, ready }) => [hostname, address, ready]);
  return [
    ...(same(services(given.podServices), services(after.podServices))
      ? []
      : [`K5: the Services of pods of ${id} stay`]),
    ...(!wasHeadless || isLess || same(endpoints(given), endpoints(after)) ? [] : [`K5: what DNS says of ${id} stays`]),
    ...brokenGateway(after, id, target),
  ];
}

/** Reports whether a port is imported from a cluster. */
const sharesPort = (after: Standing, target: TargetExporter): boolean => sharedPorts(after, target).size > 0;

/** All slices of Services of pods lead to the gateway as it is now, or nowhere. */
function brokenGateway({ imported }: Standing, id: string, { link, gateway }: TargetExporter): readonly string[] {
  const slices = imported.filter((slice) => isOfPod(slice) && label(slice, FROM) === link.cluster);
  const isRight = slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    .every(
      ({ addresses, conditions, hostname }) =>
        hostname === undefined &&
        (gateway === undefined ||
          (gateway.addresses.includes(addresses[0] ?? '') && conditions?.ready === gateway.alive)),
    );
  return isRight ? [] : [`C1: the gateway of ${id} is brought up to date`];
}

/** A cluster that is known, and reached through its gateway. */
function brokenCluster(given: ObservedImport, after: Standing, id: string, target: TargetExporter): readonly string[] {
  const broken: string[] = [...brokenGateway(after, id, target)];
  const must = (holds: boolean, rule: string): void => {
    if (!holds) broken.push(`${id}: ${rule}`);
  };
  const expected = expectedPods(given, after, target);
  const services = new Map(of(after.podServices, target).map((each) => [label(each, POD), each]));
  const before = of(given.podServices, target).length;
  must(services.size <= Math.max(given.maxPods, before), 'E10: more pods than the limit allows');
  const isPort = sharesPort(after, target);
  // A name that another has may be that of any pod.
  const areAll = expected.size <= given.maxPods && !given.isForeign('clusterset-0');
  if (isPort && areAll)
    must(same([...services.keys()].sort(), [...expected.keys()].sort()), 'K3: each pod has a Service');
  must(isPort || services.size === 0, 'K3: a pod of which no port is imported');
  const answers = listed(after, target);
  must(answers.length === services.size, 'K3: DNS has each Service of a pod once');
  for (const { hostname, address, ready, ports } of answers) {
    const pod = expected.get(hostname);
    const service = services.get(hostname);
    must(pod !== undefined && service !== undefined, `K3: pod ${hostname} is gone`);
    must(service?.spec?.clusterIP === address, `K3: pod ${hostname} is reached at the address of its Service`);
    must(pod?.ready === ready, `K3: pod ${hostname} is ready or not`);
    // A client of DNS connects to these numbers at the Service, as it would at the pod.
    const told = (ports ?? []).map((port) => [port.name ?? '', port.port ?? 0] as const);
    const numbers = new Set((service?.spec?.ports ?? []).map((port) => port.port));
    const isRight = pod?.ports === undefined || same(sortedPorts(told), sortedPorts([...pod.ports]));
    must(
      isRight && told.length > 0 && told.every(([, number]) => numbers.has(number)),
      `D6: pod ${hostname} listens on its own ports`,
    );
    const way = of(after.imported, target).find((each) => isOfPod(each) && label(each, POD) === hostname);
    must(
      way?.metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name'] === pod?.authority,
      `K3: the gateway takes requests to ${hostname} there`,
    );
    must(
      way?.metadata.annotations?.['mirror.linkerd.io/remote-gateway-identity'] === target.gateway?.identity,
      `K3: requests to ${hostname} are encrypted`,
    );
  }
  return broken;
}
