/**
 * What must be in the source cluster when all is quiet: docs/behaviour.md restated, over the last state of
 * both clusters. It shares no code with the operator, so that the two can only agree by both being right. Where the
 * rules let the past decide (D2: a headless Service without endpoints), any of the allowed states is accepted.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { fateOf } from './hostile.ts';
import type { Choosy } from './import-policy.ts';

export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string }[];
};

/** A Link, its target's state and its gateway's. */
export interface LinkState {
  readonly name: string;
  readonly createdAt: string;
  readonly spec: {
    readonly targetClusterName: string;
    readonly targetClusterDomain: string;
    readonly gatewayAddress: string;
    readonly gatewayPort: string;
    readonly gatewayIdentity: string;
    readonly probeSpec?: object;
    readonly selector?: LabelSelector;
    readonly remoteDiscoverySelector?: LabelSelector;
    readonly federatedServiceSelector?: LabelSelector;
    readonly federation?: 'flat' | 'gateway';
    readonly excludedAnnotations?: readonly string[];
    readonly enableHeadlessServices?: boolean;
    readonly enableNamespaceCreation?: boolean;
  } & Choosy;
  readonly gatewayAlive: boolean;
  /** What its import policy admits. */
  readonly services: readonly KubeObject[];
  readonly slices: readonly KubeObject[];
}

export interface SourceState {
  /** Most pods of a target that have an endpoint mirror (E10). */
  readonly maxEndpointMirrors: number;
  readonly endpointsKind: 'endpoints' | 'slices';
  readonly namespaces: ReadonlySet<string>;
  readonly services: readonly KubeObject[];
  readonly endpoints: readonly KubeObject[];
  readonly slices: readonly KubeObject[];
}

/** Objects by kind and name, reduced to what must be equal in two that count as equal. */
export type Objects = ReadonlyMap<string, unknown>;

export interface Expected {
  readonly objects: Objects;
  /** Of each Link by name: how many target Services it reports on, and how many of them are mirrored. */
  readonly counts: ReadonlyMap<string, { readonly total: number; readonly ready: number }>;
  readonly namespaces: ReadonlySet<string>;
}

type Labels = Readonly<Record<string, string>>;

interface Port {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
  readonly appProtocol?: string;
}

interface Host {
  readonly hostname: string;
  readonly listed: boolean;
  readonly ports: readonly Port[];
  /** Set if it has no endpoint mirror, and it depends on the past whether the limit allows it one (E10). */
  readonly isUncertain?: boolean;
}

/** An exported Service that is mirrored if its name is to be had. */
interface Wish {
  readonly link: LinkState;
  readonly service: KubeObject;
  readonly form: 'flat' | 'clusterIP' | 'headless';
  readonly hosts: readonly Host[];
  readonly anyReady: boolean;
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const OPERATOR_NAMESPACE = 'linkerd-multicluster';
export const FORBIDDEN: readonly string[] = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'linkerd',
  OPERATOR_NAMESPACE,
];

export function expected(links: readonly LinkState[], source: SourceState): Expected {
  const objects = new Map<string, unknown>();
  const counts = new Map<string, { total: number; ready: number }>();
  const namespaces = new Set(source.namespaces);
  const wishes: Wish[] = [];
  for (const link of links) {
    const exported = link.services.filter((service) => modeOf(link, service) !== undefined);
    counts.set(link.name, { total: exported.length, ready: 0 });
    const isCrowded = podsBehind(link, exported) > source.maxEndpointMirrors;
    const own = exported.flatMap((service) => wishOf(link, service, source) ?? []);
    wishes.push(...(isCrowded ? own.map((wish) => mirroredPart(wish, source)) : own));
    // Which pods are left out depends on the past, and so does which Service lacks some.
    if (isCrowded) counts.delete(link.name);
    probe(link, source, objects);
  }
  const given = names(wishes, source);
  for (const wish of wishes) {
    const { link, service } = wish;
    // The namespace is made for a mirror that gets its name.
    if (given.get(idOf(wish)) === undefined) continue;
    namespaces.add(service.metadata.namespace!);
    const count = counts.get(link.name);
    if (mirror(wish, given, source, objects) && count !== undefined) count.ready += 1;
  }
  return { objects, counts, namespaces };
}

