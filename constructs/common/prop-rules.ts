/**
 * Rules of Kubernetes for the fields that constructs fill, applied before anything is written. Each rule takes the path
 * and the value of a prop and returns its error, or `undefined` if the value is valid.
 */
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { addressProblem } from '../../crds/gateway-address.ts';
import {
  isAnnotationKey,
  isDnsLabel,
  isDnsSubdomain,
  isLabelKey,
  isLabelValue,
  isServiceName,
} from '../../crds/names.ts';

const PORT_NAME = /^(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/;

/** The name of a namespace or a cluster, or the hostname of a pod. */
export const dnsLabel = (path: string, value: string): FieldError | undefined =>
  isDnsLabel(value)
    ? undefined
    : fieldError(path, value, 'must be a valid DNS label', 'a-z, 0-9 and -, at most 63 characters, as in "west-1"');

/** The name of a Service. One that begins with a digit needs Kubernetes 1.36. */
export const serviceName = (path: string, value: string): FieldError | undefined =>
  isServiceName(value)
    ? undefined
    : fieldError(path, value, 'must be a valid Service name', 'a-z, 0-9 and -, at most 63 characters');

/** A domain such as `cluster.local`, and the name of most objects. */
export const dnsSubdomain = (path: string, value: string): FieldError | undefined =>
  isDnsSubdomain(value)
    ? undefined
    : fieldError(
        path,
        value,
        'must be a valid DNS subdomain',
        'labels of a-z, 0-9 and -, joined by dots, at most 253 characters',
      );

/**
 * Checks a list of names: each by the rule, each once, and at least one. The list may be undefined.
 * @param what noun for the named objects, as in `namespace`
 */
export const nameList = (
  path: string,
  names: readonly string[] | undefined,
  rule: (path: string, value: string) => FieldError | undefined,
  what: string,
): readonly (FieldError | undefined)[] => {
  if (names === undefined) return [];
  if (names.length === 0) return [fieldError(path, names, 'must not be empty', `name ${what}s, or leave it out`)];
  return [
    ...names.map((name, index) => rule(`${path}[${index}]`, name)),
    new Set(names).size < names.length ? fieldError(path, names, `must name each ${what} once`) : undefined,
  ];
};

/** A port number. */
export const portNumber = (path: string, value: number): FieldError | undefined =>
  Number.isInteger(value) && value >= 1 && value <= 65_535
    ? undefined
    : fieldError(path, value, 'must be between 1 and 65535');

/** A port number, or the name of a container's port. */
export const portNumberOrName = (path: string, value: number | string): FieldError | undefined => {
  if (typeof value === 'number') return portNumber(path, value);
  return PORT_NAME.test(value)
    ? undefined
    : fieldError(path, value, 'must be a valid port name', 'a-z, 0-9 and -, at most 15 characters');
};

/** Reports whether a text is written as an IPv6 address, valid or not. */
export const isIPv6 = (address: string): boolean => address.includes(':');

/** An IP address that Endpoints may hold. */
export const ipAddress = (path: string, value: string): FieldError | undefined => {
  const problem =
    addressProblem(value) ?? (isIPv6(value) || /^[0-9.]+$/.test(value) ? undefined : 'must be a valid IP address');
  return problem === undefined ? undefined : fieldError(path, value, problem);
};

/** Checks an address of a gateway: an IP address or a host name. */
export const gatewayAddress = (path: string, value: string): FieldError | undefined => {
  const problem = addressProblem(value) ?? (/^localhost\.?$/i.test(value) ? 'must not be localhost' : undefined);
  return problem === undefined
    ? undefined
    : fieldError(path, value, problem, 'an IP address or a host name, without scheme and port');
};

/** Most characters of a cluster's name: mirrors are called `<service>-<cluster>`, and a Service's name has 63. */
const CLUSTER_MAX_LENGTH = 61;

/** Checks the name of a target cluster, which is the suffix of its mirrors. */
export const targetClusterName = (path: string, value: string): FieldError | undefined =>
  dnsLabel(path, value) ??
  (value.length > CLUSTER_MAX_LENGTH
    ? fieldError(
        path,
        value,
        `must have at most ${CLUSTER_MAX_LENGTH} characters: mirrors are called <service>-<cluster>`,
      )
    : undefined);

/** Checks a reference to a container image. */
export const imageReference = (path: string, value: string): FieldError | undefined =>
  /^\w[\w.:/@+-]*$/.test(value)
    ? undefined
    : fieldError(path, value, 'must be a valid image reference', 'as in registry.example.com/linkspan:1.0');

/** Checks key and value of a label. */
export const labelErrors = (path: string, key: string, value: string): readonly (FieldError | undefined)[] => [
  isLabelKey(key) ? undefined : fieldError(path, key, 'must be a valid label key'),
  isLabelValue(value)
    ? undefined
    : fieldError(path, value, 'must be a valid label value', 'letters, digits, -, _ and ., at most 63 characters'),
];

/** Checks labels. */
export const labelsErrors = (
  path: string,
  all: Readonly<Record<string, string>> = {},
): readonly (FieldError | undefined)[] =>
  Object.entries(all).flatMap(([key, value]) => labelErrors(fieldPath(path, key), key, value));

/**
 * Most bytes of annotations that are taken over, keys and values. An API server takes 256 KiB in one object; the rest is
 * for annotations of our own.
 */
export const MAX_ANNOTATIONS_BYTES = 224 * 1024;

/** Checks keys of annotations, and their size. */
export const annotationsErrors = (
  path: string,
  all: Readonly<Record<string, string>> = {},
): readonly (FieldError | undefined)[] => {
  const bytes = Buffer.byteLength(Object.entries(all).flat().join(''));
  return [
    ...Object.keys(all).map((key) =>
      isAnnotationKey(key) ? undefined : fieldError(fieldPath(path, key), key, 'must be a valid annotation key'),
    ),
    bytes <= MAX_ANNOTATIONS_BYTES
      ? undefined
      : fieldError(
          path,
          `${bytes} bytes`,
          `must have at most ${MAX_ANNOTATIONS_BYTES} bytes, keys and values together`,
          'remove or shorten the longest',
        ),
  ];
};

/** Checks keys that are not copied: exact keys, or `prefix/*`. */
export const excludedErrors = (
  path: string,
  keys: readonly string[] | undefined = [],
): readonly (FieldError | undefined)[] =>
  keys.map((key, index) =>
    isLabelKey(key) || (key.endsWith('/*') && isDnsSubdomain(key.slice(0, -2)))
      ? undefined
      : fieldError(`${path}[${index}]`, key, 'must be a valid key or prefix/*', 'as in example.com/*'),
  );
