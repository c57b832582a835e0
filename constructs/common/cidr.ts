/** Networks in CIDR notation, as policies and load balancers take them. */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { isCidr, isNetwork, networkOf } from '../../crds/network.ts';

/** Every address of either family. */
export const ANY_NETWORK: readonly string[] = ['0.0.0.0/0', '::/0'];

/** Checks a network in CIDR notation of either family, without host bits. */
export const cidr = (path: string, value: string): FieldError | undefined => {
  if (!isCidr(value)) return fieldError(path, value, 'must be a network in CIDR notation', 'as in 198.51.100.0/24');
  return isNetwork(value)
    ? undefined
    : fieldError(path, value, 'must be a network without host bits', `write ${networkOf(value)}`);
};
