/**
 * The settings of a Link: its fields parsed, defaulted and checked, with all errors reported at once (rule E7). No other
 * code reads the spec of a Link.
 */
import { type GatewaySettings, type ProbeSettings, readGateway, readProbe } from './gateway-settings.ts';
import { type ImportPolicy, readImportPolicy } from './import-policy.ts';
import { LINK_SPEC_SCHEMA } from './schema.ts';
import type { Link, LinkSpec } from './types.gen.ts';
import { isDnsLabel, isDnsSubdomain, SUBDOMAIN_MAX_LENGTH } from '../names.ts';
import { type Selector, parseSelector } from '../selector.ts';
import { type Checked, type FieldError, type Report, fieldError } from '../field-error.ts';
import { compile } from '../validate.ts';
import { Annotation, Default, credentialsName, writeLeaseName } from '../wire.ts';

/** A Link, read. Fields that the API server sets are `''` or 0 in a manifest that was never applied. */
export interface LinkSettings {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly generation: number;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Name of the target cluster: a DNS label. */
  readonly cluster: string;
  /** DNS domain of the target cluster. */
  readonly clusterDomain: string;
  /** Namespace of Linkerd's control plane on the target cluster. */
  readonly linkerdNamespace: string;
  /** Name of the Secret with the target's kubeconfig, in the Link's namespace. */
  readonly credentialsSecret: string;
  /** The only namespaces of the target that are read; absent for all. At least one, each once. */
  readonly targetNamespaces?: readonly string[];
  /** What is taken of what the target exports; absent for all (rule N1). */
  readonly importPolicy?: ImportPolicy;
  /** Absent if there is no gateway. */
  readonly gateway?: GatewaySettings;
  /** Absent if there is no gateway, or one that is not probed. */
  readonly probe?: ProbeSettings;
  /** Services mirrored in gateway mode; absent for none. Without `gateway` there is nothing to mirror them through. */
  readonly selector?: Selector;
  /** Services mirrored in flat mode; absent for none. */
  readonly remoteDiscoverySelector?: Selector;
  /** Members of federated Services; absent for none. */
  readonly federatedServiceSelector?: Selector;
  /** How members of federated Services are reached: through the gateway of the target, or on a flat network. */
  readonly federation: 'gateway' | 'flat';
  /** Whether ServiceExports of the target are read (rule K1). */
  readonly serviceExports: boolean;
  /** How what they export is reached: as `federation` says; if the Link does not say, through its gateway, if it has one. */
  readonly importsThrough: 'gateway' | 'flat';
  /** Labels not to copy: keys, or `prefix/*`. */
  readonly excludedLabels: readonly string[];
  /** Annotations not to copy: keys, or `prefix/*`. */
  readonly excludedAnnotations: readonly string[];
  /** Absent for the operator's default. */
  readonly enableHeadlessServices?: boolean;
  /** Absent for the operator's default. */
  readonly enableNamespaceCreation?: boolean;
  /** The mass deletion that the user has confirmed, as the status names it (rule E6). Any other text confirms nothing. */
  readonly confirmPrune?: string;
}

const checkTypes = compile<LinkSpec>(LINK_SPEC_SCHEMA, { root: 'spec' });

