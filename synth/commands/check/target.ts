/** A target cluster as the operator would read it: through the credentials of its Link. */
import type { LinkSettings } from '../../../crds/index.ts';
import { Annotation, Default, Label, McsApi, OUR_MANAGERS } from '../../../crds/wire.ts';
import { readAccountToken } from '../../../operator/kube/account-token.ts';
import { keeperOf } from '../../../operator/kube/keeper.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeObject,
  type Secret,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import { AppliedPolicy } from '../../../operator/mirror/applied-policy.ts';
import type { TargetAccess } from '../../../operator/kube/access/secret-kubeconfig.ts';
import type { LinkObject } from '../common/link-object.ts';
import type { GatewayService } from '../link/gateway.ts';
import { type Given, withGivenBefore } from '../link/given.ts';
import { type LinkerdRead, readLinkerd } from './linkerd.ts';
import { type Read, Reader, type Right, type Unread } from './reader.ts';

/** A Service that a selector of the Link selects. */
export interface Export {
  /** `namespace/name` */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly mode: 'gateway' | 'flat';
  /** Whether anything behind it is ready. */
  readonly isReady: boolean;
}

/** The gateway's Service in the target. */
export interface TargetGateway {
  readonly service: GatewayService;
  /** Number of its ready endpoints. */
  readonly ready: number;
}

/** A right and whether it is granted. */
export interface Granted {
  readonly right: Right;
  readonly granted: Read<boolean>;
}

export interface Target {
  readonly server: string;
  /** Version of the API server, or why it cannot be reached. */
  readonly version: Read<string>;
  /** The rights that the operator needs: to read the target, and to renew its token. */
  readonly rights: readonly Granted[];
  /** The rights without which nothing that the target exports by the MCS API is imported. */
  readonly exportRights: readonly Granted[];
  readonly linkerd: LinkerdRead;
  readonly exports: Read<readonly Export[]>;
  /** Names of Services that are to join federated ones: `namespace/name`. */
  readonly members: Read<readonly string[]>;
  /** Namespace in which the gateway is looked for. */
  readonly gatewayNamespace: string;
  /** Undefined if none was found. */
  readonly gateway: Read<TargetGateway | undefined>;
  /** What could not be read. */
  readonly unread: readonly Unread[];
}

/** How long a request to a target may take, and all of them together, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000;
const TARGET_TIMEOUT_MS = 30_000;

const READ = ['list', 'watch'] as const;
const inEach = (
  namespaces: readonly string[] | undefined,
  resources: readonly (readonly [group: string, resource: string])[],
): readonly Right[] =>
  (namespaces ?? [undefined]).flatMap((namespace) =>
    resources.flatMap(([group, resource]) =>
      READ.map((verb) => ({ verb, group, resource, ...(namespace !== undefined && { namespace }) })),
    ),
  );

const OPERATOR_READS = [
  ['', 'services'],
  ['discovery.k8s.io', 'endpointslices'],
] as const;
const EXPORT_READS = [[McsApi.group, McsApi.serviceExport.plural]] as const;
/** What Linkerd's destination controller lists and watches in a target: it ends itself where it may not. */
const DESTINATION_READS = [
  ...OPERATOR_READS,
  ['', 'pods'],
  ['apps', 'replicasets'],
  ['batch', 'jobs'],
  ['policy.linkerd.io', 'servers'],
] as const;

const review = (reader: Reader, rights: readonly Right[]): Promise<readonly Granted[]> =>
  Promise.all(rights.map(async (right) => ({ right, granted: await reader.may(right) })));

const withReader = async <T>(access: TargetAccess, read: (reader: Reader) => Promise<T>): Promise<T> => {
  const signal = AbortSignal.timeout(TARGET_TIMEOUT_MS);
  const reader = new Reader(access.access, { signal, timeoutMs: REQUEST_TIMEOUT_MS });
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
};

/** What Linkerd's destination controller finds with its own copy of the credentials. */
export interface DestinationAccess {
  readonly version: Read<string>;
  readonly rights: readonly Granted[];
}

