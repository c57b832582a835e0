/**
 * The validation that the operator can run into, for built-in kinds: names, labels, Services and the addresses of
 * endpoints. Each refusal names the field and is worded as kube-apiserver words it.
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { KubeObject } from '../storage/object.ts';
import { sameJson } from '../storage/object.ts';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooMany,
  type FieldError,
} from '../storage/status.ts';

type Validation = (object: KubeObject, old: KubeObject | undefined) => readonly FieldError[];

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const TOO_LONG_63 = 'must be no more than 63 characters';
const BAD_LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const BAD_SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const BAD_NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const BAD_LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const label = (field: string, name: string): readonly FieldError[] => [
  ...(name.length > 63 ? [invalid(field, name, TOO_LONG_63)] : []),
  ...(LABEL.test(name) ? [] : [invalid(field, name, BAD_LABEL)]),
];

const subdomain = (field: string, name: string): readonly FieldError[] => [
  ...(name.length > 253 ? [invalid(field, name, 'must be no more than 253 characters')] : []),
  ...(SUBDOMAIN.test(name) ? [] : [invalid(field, name, BAD_SUBDOMAIN)]),
];

/** A label or annotation key: an optional DNS subdomain, a slash, and a name. */
function qualifiedName(field: string, key: string): readonly FieldError[] {
  const parts = key.split('/');
  const name = parts.at(-1)!;
  const errors: FieldError[] = [];
  if (parts.length > 2) {
    return [
      invalid(
        field,
        key,
        `a valid label key must consist of alphanumeric characters, '-', '_' or '.' with an optional DNS subdomain prefix and '/'`,
      ),
    ];
  }
  if (parts.length === 2 && !SUBDOMAIN.test(parts[0]!))
    errors.push(invalid(field, key, `prefix part ${BAD_SUBDOMAIN}`));
  if (name.length === 0) errors.push(invalid(field, key, 'name part must be non-empty'));
  else if (name.length > 63) errors.push(invalid(field, key, `name part ${TOO_LONG_63}`));
  if (!QUALIFIED_NAME.test(name)) errors.push(invalid(field, key, BAD_NAME_PART));
  return errors;
}

/** What holds for the metadata of every kind, but for the name. */
export function validateMetadata({ metadata }: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    errors.push(...qualifiedName('metadata.labels', key));
    if (value.length > 63) errors.push(invalid('metadata.labels', value, TOO_LONG_63));
    if (value !== '' && !QUALIFIED_NAME.test(value)) errors.push(invalid('metadata.labels', value, BAD_LABEL_VALUE));
  }
  for (const key of Object.keys(metadata.annotations ?? {})) {
    errors.push(...qualifiedName('metadata.annotations', key.toLowerCase()));
  }
  return errors;
}

interface ServicePort {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly externalName?: string;
  readonly ports?: readonly ServicePort[];
  readonly selector?: Readonly<Record<string, string>>;
  readonly internalTrafficPolicy?: string;
  readonly sessionAffinity?: string;
}

const portRange = (field: string, port: unknown): readonly FieldError[] =>
  Number.isInteger(port) && (port as number) >= 1 && (port as number) <= 65_535
    ? []
    : [invalid(field, port, 'must be between 1 and 65535, inclusive')];

