/**
 * What of this cluster other clusters may reach through its gateway (rules M3 to M5): the host names of each Service
 * that is exported, and who may ask for them. Pure.
 */
import { type Client, type Clients, readClients } from '../../crds/clients.ts';
import type { FieldError } from '../../crds/field-error.ts';
import { Annotation, meshIdentity, remoteFqName } from '../../crds/wire.ts';
import { keyOf, type KubeObject, type Service } from '../kube/objects.ts';
import { isOpaque } from '../source/opaque-ports.ts';
import { isExportedHere } from '../source/owner.ts';

/** Which exports are open to whom: rule M2. */
export type GatewayAccess = 'open' | 'exported' | 'clients';
/** Who may open connections that Linkerd does not look into: rule M5. */
export type GatewayTcp = 'none' | 'meshed' | 'clients';

/** Meshed identities: all, or those that are listed, sorted. */
export type Identities = '*' | readonly string[];

/** A Service that other clusters may reach. */
export interface Export {
  /** `namespace/name` of the Service. */
  readonly key: string;
  /** What the gateway is asked for: the name of the Service, and a wildcard for the pods of a headless one. */
  readonly hosts: readonly string[];
  /** Who may; an empty list: nobody. */
  readonly identities: Identities;
  /** Ports whose connections Linkerd does not look into. */
  readonly opaquePorts: readonly number[];
  /** What is wrong with the clients that it names; then nobody may reach it. */
  readonly errors: readonly FieldError[];
}

/** What identities and host names are made of in this cluster. */
export interface AccessNames {
  readonly clusterDomain: string;
  /** Namespace of Linkerd's control plane, here and in the clusters of clients. */
  readonly controlPlaneNamespace: string;
  /** Trust domain of clients that name none. */
  readonly trustDomain: string;
}

/**
 * Reads all exports among these Services: by their labels, or by ServiceExports.
 * @param serviceExports by key
 */
export function* readExports(
  services: Iterable<Service>,
  serviceExports: ReadonlyMap<string, KubeObject>,
  mode: GatewayAccess,
  names: AccessNames,
): Generator<Export> {
  for (const service of services) {
    const serviceExport = serviceExports.get(keyOf(service));
    const isExported = serviceExport !== undefined || isExportedHere(service);
    // A name for another host has no pods here.
    if (isExported && service.spec?.type !== 'ExternalName') yield readExport(service, serviceExport, mode, names);
  }
}

/**
 * Reads one export.
 * @param serviceExport its ServiceExport; undefined if it is exported by its labels alone
 */
function readExport(
  service: Service,
  serviceExport: KubeObject | undefined,
  mode: GatewayAccess,
  names: AccessNames,
): Export {
  const { name, namespace = '' } = service.metadata;
  const host = remoteFqName(name, namespace, names.clusterDomain);
  const { clients, errors } = namedClients([service, serviceExport], mode);
  return {
    key: keyOf(service),
    hosts: service.spec?.clusterIP === 'None' ? [host, `*.${host}`] : [host],
    identities: clients === 'everyone' ? '*' : identitiesOf(clients, names),
    opaquePorts: opaquePortsOf(service),
    errors,
  };
}

/** Who is named by any of these objects; those who are named by both, once. */
function namedClients(objects: readonly (KubeObject | undefined)[], mode: GatewayAccess) {
  const texts = objects.flatMap((each) => each?.metadata.annotations?.[Annotation.clients] ?? []);
  const read = texts.map(readClients);
  const errors = read.flatMap((each) => (each.ok ? [] : each.errors));
  // Nobody but who is meant: a client that is misspelt may be the only one that others were to be kept out for.
  if (errors.length > 0) return { clients: [], errors };
  if (texts.length === 0) return { clients: mode === 'clients' ? [] : ('everyone' as const), errors };
  const named: readonly Clients[] = read.flatMap((each) => (each.ok ? [each.value] : []));
  const all = named.includes('everyone') ? ('everyone' as const) : named.flatMap((each) => each as readonly Client[]);
  return { clients: all, errors };
}

const identitiesOf = (clients: readonly Client[], names: AccessNames): readonly string[] => {
  const { controlPlaneNamespace, trustDomain: own } = names;
  const all = clients.map(({ namespace, serviceAccount, trustDomain = own }) =>
    meshIdentity(serviceAccount, namespace, controlPlaneNamespace, trustDomain),
  );
  return [...new Set(all)].sort();
};

const opaquePortsOf = (service: Service): readonly number[] =>
  (service.spec?.ports ?? [])
    .filter((port) => (port.protocol ?? 'TCP') === 'TCP' && isOpaque(service, port))
    .map(({ port }) => port);

/** Everyone whom any of these lists names. */
export const unionOf = (all: readonly Identities[]): Identities =>
  all.includes('*') ? '*' : [...new Set(all.flatMap((each) => each))].sort();

/** Everyone whom both of these lists name. */
export function bothOf(a: Identities, b: Identities): Identities {
  if (a === '*') return b;
  return b === '*' ? a : a.filter((each) => b.includes(each));
}
