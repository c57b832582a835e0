/** Everything that checks judge: the source cluster, and each target through the credentials of its Link. Plain values. */
import { type FieldError, type LinkSettings, mcsCrds, readLink } from '../../../crds/index.ts';
import {
  Annotation,
  credentialsName,
  Label,
  LinkApi,
  LOCAL_WRITE_LEASE,
  OPERATOR_NAME,
  OPERATOR_LEASE,
  writeLeaseName,
} from '../../../crds/wire.ts';
import {
  ENDPOINT_SLICES,
  type Endpoints,
  ENDPOINTS,
  type EndpointSlice,
  type KubeObject,
  type Lease,
  LEASES,
  NAMESPACES,
  type Resource,
  type Secret,
  SECRETS,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { FairSemaphore } from '../../../operator/kube/semaphore.ts';
import { recordedClusters } from '../../../operator/mcs/membership.ts';
import { SERVICE_IMPORTS, type ServiceImport } from '../../../operator/mcs/objects.ts';
import { SERVICE_EXPORTS, type ServiceExport } from '../../../operator/target/read/mcs-objects.ts';
import { type CredentialsRead, readCredentials } from '../common/credentials-secret.ts';
import type { FailoverObject } from '../common/failovers.ts';
import { CRDS, DEPLOYMENTS, LINKS, PODS, SERVICE_FAILOVERS } from '../common/kinds.ts';
import type { LinkObject } from '../common/link-object.ts';
import { conditionsOf, type LinkCondition } from '../common/link-status.ts';
import { type Heartbeat, heartbeats } from './heartbeat.ts';
import { type LinkerdRead, readLinkerd } from './linkerd.ts';
import type { Crd, Deployment, Pod } from './objects.ts';
import { type AskedByLinks, operatorConfig, operatorRights } from './operator-rights.ts';
import type { Read, Reader, Unread } from './reader.ts';
import { type DestinationAccess, type Granted, readDestination, readTarget, type Target } from './target.ts';

/** What the user asks about. */
export interface Scope {
  /** Path of the kubeconfig, as it was given. @default - none was given */
  readonly kubeconfig?: string | undefined;
  /** Name of the source's context. */
  readonly context: string;
  readonly namespace: string;
  readonly linkerdNamespace: string;
  /** The only Link to check; undefined for all. */
  readonly link: string | undefined;
  /** Version of this command line. */
  readonly version: string;
}

/** One Link, and all that is known of it. */
export interface LinkFacts {
  /** As in `Link linkerd-multicluster/west`. */
  readonly title: string;
  readonly name: string;
  readonly namespace: string;
  readonly object: LinkObject;
  /** `spec.targetClusterName`; empty if there is none. */
  readonly cluster: string;
  readonly settings: LinkSettings | undefined;
  readonly errors: readonly FieldError[];
  /** By type; undefined if none is stored. */
  readonly conditions: ReadonlyMap<string, LinkCondition> | undefined;
  /** Name of the Secret. */
  readonly secretName: string;
  readonly credentials: Read<CredentialsRead> | undefined;
  /** Undefined if it has no credentials to be read with. */
  readonly target: Target | undefined;
  /** The copy of the credentials for Linkerd's destination controller. */
  readonly destination: Read<Secret | undefined> | undefined;
  readonly destinationAccess: DestinationAccess | undefined;
}

/** What there is of the MCS API in the source. */
export interface McsFacts {
  /** Whether the operator that is installed imports by it; undefined if no operator is known whose settings say so. */
  readonly isServed: boolean | undefined;
  /** Those of its CRDs that there are, by name. */
  readonly crds: ReadonlyMap<string, Crd>;
}

export interface Survey extends Scope {
  readonly now: Date;
  readonly server: string;
  readonly kubernetes: Read<string>;
  /** What could not be read of the source. */
  readonly unread: readonly Unread[];
  readonly extensionNamespace: Read<KubeObject | undefined>;
  readonly linkerd: LinkerdRead;
  readonly crd: Read<Crd | undefined>;
  readonly mcs: Read<McsFacts>;
  /** Who may come through the gateway, as the operator that is installed has it; undefined if that is not known. */
  readonly gatewayAccess: OperatorConfig['gatewayAccess'];
  /** Whether the operator that is installed serves ServiceFailovers; undefined if no settings of one are known. */
  readonly servesFailovers: boolean | undefined;
  /** Undefined if the API server does not serve them. The same holds of the next two. */
  readonly serviceImports: Read<readonly ServiceImport[] | undefined>;
  readonly serviceExports: Read<readonly ServiceExport[] | undefined>;
  readonly failovers: Read<readonly FailoverObject[] | undefined>;
  /** Those that are asked about. */
  readonly links: Read<readonly LinkFacts[]>;
  /** All that may be read of the source, also those that are not asked about. */
  readonly allLinks: Read<readonly LinkObject[]>;
  /** Whether `allLinks` has the Links of all namespaces, and not of the extension's alone. */
  readonly areLinksOfAllNamespaces: boolean;
  readonly deployments: Read<readonly Deployment[]>;
  readonly pods: Read<readonly Pod[]>;
  /** By name of the Lease. */
  readonly heartbeats: Read<ReadonlyMap<string, Heartbeat>>;
  /** The rights of the operator's account; undefined if nobody is known to ask for. */
  readonly operatorRights: Read<readonly Granted[]> | undefined;
  readonly mirrors: Read<readonly Service[]>;
  readonly endpoints: Read<readonly Endpoints[]>;
  readonly slices: Read<readonly EndpointSlice[]>;
}

/** Targets that are read at once. */
const TARGETS_AT_ONCE = 8;

/** Reads everything. */
export const survey = async (reader: Reader, scope: Scope): Promise<Survey> => {
  const { namespace, linkerdNamespace } = scope;
  const now = new Date();
  const kubernetes = await reader.version();
  const joint = jointObjects(reader);
  const [extensionNamespace, linkerd, crd, mcs, deployments, pods, leases, found, mirrors, endpoints, slices] =
    await Promise.all([
      reader.find(NAMESPACES, namespace),
      readLinkerd(reader, linkerdNamespace),
      reader.find<Crd>(CRDS, LinkApi.crd),
      readMcsCrds(reader),
      reader.list<Deployment>(DEPLOYMENTS, { namespace }),
      reader.list<Pod>(PODS, { namespace }),
      reader.list<Lease>(LEASES, { namespace }),
      listLinks(reader, namespace),
      readMirrors(reader),
      reader.list<Endpoints>(ENDPOINTS, { labelSelector: Label.mirroredService }),
      reader.list<EndpointSlice>(ENDPOINT_SLICES, { labelSelector: Label.mirroredService }),
    ]);
  const { allLinks } = found;
  const asked = allLinks.ok
    ? allLinks.value.filter(({ metadata }) => scope.link === undefined || isNamed(metadata, scope))
    : [];
  const turns = new FairSemaphore(TARGETS_AT_ONCE);
  const [links, beats] = await Promise.all([
    Promise.all(asked.map((link) => turns.run('', undefined, () => linkFacts(reader, link, scope)))),
    leases.ok ? heartbeats(reader, leases.value.filter(isOfLinks(asked)), now.getTime()) : undefined,
  ]);
  const operator = deployments.ok ? deployments.value.find(isOperator) : undefined;
  const read = await joint;
  const config = operatorConfig(operator);
  const imports = config?.serviceImports === true && read.serviceImports.ok ? read.serviceImports.value : undefined;
  const rights = await operatorRights(reader, operator, askedBy(links, imports ?? [], namespace));
  return {
    ...scope,
    ...read,
    ...found,
    now,
    server: reader.server,
    kubernetes,
    unread: reader.unread,
    extensionNamespace,
    linkerd,
    crd,
    gatewayAccess: config?.gatewayAccess,
    servesFailovers: config?.failover,
    mcs: mcs.ok ? { ok: true, value: { isServed: config?.serviceImports, crds: mcs.value } } : mcs,
    links: allLinks.ok ? { ok: true, value: links } : allLinks,
    deployments,
    pods,
    heartbeats: leases.ok ? { ok: true, value: beats ?? new Map() } : leases,
    operatorRights: rights,
    mirrors,
    endpoints,
    slices,
  };
};

/** What is not of one Link: it is read in all namespaces, if the API server serves it. */
const jointObjects = async (
  reader: Reader,
): Promise<Pick<Survey, 'serviceImports' | 'serviceExports' | 'failovers'>> => {
  const [serviceImports, serviceExports, failovers] = await Promise.all([
    listServed<ServiceImport>(reader, SERVICE_IMPORTS),
    listServed<ServiceExport>(reader, SERVICE_EXPORTS),
    listServed<FailoverObject>(reader, SERVICE_FAILOVERS),
  ]);
  return { serviceImports, serviceExports, failovers };
};

/** Lists a resource; undefined if it is not served: who may not read it would be refused all the same. */
const listServed = async <T extends KubeObject>(
  reader: Reader,
  of: Resource,
): Promise<Read<readonly T[] | undefined>> => {
  const served = await reader.serves(of);
  if (!served.ok) return served;
  return served.value ? reader.list<T>(of) : { ok: true, value: undefined };
};

/** Whether a Service of the target is to join a federated Service on a flat network. */
export const hasFlatMembers = ({ settings, target }: LinkFacts): boolean =>
  settings?.federation === 'flat' && target?.members.ok === true && target.members.value.length > 0;

/**
 * What the operator in a namespace needs for its Links.
 * @param imports ServiceImports of any operator. A headless one needs no credentials of Linkerd
 */
export const askedBy = (
  links: readonly LinkFacts[],
  imports: readonly ServiceImport[],
  namespace: string,
): AskedByLinks => {
  const own = links.filter((link) => link.namespace === namespace);
  const imported = new Set(
    imports.flatMap((live) => {
      const { name, annotations = {} } = live.metadata;
      const isOwn = (annotations[Annotation.operator] ?? namespace) === namespace;
      return isOwn && Annotation.derivedService in annotations ? recordedClusters({ name, live }) : [];
    }),
  );
  const importsFlat = ({ settings, cluster }: LinkFacts): boolean =>
    settings?.importsThrough === 'flat' && settings.serviceExports && imported.has(cluster);
  return {
    flat: own.some((link) => hasFlatMembers(link) || importsFlat(link)),
    createsNamespaces: own.some(({ settings }) => settings?.enableNamespaceCreation === true),
  };
};

const isNamed = ({ namespace, name }: LinkObject['metadata'], scope: Scope): boolean =>
  name === scope.link && namespace === scope.namespace;

export const isOperator = ({ metadata }: Deployment): boolean => metadata.name === OPERATOR_NAME;

const isOfLinks =
  (links: readonly LinkObject[]) =>
  ({ metadata }: Lease): boolean =>
    [OPERATOR_LEASE, LOCAL_WRITE_LEASE].includes(metadata.name) ||
    links.some((link) => writeLeaseName(link.metadata.name) === metadata.name);

/** Those of the CRDs of the MCS API that there are, by name. */
const readMcsCrds = async (reader: Reader): Promise<Read<ReadonlyMap<string, Crd>>> => {
  const crds = new Map<string, Crd>();
  for (const { metadata } of mcsCrds) {
    const found = await reader.find<Crd>(CRDS, metadata.name);
    if (!found.ok) return found;
    if (found.value !== undefined) crds.set(metadata.name, found.value);
  }
  return { ok: true, value: crds };
};

/** The Links of all namespaces; those of the extension's where no more may be read. */
const listLinks = async (
  reader: Reader,
  namespace: string,
): Promise<Pick<Survey, 'allLinks' | 'areLinksOfAllNamespaces'>> => {
  const right = await reader.may({ verb: 'list', group: LinkApi.group, resource: LinkApi.plural });
  const areLinksOfAllNamespaces = right.ok && right.value;
  const allLinks = await reader.list<LinkObject>(LINKS, areLinksOfAllNamespaces ? {} : { namespace });
  return { allLinks, areLinksOfAllNamespaces };
};

/** Mirrors and probe Services. */
const readMirrors = async (reader: Reader): Promise<Read<readonly Service[]>> => {
  const [mirrors, probes] = await Promise.all([
    reader.list<Service>(SERVICES, { labelSelector: Label.mirroredService }),
    reader.list<Service>(SERVICES, { labelSelector: Label.mirroredGateway }),
  ]);
  if (!mirrors.ok) return mirrors;
  return probes.ok ? { ok: true, value: [...mirrors.value, ...probes.value] } : probes;
};

const linkFacts = async (reader: Reader, object: LinkObject, scope: Scope): Promise<LinkFacts> => {
  const { name, namespace = '' } = object.metadata;
  const checked = readLink(object);
  const settings = checked.ok ? checked.value : undefined;
  const cluster = textOf(object.spec?.targetClusterName) ?? '';
  const secretName = settings?.credentialsSecret ?? credentialsName(cluster);
  const [secret, destination] =
    settings === undefined
      ? []
      : await Promise.all([
          reader.find<Secret>(SECRETS, secretName, namespace),
          reader.find<Secret>(SECRETS, credentialsName(cluster), scope.linkerdNamespace),
        ]);
  const credentials = secret && (secret.ok ? { ok: true as const, value: readCredentials(secret.value) } : secret);
  const own = credentials?.ok === true && credentials.value.ok ? credentials.value.access : undefined;
  const copy = destination?.ok === true ? readCredentials(destination.value) : undefined;
  const [target, destinationAccess] = await Promise.all([
    settings && own && readTarget(settings, own, object, secret?.ok ? secret.value : undefined),
    copy?.ok === true ? readDestination(copy.access) : undefined,
  ]);
  return {
    title: `Link ${namespace}/${name}`,
    name,
    namespace,
    object,
    cluster,
    settings,
    errors: checked.ok ? [] : checked.errors,
    conditions: byType(conditionsOf(object)),
    secretName,
    credentials,
    target,
    destination,
    destinationAccess,
  };
};

/** Conditions by type; undefined if there are none. */
const byType = (conditions: readonly LinkCondition[]): ReadonlyMap<string, LinkCondition> | undefined =>
  conditions.length === 0 ? undefined : new Map(conditions.map((each) => [each.type, each]));

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