function targetPort(field: string, port: number | string | undefined): readonly FieldError[] {
  if (typeof port !== 'string') return portRange(field, port);
  const errors: FieldError[] = [];
  if (port.length > 15) errors.push(invalid(field, port, 'must be no more than 15 characters'));
  if (!/^[-a-z0-9]+$/.test(port))
    errors.push(invalid(field, port, 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'));
  if (!/[a-z]/.test(port)) errors.push(invalid(field, port, 'must contain at least one letter (a-z)'));
  return errors;
}

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

function servicePorts(spec: ServiceSpec): readonly FieldError[] {
  const ports = spec.ports ?? [];
  const errors: FieldError[] = [];
  if (ports.length === 0 && spec.clusterIP !== 'None' && spec.type !== 'ExternalName')
    errors.push(required('spec.ports'));
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const field = `spec.ports[${index}]`;
    if (port.name === undefined || port.name === '') {
      if (ports.length > 1) errors.push(required(`${field}.name`));
    } else {
      errors.push(...label(`${field}.name`, port.name));
      if (names.has(port.name)) errors.push(duplicate(`${field}.name`, port.name));
      names.add(port.name);
    }
    errors.push(...portRange(`${field}.port`, port.port ?? 0));
    if (!PROTOCOLS.includes(port.protocol ?? ''))
      errors.push(notSupported(`${field}.protocol`, port.protocol, PROTOCOLS));
    errors.push(...targetPort(`${field}.targetPort`, port.targetPort));
  }
  for (const [index, { port, protocol }] of ports.entries()) {
    // The message shows the fields of Go's struct that make up the key.
    const keyFields = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    const key = JSON.stringify(keyFields);
    if (numbers.has(key)) errors.push(duplicate(`spec.ports[${index}]`, keyFields));
    numbers.add(key);
  }
  return errors;
}

const SERVICE_TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

const service: Validation = (object, old) => {
  const spec = object.spec as ServiceSpec;
  const errors: FieldError[] = [...label('metadata.name', object.metadata.name), ...servicePorts(spec)];
  if (!SERVICE_TYPES.includes(spec.type ?? '')) errors.push(notSupported('spec.type', spec.type, SERVICE_TYPES));
  if (spec.type === 'ExternalName' && !SUBDOMAIN.test((spec.externalName ?? '').replace(/\.$/, ''))) {
    errors.push(
      spec.externalName
        ? invalid('spec.externalName', spec.externalName, BAD_SUBDOMAIN)
        : required('spec.externalName'),
    );
  }
  if (!['None', 'ClientIP'].includes(spec.sessionAffinity ?? '')) {
    errors.push(notSupported('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']));
  }
  const before = old?.spec as ServiceSpec | undefined;
  if (
    before?.type !== 'ExternalName' &&
    spec.type !== 'ExternalName' &&
    before?.clusterIP !== undefined &&
    before.clusterIP !== spec.clusterIP
  ) {
    errors.push(invalid('spec.clusterIPs[0]', spec.clusterIPs, 'may not change once set'));
  }
  return errors;
};