/** A1: flat wins; an absent or empty selector selects nothing. */
export function modeOf(
  { spec }: Pick<LinkState, 'spec'>,
  { metadata: { labels = {} } }: KubeObject,
): 'flat' | 'gateway' | undefined {
  if (selects(spec.remoteDiscoverySelector, labels)) return 'flat';
  return selects(spec.selector, labels) ? 'gateway' : undefined;
}

export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  if (Object.keys(matchLabels).length + matchExpressions.length === 0) return false;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator }) => operator === 'Exists' && key in labels)
  );
}

/** A3 to A5 and D1 to D3: undefined if it is not to be mirrored, whoever has its name. */
function wishOf(link: LinkState, service: KubeObject, source: SourceState): Wish | undefined {
  const { name, namespace = '' } = service.metadata;
  const { type, clusterIP, ports = [], publishNotReadyAddresses = false } = specOf(service);
  if (FORBIDDEN.includes(namespace) || fateOf(service) === 'refused') return undefined;
  if (type === 'ExternalName' || ports.length === 0) return undefined;
  if (`${name}-${link.spec.targetClusterName}`.length > 63) return undefined;
  if (!source.namespaces.has(namespace) && link.spec.enableNamespaceCreation !== true) return undefined;
  if (modeOf(link, service) === 'flat') return { link, service, form: 'flat', hosts: [], anyReady: false };
  if (!ports.some(isTcp)) return undefined;

  const slices = slicesBehind(link.slices, link.spec.selector, service);
  const hosts = new Map<string, Host & { readonly since: string }>();
  let any = false;
  let anyReady = false;
  for (const slice of slices) {
    for (const { hostname, conditions } of (slice['endpoints'] ?? []) as readonly Endpoint[]) {
      const listed = publishNotReadyAddresses || conditions?.ready !== false;
      any = true;
      anyReady ||= listed;
      if (hostname === undefined || !DNS_LABEL.test(hostname)) continue;
      // D6: that of the newer slice counts. Those that tell two are made by hand, and list pods that are ready.
      const since = slice.metadata.creationTimestamp ?? '';
      const known = hosts.get(hostname);
      if (known === undefined || since > known.since)
        hosts.set(hostname, { hostname, listed, since, ports: (slice['ports'] ?? []) as readonly Port[] });
    }
  }
  const wish = { link, service, hosts: [], anyReady };
  if (link.spec.enableHeadlessServices !== true || clusterIP !== 'None') return { ...wish, form: 'clusterIP' };
  if (hosts.size > 0) return { ...wish, form: 'headless', hosts: [...hosts.values()] };
  if (any) return { ...wish, form: 'clusterIP' };
  // D2: nothing yet, or what it was before it had no endpoints.
  const there = source.services.find(
    (object) =>
      object.metadata.namespace === namespace &&
      object.metadata.name === `${name}-${link.spec.targetClusterName}` &&
      // Not the endpoint mirror of a pod of this name.
      object.metadata.labels?.['mirror.linkerd.io/headless-mirror-svc-name'] === undefined &&
      isOf(link, object),
  );
  if (there === undefined) return undefined;
  return { ...wish, form: specOf(there).clusterIP === 'None' ? 'headless' : 'clusterIP' };
}

/** How many pods of a Link's target would have an endpoint mirror (E10). */
function podsBehind(link: LinkState, exported: readonly KubeObject[]): number {
  const headless = exported.filter(
    (service) => modeOf(link, service) === 'gateway' && specOf(service).clusterIP === 'None',
  );
  return headless.reduce((sum, service) => {
    const slices = slicesBehind(link.slices, link.spec.selector, service);
    const endpoints = slices.flatMap((slice) => (slice['endpoints'] ?? []) as readonly Endpoint[]);
    return sum + new Set(endpoints.flatMap(({ hostname }) => hostname ?? [])).size;
  }, 0);
}

/** E10: of more pods than the limit allows, those that have an endpoint mirror keep it. */
function mirroredPart(wish: Wish, source: SourceState): Wish {
  const { name, namespace } = wish.service.metadata;
  const isMirrored = ({ hostname }: Host): boolean =>
    source.services.some(
      (object) =>
        object.metadata.namespace === namespace &&
        isOf(wish.link, object) &&
        object.metadata.annotations?.['mirror.linkerd.io/remote-svc-fq-name']?.startsWith(`${hostname}.${name}.`),
    );
  return { ...wish, hosts: wish.hosts.map((host) => ({ ...host, isUncertain: !isMirrored(host) })) };
}