export const readDestination = (access: TargetAccess): Promise<DestinationAccess> =>
  withReader(access, async (reader) => ({
    version: await reader.version(),
    rights: await review(reader, inEach(undefined, DESTINATION_READS)),
  }));

/** What `linkspan link` was given of the gateway of a Link, which it keeps whenever it links again. */
export const givenGateway = (link: LinkObject): Given =>
  withGivenBefore(link, { apiServerAddress: undefined, addressFlag: '' }).read;

/** The right to renew a token that ends, unless somebody else keeps its Secret (rules P2, P5). */
const renewal = (secret: Secret | undefined, { token = '' }: TargetAccess): readonly Right[] => {
  const read = readAccountToken(token);
  if (read === undefined || secret === undefined || keeperOf(secret, OUR_MANAGERS) !== undefined) return [];
  const { namespace, account: name } = read;
  return [{ verb: 'create', group: '', resource: 'serviceaccounts/token', namespace, name }];
};

/**
 * Reads the target of a Link.
 * @param secret the one that holds its credentials
 */
export const readTarget = (
  settings: LinkSettings,
  access: TargetAccess,
  link: LinkObject,
  secret: Secret | undefined,
): Promise<Target> =>
  withReader(access, async (reader) => {
    const { targetNamespaces, linkerdNamespace } = settings;
    const version = await reader.version();
    const { gatewayName, gatewayNamespace: recorded } = givenGateway(link);
    const gatewayNamespace = recorded || namespaceOfGateway(settings);
    const [rights, exportRights, linkerd, exports, members, gateway] = await Promise.all([
      review(reader, [...inEach(targetNamespaces, OPERATOR_READS), ...renewal(secret, access)]),
      review(reader, inEach(targetNamespaces, EXPORT_READS)),
      readLinkerd(reader, linkerdNamespace),
      readExports(reader, settings),
      readMembers(reader, settings),
      readGateway(reader, { namespace: gatewayNamespace, name: gatewayName, identity: settings.gateway?.identity }),
    ]);
    const { server, unread } = reader;
    return { server, version, rights, exportRights, linkerd, exports, members, gatewayNamespace, gateway, unread };
  });

/** A gateway's identity is that of its ServiceAccount, whose namespace is its second part. */
const namespaceOfGateway = ({ gateway }: LinkSettings): string => {
  const [, namespace] = (gateway?.identity ?? '').split('.');
  return namespace === undefined || namespace === '' ? Default.multiclusterNamespace : namespace;
};

/** Lists what a selector selects, in each of the namespaces. */
const listSelected = async <T extends KubeObject>(
  list: (namespace: string | undefined) => Promise<Read<readonly T[]>>,
  namespaces: readonly string[] | undefined,
): Promise<Read<readonly T[]>> => {
  const all: T[] = [];
  for (const namespace of namespaces ?? [undefined]) {
    const page = await list(namespace);
    if (!page.ok) return page;
    for (const each of page.value) all.push(each);
  }
  return { ok: true, value: all };
};