function address(field: string, ip: string): readonly FieldError[] {
  if (isIP(ip) === 0) return [invalid(field, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  if (/^0\.0\.0\.0$|^::$/.test(ip)) return [invalid(field, ip, `may not be unspecified (${ip})`)];
  if (/^127\.|^::1$/.test(ip)) return [invalid(field, ip, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')];
  if (/^169\.254\.|^fe[89ab]/i.test(ip)) {
    return [invalid(field, ip, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')];
  }
  if (/^224\.0\.0\.|^ff02:/i.test(ip)) {
    return [invalid(field, ip, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')];
  }
  return [];
}

interface EndpointPort {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
}

interface EndpointAddress {
  readonly ip?: string;
  readonly hostname?: string;
}

interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly EndpointPort[];
}

const endpoints: Validation = ({ metadata, subsets }) => {
  const errors: FieldError[] = [...subdomain('metadata.name', metadata.name)];
  for (const [index, subset] of ((subsets ?? []) as readonly EndpointSubset[]).entries()) {
    const field = `subsets[${index}]`;
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
    if (addresses.length + notReadyAddresses.length === 0) {
      errors.push(required(field, 'must specify `addresses` or `notReadyAddresses`'));
    }
    for (const [list, name] of [
      [addresses, 'addresses'],
      [notReadyAddresses, 'notReadyAddresses'],
    ] as const) {
      for (const [at, { ip = '', hostname = '' }] of list.entries()) {
        errors.push(...address(`${field}.${name}[${at}].ip`, ip));
        if (hostname !== '') errors.push(...label(`${field}.${name}[${at}].hostname`, hostname));
      }
    }
    for (const [at, { name = '', port = 0, protocol }] of ports.entries()) {
      if (name === '' && ports.length > 1) errors.push(required(`${field}.ports[${at}].name`));
      else if (name !== '') errors.push(...label(`${field}.ports[${at}].name`, name));
      errors.push(...portRange(`${field}.ports[${at}].port`, port));
      if (!PROTOCOLS.includes(protocol ?? '')) {
        errors.push(notSupported(`${field}.ports[${at}].protocol`, protocol, PROTOCOLS));
      }
    }
  }
  return errors;
};

interface SliceEndpoint {
  readonly addresses?: readonly string[];
  readonly hostname?: string;
}

/** Most endpoints of one slice. */
const MAX_ENDPOINTS = 1000;
const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];

const endpointSlice: Validation = (object, old) => {
  const errors: FieldError[] = [...subdomain('metadata.name', object.metadata.name)];
  const addressType = object.addressType as string | undefined;
  if (addressType === undefined || addressType === '') errors.push(required('addressType'));
  else if (!ADDRESS_TYPES.includes(addressType)) errors.push(notSupported('addressType', addressType, ADDRESS_TYPES));
  if (old !== undefined && old.addressType !== addressType) {
    errors.push(invalid('addressType', addressType, 'field is immutable'));
  }
  const listed = (object.endpoints ?? []) as readonly SliceEndpoint[];
  const isTooMany = listed.length > MAX_ENDPOINTS;
  if (isTooMany) errors.push(tooMany('endpoints', listed.length, MAX_ENDPOINTS));
  for (const [index, { addresses = [], hostname }] of (isTooMany ? [] : listed).entries()) {
    const field = `endpoints[${index}]`;
    if (addresses.length === 0) errors.push(required(`${field}.addresses`, 'must contain at least 1 address'));
    for (const [at, ip] of addresses.entries()) {
      const place = `${field}.addresses[${at}]`;
      if (addressType === 'IPv4') {
        errors.push(...(isIPv4(ip) ? address(place, ip) : [invalid(place, ip, 'must be a valid IPv4 address')]));
      } else if (addressType === 'IPv6') {
        errors.push(...(isIPv6(ip) ? address(place, ip) : [invalid(place, ip, 'must be a valid IPv6 address')]));
      }
    }
    if (hostname !== undefined) errors.push(...label(`${field}.hostname`, hostname));
  }
  for (const [index, { port, protocol }] of ((object.ports ?? []) as readonly EndpointPort[]).entries()) {
    if (port !== undefined) errors.push(...portRange(`ports[${index}].port`, port));
    if (!PROTOCOLS.includes(protocol ?? '')) errors.push(notSupported(`ports[${index}].protocol`, protocol, PROTOCOLS));
  }
  return errors;
};

const secret: Validation = (object, old) => {
  const errors: FieldError[] = [...subdomain('metadata.name', object.metadata.name)];
  if (old !== undefined && old.type !== object.type) errors.push(invalid('type', object.type, 'field is immutable'));
  return errors;
};

const STATEFUL_SET_MUTABLE = [
  'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds',
]; // prettier-ignore

const statefulSet: Validation = (object, old) => {
  const fixed = (spec: unknown): object =>
    Object.fromEntries(Object.entries(spec as object).filter(([field]) => !STATEFUL_SET_MUTABLE.includes(field)));
  const errors: FieldError[] = [...subdomain('metadata.name', object.metadata.name)];
  if (old !== undefined && !sameJson(fixed(old.spec), fixed(object.spec))) {
    errors.push(
      forbiddenField(
        'spec',
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    );
  }
  return errors;
};

const lease: Validation = (object) => {
  const { leaseDurationSeconds, leaseTransitions } = object.spec as Record<string, number | undefined>;
  const errors: FieldError[] = [...subdomain('metadata.name', object.metadata.name)];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    errors.push(invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'));
  }
  return errors;
};

const VALIDATIONS: Readonly<Record<string, Validation>> = {
  Service: service,
  Endpoints: endpoints,
  EndpointSlice: endpointSlice,
  Secret: secret,
  StatefulSet: statefulSet,
  Lease: lease,
  Namespace: ({ metadata }) => label('metadata.name', metadata.name),
  Role: () => [],
  ClusterRole: () => [],
  RoleBinding: () => [],
  ClusterRoleBinding: () => [],
};

/** The validation of a built-in kind, and of the metadata of any. */
export function validationOf(kind: string): Validation {
  const own: Validation = VALIDATIONS[kind] ?? (({ metadata }) => subdomain('metadata.name', metadata.name));
  return (object, old) => [...own(object, old), ...validateMetadata(object)];
}