/** D9: those without the export label count where there is no selector, or those with it list nobody. */
export function slicesBehind(
  slices: readonly KubeObject[],
  selector: LabelSelector | undefined,
  service: KubeObject,
): readonly KubeObject[] {
  const { name, namespace } = service.metadata;
  const all = slices.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
  );
  const labelled = all.filter(({ metadata }) => selects(selector, metadata.labels ?? {}));
  const isListed = labelled.some((slice) => ((slice['endpoints'] ?? []) as readonly Endpoint[]).length > 0);
  return isListed && Object.keys(specOf(service).selector ?? {}).length > 0 ? labelled : all;
}

interface Endpoint {
  readonly hostname?: string;
  readonly conditions?: { readonly ready?: boolean };
}

/** A7: who gets which name. */
function names(wishes: readonly Wish[], source: SourceState): ReadonlyMap<string, string> {
  const claims = wishes.flatMap((wish) => [
    {
      wish,
      host: '',
      isUncertain: false,
      names: [`${wish.service.metadata.name}-${wish.link.spec.targetClusterName}`],
    },
    ...wish.hosts.map(({ hostname, isUncertain = false }) => ({
      wish,
      host: hostname,
      isUncertain,
      names: [hostname, `${hostname}-${wish.service.metadata.name}`].map(
        (name) => `${name}-${wish.link.spec.targetClusterName}`,
      ),
    })),
  ]);
  claims.sort((a, b) => compare(rankOf(a.wish, a.host), rankOf(b.wish, b.host)));
  const taken = new Set<string>();
  const given = new Map<string, string>();
  for (const choice of [0, 1]) {
    for (const { wish, host, isUncertain, names: wanted } of claims) {
      const id = idOf(wish, host);
      const name = wanted[choice];
      const at = `${wish.service.metadata.namespace}/${name}`;
      if (given.has(id) || name === undefined || taken.has(at)) continue;
      if (isUncertain && !isClaimedInVain(name, wish, given.has(idOf(wish)), source)) continue;
      taken.add(at);
      given.set(id, name);
    }
  }
  return given;
}

/**
 * Whether a pod that has no endpoint mirror may yet claim a name, so that it is within the limit: its Service has lost its
 * own name, or somebody else's object has the pod's; and no mirror has the name, nor does the one whose endpoint mirrors
 * are there.
 */
function isClaimedInVain(name: string, { link, service }: Wish, isNamed: boolean, source: SourceState): boolean {
  const { namespace = '' } = service.metadata;
  const has = (object: KubeObject): boolean => object.metadata.namespace === namespace && object.metadata.name === name;
  const isPodOf = ({ metadata }: KubeObject): boolean =>
    metadata.namespace === namespace && metadata.labels?.['mirror.linkerd.io/headless-mirror-svc-name'] === name;
  if (source.services.some((object) => isOurs(object) && (has(object) || isPodOf(object)))) return false;
  return (
    !isNamed || isTaken(source.services, link, namespace, name) || isTaken(source.endpoints, link, namespace, name)
  );
}

/**
 * A7: the older Link goes first, whatever a target reports; within one Link the older Service, then the first by name.
 */
const rankOf = ({ service: { metadata }, link }: Wish, host: string): readonly string[] => [
  link.createdAt,
  link.name,
  metadata.creationTimestamp ?? '',
  metadata.name,
  host,
];

const compare = (a: readonly string[], b: readonly string[]): number => {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1;
};

const idOf = ({ link, service }: Wish, host = ''): string =>
  `${link.name} ${service.metadata.namespace}/${service.metadata.name} ${host}`;

