/**
 * Spreads the addresses of a Service over EndpointSlices, stably (rule D10). Addresses are divided by the bits of a hash
 * of each, as often as it takes for every part to fit into a slice. So which part an address is in depends on it and on
 * how crowded its part is: a pod that comes or goes changes one slice, and divides or joins two at most.
 *
 * The name of a part changes when it is divided, so the slices of its halves are created before the old one is deleted,
 * and no address is missing in between.
 */
import { hash } from 'node:crypto';

/** Most endpoints in one slice: what Kubernetes' own controllers put into one. The API server accepts 1000. */
export const MAX_ENDPOINTS = 100;

/** What is spread: an address behind a Service. */
interface Address {
  readonly ip: string;
  readonly hostname?: string | undefined;
}

/** The addresses of one slice. */
export interface SlicePart<A> {
  /** Bits of the hash that its addresses share; empty if all of them fit into one slice. */
  readonly bits: string;
  /** In the order that they were given in. */
  readonly addresses: readonly A[];
}

/** @param addresses each of them once */
export function fillSlices<A extends Address>(addresses: readonly A[]): readonly SlicePart<A>[] {
  if (addresses.length <= MAX_ENDPOINTS) return [{ bits: '', addresses }];
  return divide(
    '',
    addresses.map((address): Hashed<A> => [hashOf(address), address]),
  );
}

/** An address after its hash. */
type Hashed<A> = readonly [hash: Buffer, address: A];

function divide<A>(bits: string, hashed: readonly Hashed<A>[]): readonly SlicePart<A>[] {
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

const hashes = new WeakMap<Address, Buffer>();

function hashOf(address: Address): Buffer {
  let found = hashes.get(address);
  if (found === undefined) {
    const { hostname = '', ip } = address;
    hashes.set(address, (found = hash('sha256', `${hostname} ${ip}`, 'buffer')));
  }
  return found;
}