/** Reads a Link of any version, or a manifest of one. Only `spec` and the name can be wrong. */
export const readLink = (object: unknown): Checked<LinkSettings> => {
  const link = (object ?? {}) as { readonly [Field in keyof Link]: Link[Field] | null };
  const metadata = link.metadata ?? {};
  const spec = link.spec ?? {};
  const types = checkTypes(spec);
  const errors: FieldError[] = types.ok ? [] : [...types.errors];
  // A field of the wrong type has its error by now, and is read as absent below: one error is enough.
  const mistyped: ReadonlySet<string> = new Set(errors.map(({ path }) => path));
  if (mistyped.has('spec')) return { ok: false, errors };
  const report: Report = (error) => {
    if (!mistyped.has(error.path)) errors.push(error);
  };

  const tooLong = writeLeaseName(metadata.name ?? '').length - SUBDOMAIN_MAX_LENGTH;
  if (tooLong > 0) {
    const remedy = `give the Link a name that is ${tooLong} characters shorter`;
    report(fieldError('metadata.name', metadata.name, 'must make a valid name for the Lease of the Link', remedy));
  }
  const cluster = readName(spec, 'targetClusterName', undefined, report);
  const clusterDomain = readName(spec, 'targetClusterDomain', Default.clusterDomain, report);
  const linkerdNamespace = readName(spec, 'targetClusterLinkerdNamespace', Default.controlPlaneNamespace, report);
  const credentialsSecret = readName(spec, 'clusterCredentialsSecret', credentialsName(cluster), report);
  const targetNamespaces = readNamespaces(spec, report);
  const importPolicy = readImportPolicy(spec, metadata.name ?? '', report);
  const gateway = readGateway(spec, report);
  const probe = gateway && readProbe(spec, metadata.name ?? '', report);
  const selector = readSelector(spec, 'selector', report);
  const remoteDiscoverySelector = readSelector(spec, 'remoteDiscoverySelector', report);
  const federatedServiceSelector = readSelector(spec, 'federatedServiceSelector', report);
  if (errors.length > 0) return { ok: false, errors };

  const confirmPrune = metadata.annotations?.[Annotation.confirmPrune];
  return {
    ok: true,
    value: {
      name: metadata.name ?? '',
      namespace: metadata.namespace ?? '',
      uid: metadata.uid ?? '',
      generation: metadata.generation ?? 0,
      createdAt: metadata.creationTimestamp ?? '',
      cluster,
      clusterDomain,
      linkerdNamespace,
      credentialsSecret,
      ...(targetNamespaces && { targetNamespaces }),
      ...(importPolicy && { importPolicy }),
      ...(gateway && { gateway }),
      ...(probe && { probe }),
      ...(selector && { selector }),
      ...(remoteDiscoverySelector && { remoteDiscoverySelector }),
      ...(federatedServiceSelector && { federatedServiceSelector }),
      federation: spec.federation ?? 'flat',
      serviceExports: spec.serviceExports ?? true,
      importsThrough: spec.federation ?? (gateway === undefined ? 'flat' : 'gateway'),
      excludedLabels: spec.excludedLabels ?? [],
      excludedAnnotations: spec.excludedAnnotations ?? [],
      ...(spec.enableHeadlessServices !== undefined && { enableHeadlessServices: spec.enableHeadlessServices }),
      ...(spec.enableNamespaceCreation !== undefined && { enableNamespaceCreation: spec.enableNamespaceCreation }),
      ...(confirmPrune !== undefined && { confirmPrune }),
    },
  };
};

const LABEL_REMEDY = 'write at most 63 lower-case letters, digits and -, a letter or digit first and last';
const SUBDOMAIN_REMEDY = 'write lower-case letters, digits, - and ., a letter or digit first and last';

/** The rule that each name in a Link obeys. */
const NAMES = {
  targetClusterName: { accepts: isDnsLabel, reason: 'must be a valid DNS label', remedy: LABEL_REMEDY },
  targetClusterDomain: { accepts: isDnsSubdomain, reason: 'must be a valid DNS subdomain', remedy: SUBDOMAIN_REMEDY },
  targetClusterLinkerdNamespace: { accepts: isDnsLabel, reason: 'must be a valid DNS label', remedy: LABEL_REMEDY },
  clusterCredentialsSecret: {
    accepts: isDnsSubdomain,
    reason: 'must be a valid DNS subdomain',
    remedy: SUBDOMAIN_REMEDY,
  },
} as const;

/** A name; where it is absent or empty its default, without which it is required. */
const readName = (spec: LinkSpec, field: keyof typeof NAMES, fallback: string | undefined, report: Report): string => {
  const { accepts, reason, remedy } = NAMES[field];
  const written = spec[field];
  if (typeof written === 'string' && written !== '') {
    if (!accepts(written)) report(fieldError(`spec.${field}`, written, reason, remedy));
    return written;
  }
  if (fallback === undefined) report(fieldError(`spec.${field}`, written, 'is required', remedy));
  return fallback ?? '';
};

/** Namespaces to read; absent for all. */
const readNamespaces = (spec: LinkSpec, report: Report): readonly string[] | undefined => {
  const path = 'spec.targetNamespaces';
  const names: unknown = spec.targetNamespaces;
  if (!Array.isArray(names)) return undefined;
  if (names.length === 0) {
    report(fieldError(path, names, 'must not be empty', 'name namespaces, or leave it out for all'));
  }
  for (const [index, name] of names.entries()) {
    const at = `${path}[${index}]`;
    if (!isDnsLabel(String(name))) report(fieldError(at, name, 'must be a valid DNS label', LABEL_REMEDY));
    else if (names.indexOf(name) < index) report(fieldError(at, name, 'must be unique', 'name it once'));
  }
  return names.map(String);
};

type SelectorField = 'selector' | 'remoteDiscoverySelector' | 'federatedServiceSelector';

const readSelector = (spec: LinkSpec, field: SelectorField, report: Report): Selector | undefined => {
  const selector = parseSelector(spec[field], `spec.${field}`);
  if (selector.ok) return selector.value;
  selector.errors.forEach(report);
  return undefined;
};