/** What one target Service comes to. @returns whether all of it can be there */
function mirror(
  wish: Wish,
  given: ReadonlyMap<string, string>,
  source: SourceState,
  objects: Map<string, unknown>,
): boolean {
  const { link, service, form, hosts, anyReady } = wish;
  const { spec } = link;
  const namespace = service.metadata.namespace!;
  const own = given.get(idOf(wish))!;
  const ports = (specOf(service).ports ?? []).filter((port) => form === 'flat' || isTcp(port));
  const labels = { ...copiedLabels(service), ...ourLabels(spec.targetClusterName) };
  const annotations = copiedAnnotations(service, spec.excludedAnnotations ?? []);
  const fqName = (name: string) => ({
    'mirror.linkerd.io/remote-svc-fq-name': `${name}.${namespace}.svc.${spec.targetClusterDomain}`,
  });
  const identity =
    spec.gatewayIdentity === '' ? {} : { 'mirror.linkerd.io/remote-gateway-identity': spec.gatewayIdentity };
  let complete = true;

  /** A Service, unless somebody else's has the name (A6). */
  const putService = (name: string, body: object): boolean => {
    const is = source.services.some(
      (object) => object.metadata.namespace === namespace && object.metadata.name === name && isOf(link, object),
    );
    // Kubernetes deletes a Service's Endpoints with it: no Service comes to be over somebody else's.
    if (isTaken(source.services, link, namespace, name) || (!is && isTaken(source.endpoints, link, namespace, name))) {
      complete = false;
      return false;
    }
    objects.set(`Service ${namespace}/${name}`, body);
    return true;
  };
  const putEndpoints = (name: string, subsets: readonly Subset[], own: Labels, more: Labels): void => {
    // A slice cannot express subsets without addresses.
    if (source.endpointsKind === 'slices' && subsets.length === 0) return;
    if (isTaken(writtenKind(source), link, namespace, endpointsName(source, name))) complete = false;
    else objects.set(`Endpoints ${namespace}/${name}`, endpointsOf(source.endpointsKind, name, subsets, own, more));
  };
  const gateway = (of: readonly Port[]): readonly Subset[] => [
    {
      addresses: spec.gatewayAddress.split(',').map((ip) => ({ ip, hostname: '' })),
      ready: link.gatewayAlive || spec.probeSpec === undefined,
      ports: of.map(({ name = '', protocol = 'TCP' }) => ({ name, protocol, port: Number(spec.gatewayPort) })),
      absent: !anyReady,
    },
  ];

  const flat = {
    'multicluster.linkerd.io/remote-discovery': spec.targetClusterName,
    'multicluster.linkerd.io/remote-service': service.metadata.name,
  };
  const there = putService(own, {
    labels: sorted(form === 'flat' ? { ...labels, ...flat } : labels),
    annotations: sorted({ ...annotations, ...fqName(service.metadata.name) }),
    headless: form === 'headless',
    ports: portsOf(ports),
  });
  if (form === 'clusterIP' && there) {
    putEndpoints(own, gateway(ports), labels, { ...fqName(service.metadata.name), ...identity });
  }
  if (form !== 'headless') return complete;

  const listed: Subset[] = [];
  for (const host of hosts) {
    const name = given.get(idOf(wish, host.hostname));
    if (name === undefined) {
      complete = false;
      continue;
    }
    const tcp = host.ports.filter(isTcp);
    const hostLabels = { ...labels, 'mirror.linkerd.io/headless-mirror-svc-name': own };
    const fq = fqName(`${host.hostname}.${service.metadata.name}`);
    const body = {
      labels: sorted(hostLabels),
      annotations: sorted({ ...opaquePorts(annotations), ...fq }),
      headless: false,
      ports: portsOf(tcp.map((port) => ({ ...port, targetPort: port.port }))),
    };
    if (!putService(name, body)) continue;
    putEndpoints(name, gateway(tcp), hostLabels, { ...fq, ...identity });
    const service_ = source.services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    const ip = service_ === undefined ? '' : (specOf(service_).clusterIP ?? '');
    if (host.listed) {
      const addresses = [{ ip, hostname: host.hostname }];
      listed.push({ addresses, ready: true, absent: false, ports: tcp.map(endpointPort) });
    }
  }
  if (there) putEndpoints(own, listed, labels, { ...fqName(service.metadata.name), ...identity });
  return complete;
}

