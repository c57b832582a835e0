/** Networks in CIDR notation, as policies and load balancers take them. */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { isCidr } from '../../crds/network.ts';

/** Every address of either family. */
export const ANY_NETWORK: readonly string[] = ['0.0.0.0/0', '::/0'];

/** `address/bits`, of either family. */
export const cidr = (path: string, value: string): FieldError | undefined =>
  isCidr(value) ? undefined : fieldError(path, value, 'must be a network in CIDR notation', 'as in 198.51.100.0/24');
