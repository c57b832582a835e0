/**
 * Reads which Services of this cluster other clusters may reach through its gateway (rules M3 to M5): the host names of
 * each exported Service, and the clients that may request them. Pure.
 */
import { type Client, type Clients, readClients } from '../../crds/clients.ts';
import type { FieldError } from '../../crds/field-error.ts';
import { Annotation, meshIdentity, remoteFqName } from '../../crds/wire.ts';
import { keyOf, type KubeObject, type Service } from '../kube/objects.ts';
import { isOpaque } from '../source/opaque-ports.ts';
import { isExportedHere } from '../source/owner.ts';

/** Setting that decides which clients may reach which exports: rule M2. */
export type GatewayAccess = 'open' | 'exported' | 'clients';
/** Setting that decides who may open opaque connections, which Linkerd does not look into: rule M5. */
export type GatewayTcp = 'none' | 'meshed' | 'clients';

/** Meshed identities: `*` for all, or a sorted list. */
export type Identities = '*' | readonly string[];

/** A Service that other clusters may reach. */
export interface Export {
  /** `namespace/name` of the Service. */
  readonly key: string;
  /** Host names that clients request: the name of the Service, and a wildcard for the pods of a headless Service. */
  readonly hosts: readonly string[];
  /** Clients that may reach the Service; an empty list stands for nobody. */
  readonly identities: Identities;
  /** Ports whose connections Linkerd does not look into. */
  readonly opaquePorts: readonly number[];
  /** Errors in the annotations that name the clients. If there are any, nobody may reach the Service. */
  readonly errors: readonly FieldError[];
}

/** Names from which the identities of clients and the host names of exports are built. */
export interface AccessNames {
  readonly clusterDomain: string;
  /** Namespace of Linkerd's control plane, here and in the clusters of clients. */
  readonly controlPlaneNamespace: string;
  /** Trust domain of clients that are named without one. */
  readonly trustDomain: string;
}

/**
 * Yields the exports among some Services: by their labels, or by ServiceExports.
 * @param serviceExports all ServiceExports, by key
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
    // A Service of type ExternalName is a name for another host, and has no pods here.
    if (isExported && service.spec?.type !== 'ExternalName') yield readExport(service, serviceExport, mode, names);
  }
}

/**
 * Reads one export.
 * @param serviceExport the ServiceExport of the Service; undefined if the Service is exported by its labels alone
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

/** Returns the clients that any of these objects names by its annotation. */
function namedClients(objects: readonly (KubeObject | undefined)[], mode: GatewayAccess) {
  const texts = objects.flatMap((each) => each?.metadata.annotations?.[Annotation.clients] ?? []);
  const read = texts.map(readClients);
  const errors = read.flatMap((each) => (each.ok ? [] : each.errors));
  // An error admits nobody: a misspelt name may stand for the only client that was to be admitted.
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

/** Returns the identities that any of these lists names. */
export const unionOf = (all: readonly Identities[]): Identities =>
  all.includes('*') ? '*' : [...new Set(all.flatMap((each) => each))].sort();

/** Returns the identities that both lists name. */
export function bothOf(a: Identities, b: Identities): Identities {
  if (a === '*') return b;
  return b === '*' ? a : a.filter((each) => b.includes(each));
}