function probe({ name, spec }: LinkState, source: SourceState, objects: Map<string, unknown>): void {
  if (spec.probeSpec === undefined) return;
  const service = `probe-${name}`;
  const isForeign = (list: readonly KubeObject[], name: string): boolean =>
    list.some(
      ({ metadata }) =>
        metadata.namespace === OPERATOR_NAMESPACE &&
        metadata.name === name &&
        metadata.labels?.['mirror.linkerd.io/cluster-name'] !== spec.targetClusterName,
    );
  const is = source.services.some(
    ({ metadata }) => metadata.namespace === OPERATOR_NAMESPACE && metadata.name === service,
  );
  if (isForeign(source.services, service) || (!is && isForeign(source.endpoints, service))) return;
  objects.set(`Service ${OPERATOR_NAMESPACE}/${service}`, { port: 4191, cluster: spec.targetClusterName });
  if (isForeign(writtenKind(source), endpointsName(source, service))) return;
  const identity = spec.gatewayIdentity;
  objects.set(`Endpoints ${OPERATOR_NAMESPACE}/${service}`, {
    cluster: spec.targetClusterName,
    addresses: [...spec.gatewayAddress.split(',')].sort(),
    port: 4191,
    identity,
  });
}

/** What the endpoints of a Service are called. */
const endpointsName = ({ endpointsKind }: SourceState, service: string): string =>
  endpointsKind === 'endpoints' ? service : `${service}-ipv4`;

const writtenKind = ({ endpointsKind, endpoints, slices }: SourceState): readonly KubeObject[] =>
  endpointsKind === 'endpoints' ? endpoints : slices;

/** Whether somebody else's object has a name. */
const isTaken = (list: readonly KubeObject[], link: LinkState, namespace: string, name: string): boolean =>
  list.some(
    (object) => object.metadata.namespace === namespace && object.metadata.name === name && !isOf(link, object),
  ) &&
  !list.some((object) => object.metadata.namespace === namespace && object.metadata.name === name && isOurs(object));

const isOf = ({ spec }: LinkState, object: KubeObject): boolean =>
  isOurs(object) && object.metadata.labels?.['mirror.linkerd.io/cluster-name'] === spec.targetClusterName;

const isOurs = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  labels['mirror.linkerd.io/mirrored-service'] === 'true' &&
  ['west', 'bar-west', 'far'].includes(labels['mirror.linkerd.io/cluster-name'] ?? '');

const ourLabels = (cluster: string): Labels => ({
  'mirror.linkerd.io/mirrored-service': 'true',
  'mirror.linkerd.io/cluster-name': cluster,
});

/** B3: all that an endpoint mirror has of the annotations of its Service. */
const opaquePorts = ({ 'config.linkerd.io/opaque-ports': ports }: Labels): Labels =>
  ports === undefined ? {} : { 'config.linkerd.io/opaque-ports': ports };

/** B2, as far as histories put labels on Services. */
export const copiedLabels = ({ metadata: { labels = {} } }: KubeObject): Labels =>
  Object.fromEntries(
    Object.entries(labels).filter(
      ([key]) => !key.startsWith('mirror.linkerd.io/') && key !== 'app.kubernetes.io/managed-by',
    ),
  );

export const copiedAnnotations = (
  { metadata: { annotations = {} } }: KubeObject,
  excluded: readonly string[],
): Labels =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => !excluded.includes(`${key.split('/')[0]}/*`)));

interface Subset {
  readonly addresses: readonly { readonly ip: string; readonly hostname: string }[];
  readonly ready: boolean;
  /** Nobody is there. */
  readonly absent: boolean;
  readonly ports: readonly object[];
}

function endpointsOf(
  kind: SourceState['endpointsKind'],
  name: string,
  subsets: readonly Subset[],
  labels: Labels,
  annotations: Labels,
): object {
  return {
    labels: sorted(kind === 'endpoints' ? labels : { ...labels, ...sliceLabels(name) }),
    annotations: sorted(annotations),
    addresses: subsets
      .filter(({ absent }) => !absent)
      .flatMap(({ addresses, ready, ports }) =>
        addresses.map(({ ip, hostname }) => JSON.stringify([hostname, ip, ready, sortedPorts(ports)])),
      )
      .sort(),
  };
}

const sliceLabels = (name: string): Labels => ({
  'kubernetes.io/service-name': name,
  'endpointslice.kubernetes.io/managed-by': 'linkspan.dev',
});

export const specOf = (service: KubeObject) =>
  (service['spec'] ?? {}) as {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly ports?: readonly Port[];
    readonly publishNotReadyAddresses?: boolean;
    readonly selector?: Labels;
  };

export const isTcp = ({ protocol = 'TCP' }: Port): boolean => protocol === 'TCP';

const endpointPort = ({ name = '', port, protocol = 'TCP' }: Port) => ({ name, protocol, port });

