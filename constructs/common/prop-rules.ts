/**
 * Rules of Kubernetes for the fields that constructs fill, applied before anything is written. Each rule takes the path
 * and the value of a prop and returns its error, or `undefined` if the value is valid.
 */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { addressProblem } from '../../crds/gateway-address.ts';
import { isDnsLabel, isDnsSubdomain, isServiceName } from '../../crds/names.ts';

const PORT_NAME = /^(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/;

/** The name of a namespace or a cluster, or the hostname of a pod. */
export const dnsLabel = (path: string, value: string): FieldError | undefined =>
  isDnsLabel(value)
    ? undefined
    : fieldError(path, value, 'must be a valid DNS label', 'a-z, 0-9 and -, at most 63 characters, as in "west-1"');

/** The name of a Service, which must not start with a digit. */
export const serviceName = (path: string, value: string): FieldError | undefined =>
  isServiceName(value)
    ? undefined
    : fieldError(path, value, 'must be a valid Service name', 'a-z, 0-9 and -, a letter first, at most 63 characters');

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
 * A list of names, each once and by its rule. It may be left out, but not be empty.
 * @param what what a name is of, as in `namespace`
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
