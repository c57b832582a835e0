/**
 * Reads the export of one cluster under a name, or finds out why the export is not valid. Data of other clusters is not
 * trusted: it is validated as an API server would validate it, and its size is limited. Pure.
 */
import type { ImportPort, ImportType } from '../../constructs/rendered/index.ts';
import { MAX_ANNOTATIONS_BYTES, renderOf, ServiceImport } from '../../constructs/rendered/index.ts';
import { isAnnotationKey, isLabelKey, isLabelValue } from '../../crds/names.ts';
import { Annotation } from '../../crds/wire.ts';
import { describe } from '../kube/errors.ts';
import type { IpFamily, Service } from '../kube/objects.ts';
import { isMirrorItself } from '../mirror/shape.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';

/** Maximum number of ports of an export, and of a ServiceImport. */
export const MAX_PORTS = 100;
/** Maximum number of exported labels, and of exported annotations. */
const MAX_METADATA = 64;
/** Longest value of an annotation, in characters. An annotation with a longer value is ignored. */
const MAX_ANNOTATION = 4_096;
/** Longest `trafficDistribution` of a Service, in characters. A longer value is ignored. */
const MAX_TEXT = 128;

/** A valid export of one cluster. */
export interface ExportedService {
  /** Id of the cluster. */
  readonly cluster: string;
  /**
   * Creation time of the ServiceExport, in milliseconds since 1970; Infinity if it cannot be parsed. A target could
   * claim a time in the distant past, so a time before the creation of the cluster's Link counts as the time of that
   * creation (rule K2).
   */
  readonly createdAt: number;
  /** Uid of the ServiceExport. */
  readonly uid: string;
  readonly type: ImportType;
  readonly ports: readonly ImportPort[];
  /** IP families in the order of the Service. */
  readonly ipFamilies: readonly IpFamily[];
  readonly sessionAffinity: 'ClientIP' | 'None';
  /**
   * Duration of a session, in seconds; undefined if the session affinity is not `ClientIP`, or if the Service sets no
   * valid duration.
   */
  readonly sessionAffinitySeconds: number | undefined;
  readonly internalTrafficPolicy: 'Cluster' | 'Local' | undefined;
  readonly trafficDistribution: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /**
   * Value of the annotation `config.linkerd.io/opaque-ports` of the Service. KEP-1645 does not export this annotation,
   * but Linkerd's proxies need it on the derived Service (rule B3).
   */
  readonly opaquePorts: string | undefined;
}

/** Why an export is not valid: reason and message of its condition `Valid`. */
export interface InvalidExport {
  readonly reason: 'NoService' | 'InvalidServiceType' | 'InvalidService';
  readonly message: string;
}

/** Result of reading an export. */
export type ReadExport =
  | { readonly valid: true; readonly value: ExportedService }
  | { readonly valid: false; readonly invalid: InvalidExport };

/**
 * Reads the export of a cluster.
 * @param cluster id of the cluster
 * @param linkedAt when the Link of the cluster was created, RFC 3339; undefined for the local cluster
 */
export function readExport(
  cluster: string,
  { metadata, spec }: ServiceExport,
  service: Service | undefined,
  linkedAt?: string,
): ReadExport {
  const invalid = invalidExport(metadata, service);
  if (service === undefined || invalid !== undefined) return { valid: false, invalid: invalid ?? noService(metadata) };
  const { clusterIP, sessionAffinity, internalTrafficPolicy, trafficDistribution } = fieldsOf(service);
  const isSticky = sessionAffinity === 'ClientIP';
  return {
    valid: true,
    value: {
      cluster,
      createdAt: Math.max(timeOf(metadata.creationTimestamp), linkedAt === undefined ? 0 : timeOf(linkedAt)),
      uid: metadata.uid ?? '',
      type: clusterIP === 'None' ? 'Headless' : 'ClusterSetIP',
      ports: portsOf(service),
      ipFamilies: familiesOf(service),
      sessionAffinity: isSticky ? 'ClientIP' : 'None',
      sessionAffinitySeconds: isSticky ? secondsOf(service) : undefined,
      internalTrafficPolicy: oneOf(internalTrafficPolicy, 'Cluster', 'Local'),
      trafficDistribution: textOf(trafficDistribution),
      labels: metadataOf(spec?.exportedLabels, (key, value) => isLabelKey(key) && isLabelValue(value)),
      annotations: metadataOf(
        spec?.exportedAnnotations,
        (key, value) => isAnnotationKey(key) && value.length <= MAX_ANNOTATION,
      ),
      opaquePorts: textOf(service.metadata.annotations?.[Annotation.opaquePorts], MAX_ANNOTATION),
    },
  };
}