/** What the target exports, as far as the import policy of the Link admits it (rules N1, N2, N4). */
export const readExports = async (reader: Reader, settings: LinkSettings): Promise<Read<readonly Export[]>> => {
  const { gateway, selector, remoteDiscoverySelector, targetNamespaces } = settings;
  const policy = policyOf(settings);
  const found = new Map<string, Export>();
  // Flat mode wins where both select a Service.
  const modes = [
    ['flat', remoteDiscoverySelector],
    ['gateway', gateway && selector],
  ] as const;
  for (const [mode, selected] of modes) {
    if (selected === undefined) continue;
    const labelSelector = selected.query;
    const [services, slices] = await Promise.all([
      listSelected<GatewayService>(
        (namespace) => reader.list(SERVICES, { namespace, labelSelector }),
        targetNamespaces,
      ),
      listSelected<EndpointSlice>(
        (namespace) => reader.list(ENDPOINT_SLICES, { namespace, labelSelector }),
        targetNamespaces,
      ),
    ]);
    if (!services.ok) return services;
    if (!slices.ok) return slices;
    const byService = Map.groupBy(slices.value, serviceOfSlice);
    for (const service of services.value) {
      const { name, namespace = '' } = service.metadata;
      const key = `${namespace}/${name}`;
      if (found.has(key) || policy?.obstacleOf(service) !== undefined) continue;
      const labelled = byService.get(key);
      // Slices that were made by hand need not have the labels of their Service.
      const own =
        labelled === undefined ? await slicesOf(reader, namespace, name) : { ok: true as const, value: labelled };
      if (!own.ok) return own;
      const admitted = policy?.slicesOf(service, own.value) ?? own.value;
      found.set(key, { key, namespace, name, mode, isReady: readyEndpoints(admitted) > 0 });
    }
  }
  return { ok: true, value: [...found.values()] };
};

const policyOf = ({ importPolicy }: LinkSettings): AppliedPolicy | undefined =>
  importPolicy && new AppliedPolicy(importPolicy);

/** The slices of one Service, whatever their other labels. */
const slicesOf = (
  reader: Pick<Reader, 'list'>,
  namespace: string,
  name: string,
): Promise<Read<readonly EndpointSlice[]>> =>
  reader.list<EndpointSlice>(ENDPOINT_SLICES, { namespace, labelSelector: `${Label.serviceName}=${name}` });

/** `namespace/name` of the Service that a slice is of. */
export const serviceOfSlice = ({ metadata }: EndpointSlice): string =>
  `${metadata.namespace ?? ''}/${metadata.labels?.[Label.serviceName] ?? ''}`;

export const readyEndpoints = (slices: readonly EndpointSlice[]): number =>
  slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false).length;

/** The members, as far as the import policy of the Link admits them. */
export const readMembers = async (reader: Reader, settings: LinkSettings): Promise<Read<readonly string[]>> => {
  const { federatedServiceSelector, targetNamespaces } = settings;
  if (federatedServiceSelector === undefined) return { ok: true, value: [] };
  const labelSelector = federatedServiceSelector.query;
  const found = await listSelected<GatewayService>(
    (namespace) => reader.list(SERVICES, { namespace, labelSelector }),
    targetNamespaces,
  );
  if (!found.ok) return found;
  const policy = policyOf(settings);
  const admitted = found.value.filter((service) => policy?.obstacleOf(service) === undefined);
  return { ok: true, value: admitted.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`) };
};

/** Where the gateway of a Link is, as far as the Link says so. */
interface GatewayPlace {
  readonly namespace: string;
  /** As `linkspan link` was given it. */
  readonly name: string | undefined;
  readonly identity: string | undefined;
}

/** Reads the gateway that a Link records, or the one of its identity, before others of the namespace. */
export const readGateway = async (
  reader: Pick<Reader, 'list'>,
  { namespace, name, identity }: GatewayPlace,
): Promise<Read<TargetGateway | undefined>> => {
  const services = await reader.list<GatewayService>(SERVICES, { namespace });
  if (!services.ok) return services;
  const identityOf = ({ metadata }: GatewayService) => metadata.annotations?.[Annotation.gatewayIdentity];
  const isNamed = ({ metadata }: GatewayService): boolean => metadata.name === (name || Default.gatewayName);
  const gateways = services.value.filter((each) => identityOf(each) !== undefined);
  const alike = gateways.filter((each) => identityOf(each) === identity);
  const service = name
    ? gateways.find(isNamed)
    : [alike.find(isNamed), ...alike, gateways.find(isNamed), ...gateways].find((each) => each !== undefined);
  if (service === undefined) return { ok: true, value: undefined };
  const slices = await slicesOf(reader, namespace, service.metadata.name);
  return slices.ok ? { ok: true, value: { service, ready: readyEndpoints(slices.value) } } : slices;
};
