/**
 * Spreads the addresses of a Service over EndpointSlices, stably (rule D10). Addresses are divided by the bits of a hash
 * of each, as often as it takes for every part to fit into a slice. So which part an address is in depends on it and on
 * how crowded its part is: a pod that comes or goes changes one slice, and divides or joins two at most.
 *
 * The name of a part changes when it is divided, so the slices of its halves are created before the old one is deleted,
 * and no address is missing in between.
 */
import { createHash } from 'node:crypto';
import type { EndpointsAddress } from './endpoints.ts';

/** Most endpoints in one slice: what Kubernetes' own controllers put into one. The API server accepts 1000. */
export const MAX_ENDPOINTS = 100;

/** The addresses of one slice. */
export interface SlicePart {
  /** Bits of the hash that its addresses share; empty if all of them fit into one slice. */
  readonly bits: string;
  /** In the order that they were given in. */
  readonly addresses: readonly EndpointsAddress[];
}

/** @param addresses each of them once */
export function fillSlices(addresses: readonly EndpointsAddress[]): readonly SlicePart[] {
  if (addresses.length <= MAX_ENDPOINTS) return [{ bits: '', addresses }];
  return divide(
    '',
    addresses.map((address): Hashed => [hashOf(address), address]),
  );
}

/** An address after its hash. */
type Hashed = readonly [hash: Buffer, address: EndpointsAddress];

function divide(bits: string, hashed: readonly Hashed[]): readonly SlicePart[] {
  if (hashed.length <= MAX_ENDPOINTS) {
    return hashed.length === 0 ? [] : [{ bits, addresses: hashed.map(([, address]) => address) }];
  }
  return [0, 1].flatMap((bit) =>
    divide(
      `${bits}${bit}`,
      hashed.filter(([hash]) => bitAt(hash, bits.length) === bit),
    ),
  );
}

const bitAt = (hash: Buffer, index: number): number => ((hash[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;

const hashOf = ({ hostname = '', ip }: EndpointsAddress): Buffer =>
  createHash('sha256').update(`${hostname} ${ip}`).digest();