type ExportMetadata = ServiceExport['metadata'];

const noService = ({ namespace = '', name }: ExportMetadata): InvalidExport => ({
  reason: 'NoService',
  message: `Service ${namespace}/${name} does not exist; create it, or delete the ServiceExport`,
});

const invalidExport = (metadata: ExportMetadata, service: Service | undefined): InvalidExport | undefined =>
  service === undefined ? noService(metadata) : (invalidShape(service) ?? invalidPorts(service));

/**
 * Returns why a Service cannot be exported because of its type, its origin or the number of its ports; undefined if it
 * can. Single ports are not checked.
 */
export function invalidShape(service: Service): InvalidExport | undefined {
  const invalid = (reason: InvalidExport['reason'], message: string): InvalidExport => ({ reason, message });
  if (service.spec?.type === 'ExternalName')
    return invalid(
      'InvalidServiceType',
      'a Service of type ExternalName has no endpoints; export the Service that it stands for',
    );
  if (isMirrorItself(service))
    return invalid(
      'InvalidServiceType',
      'the Service stands for Services of other clusters; let these clusters export them',
    );
  const ports = service.spec?.ports ?? [];
  return ports.length > MAX_PORTS
    ? invalid('InvalidService', `the Service has ${ports.length} ports, and at most ${MAX_PORTS} are exported`)
    : undefined;
}

/**
 * Returns why an API server would refuse the ports of a Service; undefined if an API server would accept them. Other
 * clusters are not trusted to send valid ports.
 */
function invalidPorts(service: Service): InvalidExport | undefined {
  const type = service.spec?.clusterIP === 'None' ? 'Headless' : 'ClusterSetIP';
  try {
    renderOf(ServiceImport, { service: 'web', namespace: 'default', type, ports: portsOf(service) });
    return undefined;
  } catch (error) {
    return { reason: 'InvalidService', message: describe(error) };
  }
}

/** Fields of a Service's spec that the type `Service` does not have. */
interface MoreFields {
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: unknown } | null } | null;
  readonly trafficDistribution?: unknown;
}

const fieldsOf = ({ spec }: Service): NonNullable<Service['spec']> & MoreFields => spec ?? {};

const portsOf = ({ spec }: Service): readonly ImportPort[] =>
  (spec?.ports ?? []).map(
    ({ name, protocol, port, appProtocol }) => ({ name, protocol: protocol ?? 'TCP', port, appProtocol }) as ImportPort,
  );

const familiesOf = ({ spec }: Service): readonly IpFamily[] => [
  ...new Set((spec?.ipFamilies ?? []).filter((each) => each === 'IPv4' || each === 'IPv6')),
];

/** Longest session that the API server allows for Services, in seconds. */
const MAX_SESSION_SECONDS = 86_400;

function secondsOf(service: Service): number | undefined {
  const seconds = fieldsOf(service).sessionAffinityConfig?.clientIP?.timeoutSeconds;
  return Number.isInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= MAX_SESSION_SECONDS
    ? Number(seconds)
    : undefined;
}

function timeOf(text: string | undefined): number {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? Infinity : time;
}

const oneOf = <const T extends string>(text: unknown, ...words: readonly T[]): T | undefined =>
  words.find((word) => word === text);

const textOf = (text: unknown, max = MAX_TEXT): string | undefined =>
  typeof text === 'string' && text !== '' && text.length <= max ? text : undefined;

/**
 * Returns the valid entries of exported labels or annotations, sorted by key. At most {@link MAX_METADATA} entries are
 * returned, and all their keys and values together have at most {@link MAX_ANNOTATIONS_BYTES} bytes. If the valid
 * entries exceed a limit, those that come last by key are left out.
 */
function metadataOf(
  given: unknown,
  isValid: (key: string, value: string) => boolean,
): Readonly<Record<string, string>> {
  if (typeof given !== 'object' || given === null) return {};
  const valid = Object.entries(given).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && isValid(entry[0], entry[1]),
  );
  let bytes = 0;
  const fits = ([key, value]: readonly [string, string]): boolean =>
    (bytes += Buffer.byteLength(key + value)) <= MAX_ANNOTATIONS_BYTES;
  // The first entries by key are taken, so that the choice depends on the entries alone.
  const first = valid.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_METADATA);
  return Object.fromEntries(first.filter(fits));
}
