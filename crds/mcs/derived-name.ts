/** The name of the Service behind a ServiceImport: apart from the wire contract, which every command loads. */
import { createHash } from 'node:crypto';
import { LABEL_MAX_LENGTH } from '../names.ts';

const DERIVED_SUFFIX = '-clusterset';

/** Name of the Service that is derived from the ServiceImport of a Service; a long name of the Service is cut. */
export const derivedName = (service: string): string =>
  service.length <= LABEL_MAX_LENGTH - DERIVED_SUFFIX.length
    ? service + DERIVED_SUFFIX
    : `${service.slice(0, LABEL_MAX_LENGTH - DERIVED_SUFFIX.length - HASH_LENGTH - 1)}-${hashOf(service)}${DERIVED_SUFFIX}`;

const HASH_LENGTH = 8;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
