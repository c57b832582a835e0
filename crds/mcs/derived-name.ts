/** The names of the Services behind a ServiceImport: apart from the wire contract, which every command loads. */
import { createHash } from 'node:crypto';
import { LABEL_MAX_LENGTH } from '../names.ts';
import { withoutSuffix } from '../slice-names.ts';

const DERIVED_SUFFIX = '-clusterset';

/** Name of the Service that is derived from the ServiceImport of a Service; a long name of the Service is cut. */
export const derivedName = (service: string): string =>
  service.length <= LABEL_MAX_LENGTH - DERIVED_SUFFIX.length
    ? service + DERIVED_SUFFIX
    : `${service.slice(0, LABEL_MAX_LENGTH - DERIVED_SUFFIX.length - HASH_LENGTH - 1)}-${hashOf(service)}${DERIVED_SUFFIX}`;

const POD_PREFIX = 'clusterset-';

/**
 * Name of the Service that stands for one pod of a headless ServiceImport. It begins with a letter, which hostnames need
 * not do, and a hash keeps it apart from other pods of that hostname, mirrors, and what else has a name made of two; a
 * long hostname is cut.
 * @param hostname of the pod: a DNS label
 */
export const podServiceName = (service: string, cluster: string, hostname: string): string =>
  `${POD_PREFIX}${hostname.slice(0, LABEL_MAX_LENGTH - POD_PREFIX.length - HASH_LENGTH - 1)}-${hashOf(`${service} ${cluster} ${hostname}`)}`;

/** Name of the Service whose derived Service would have this name; undefined for none, or it was cut. */
export const derivingName = (derived: string): string | undefined =>
  derived.endsWith(DERIVED_SUFFIX) && derived.length > DERIVED_SUFFIX.length
    ? derived.slice(0, -DERIVED_SUFFIX.length)
    : undefined;

/** What the names of a cluster's slices start with. No Service has a dot in its name, and no cluster in its own. */
export const importSlicePrefix = (service: string, targetCluster: string | undefined): string =>
  `${derivedName(service)}.${targetCluster === undefined ? LOCAL : `${FROM}${targetCluster}`}`;

/**
 * Returns the target cluster that a slice of a ServiceImport is of, by a name that {@link importSlicePrefix} starts; `null`
 * if it is of the cluster itself, and undefined for any other name.
 */
export function importedFrom(slice: string): string | null | undefined {
  const [service = '', of = '', ...copied] = slice.split('.');
  const isCopy = copied.length > 0;
  if (derivingName(service) === undefined) return undefined;
  if (of === LOCAL && isCopy) return null;
  const target = withoutSuffix(of);
  if (!of.startsWith(FROM) || (!isCopy && target === of)) return undefined;
  return (isCopy ? of : target).slice(FROM.length);
}

const LOCAL = 'local';
const FROM = 'from-';

const HASH_LENGTH = 8;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