const sortedPorts = (ports: readonly object[]): readonly string[] => ports.map((port) => JSON.stringify(port)).sort();

export const portsOf = (ports: readonly Port[]): readonly string[] =>
  sortedPorts(
    ports.map(({ name = '', protocol = 'TCP', port, targetPort = port, appProtocol = '' }) => ({
      ...{ name, protocol, port, targetPort, appProtocol },
    })),
  );

export const sorted = (of: Labels): readonly string[] =>
  Object.entries(of)
    .map(([key, value]) => `${key}=${value}`)
    .sort();

/** What there is of ours, in the words of {@link expected}. */
export function found(
  kind: SourceState['endpointsKind'],
  services: readonly KubeObject[],
  endpoints: readonly KubeObject[],
  slices: readonly KubeObject[],
  ours: (object: KubeObject) => boolean,
): Objects {
  const objects = new Map<string, unknown>();
  for (const object of services.filter(ours)) {
    const { name, namespace, labels = {}, annotations = {} } = object.metadata;
    const id = `Service ${namespace}/${name}`;
    const { clusterIP, ports = [], type } = specOf(object);
    if (namespace === OPERATOR_NAMESPACE) {
      objects.set(id, { port: ports[0]?.port, cluster: labels['mirror.linkerd.io/cluster-name'] });
      continue;
    }
    const { 'mirror.linkerd.io/remote-resource-version': _, ...others } = annotations;
    objects.set(id, {
      labels: sorted(labels),
      annotations: sorted(others),
      headless: clusterIP === 'None',
      ports: portsOf(ports),
      ...(type === 'ClusterIP' ? {} : { type }),
    });
  }
  const put = (object: KubeObject, service: string, addresses: readonly string[]): void => {
    const { namespace, labels = {}, annotations = {} } = object.metadata;
    const id = `Endpoints ${namespace}/${service}`;
    if (namespace !== OPERATOR_NAMESPACE) {
      const before = objects.get(id) as { readonly addresses: readonly string[] } | undefined;
      const all = [...(before?.addresses ?? []), ...addresses].sort();
      objects.set(id, { labels: sorted(labels), annotations: sorted(annotations), addresses: all });
      return;
    }
    const parsed = addresses.map((each) => JSON.parse(each) as readonly [string, string, boolean, readonly string[]]);
    objects.set(id, {
      cluster: labels['mirror.linkerd.io/cluster-name'],
      addresses: parsed.map(([, ip]) => ip).sort(),
      port: (JSON.parse(parsed[0]?.[3][0] ?? '{}') as { port?: number }).port,
      identity: annotations['mirror.linkerd.io/remote-gateway-identity'] ?? '',
    });
  };
  for (const object of endpoints.filter(ours)) {
    const id = kind === 'endpoints' ? object.metadata.name : `${object.metadata.name} (not wanted)`;
    put(object, id, addressesOfEndpoints(object));
  }
  for (const object of slices.filter(ours)) {
    put(object, object.metadata.labels?.['kubernetes.io/service-name'] ?? '', addressesOfSlice(object));
  }
  return objects;
}

const addressesOfEndpoints = (object: KubeObject): readonly string[] =>
  (
    (object['subsets'] ?? []) as readonly {
      readonly addresses?: readonly { readonly ip: string; readonly hostname?: string }[];
      readonly notReadyAddresses?: readonly { readonly ip: string; readonly hostname?: string }[];
      readonly ports?: readonly Port[];
    }[]
  ).flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const rendered = sortedPorts(ports.map(endpointPort));
    return [
      ...addresses.map(({ ip, hostname = '' }) => JSON.stringify([hostname, ip, true, rendered])),
      ...notReadyAddresses.map(({ ip, hostname = '' }) => JSON.stringify([hostname, ip, false, rendered])),
    ];
  });

const addressesOfSlice = (object: KubeObject): readonly string[] => {
  const ports = sortedPorts(((object['ports'] ?? []) as readonly Port[]).map(endpointPort));
  return (
    (object['endpoints'] ?? []) as readonly {
      readonly addresses: readonly string[];
      readonly hostname?: string;
      readonly conditions?: { readonly ready?: boolean };
    }[]
  ).flatMap(({ addresses, hostname = '', conditions }) =>
    addresses.map((ip) => JSON.stringify([hostname, ip, conditions?.ready !== false, ports])),
  );
};
